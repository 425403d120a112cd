"""Broken inputs by name: the files to write, and the paths to load where those are not simply the files."""

from __future__ import annotations

from typing import NamedTuple

Content = str | bytes


class Broken(NamedTuple):
    files: dict[str, Content]
    paths: tuple[str, ...] = ()
    stdin: bytes | None = None


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: claim
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu
"""
CLASS = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata:\n  name: gpu\n"
SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: slice
spec:
  driver: gpu.example.com
  nodeName: node
  pool: {name: node, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu-0
"""
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: pod\nspec:\n  containers:\n  - name: main\n"


def yaml(text: Content) -> Broken:
    return Broken({"in.yaml": text})


def json(text: Content) -> Broken:
    return Broken({"in.json": text})


def alias_bomb() -> str:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 9):
        text += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n"
    return text


CASES: dict[str, Broken] = {
    # Paths
    "missing file": Broken({}, ("nothing.yaml",)),
    "several missing files": Broken({}, ("a.yaml", "b.yaml", "c")),
    "missing address": Broken({}, ("https://example.com/slices.yaml",)),
    "empty path": Broken({}, ("",)),
    "no path": Broken({}, ()),
    "empty directory": Broken({"empty/": ""}, ("empty",)),
    "directory without manifests": Broken({"docs/readme.txt": "hello"}, ("docs",)),
    "directory with directories only": Broken({"top/inner/a.yaml": CLASS}, ("top",)),
    "file below a file": Broken({"a.yaml": CLASS}, ("a.yaml/b.yaml",)),
    "empty file": yaml(""),
    "only comments": yaml("# nothing\n---\n# here\n"),
    "empty standard input": Broken({}, ("-",), b""),
    "empty list": json('{"apiVersion": "v1", "kind": "List", "items": []}'),
    # Text
    "NUL byte": yaml(b"apiVersion: v1\nkind: Pod\x00\n"),
    "UTF-16 without mark": yaml("apiVersion: v1\n".encode("utf-16-le")),
    "cut UTF-16": yaml(b"\xff\xfea\x00b"),
    "invalid UTF-8": yaml(b"apiVersion: v1\nkind: \xff\n"),
    "invalid UTF-8 in JSON": json(b'{"apiVersion": "v1",\n "kind": "\xe9"}'),
    "cut UTF-8 at the end": yaml(CLASS.encode() + b"# \xe2\x82"),
    "gzip": Broken({"slices.yaml.gz": b"\x1f\x8b\x08\x00"}, ("slices.yaml.gz",)),
    "control character": yaml("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\x07b\n"),
    "fault in UTF-16": Broken({"in.yaml": (CLAIM + "        count: x\n").encode("utf-16")}),
    "fault behind a byte order mark": yaml(b"\xef\xbb\xbf" + CLASS.replace("gpu", "1").encode()),
    "fault in CRLF lines": yaml((CLASS + "---\n" + CLAIM + "        count: x\n").replace("\n", "\r\n")),
    "fault in CR lines": yaml((CLAIM + "        count: x\n").replace("\n", "\r")),
    "binary file": yaml(bytes(range(1, 256)) * 3),
    "line end in a file name": Broken({"new\nline.yaml": "kind: Pod\n"}),
    "device without end": Broken({}, ("/dev/zero",)),
    "device without content": Broken({}, ("/dev/null",)),
    # Not manifests at all
    "HTML page": yaml("<!DOCTYPE html>\n<html><body>404</body></html>\n"),
    "kubectl's table": yaml("NAME    NODE   DRIVER\nslice   n1     gpu.example.com\n"),
    "kubectl's rejection": yaml('error: the server doesn\'t have a resource type "resourceslices"\n'),
    "template with a condition": yaml("{{- if .Values.enabled }}\napiVersion: v1\n{{- end }}\n"),
    # YAML syntax
    "unknown YAML version": yaml("%YAML 9.9\n---\n" + CLASS),
    "unknown escape": yaml('apiVersion: v1\nkind: "P\\od"\n'),
    "key without value in flow": yaml("{apiVersion: v1, kind: Pod, metadata: {name: }, spec: {a: {b: c}\n"),
    "tab before a flow map": yaml("apiVersion: v1\n\t{kind: Pod}\n"),
    "syntax fault in the third document": yaml(CLASS + "---\n" + CLAIM + "---\n# last\nkind: Node\nmetadata: [\n"),
    "bad indentation": yaml("apiVersion: v1\nkind: Pod\n metadata:\n  name: pod\n"),
    "tab as indentation": yaml("apiVersion: v1\nkind: Pod\nmetadata:\n\tname: pod\n"),
    "missing colon": yaml("apiVersion: v1\nkind Pod\nmetadata: {}\n"),
    "open quote": yaml('apiVersion: v1\nkind: "Pod\nmetadata: {}\n'),
    "open bracket": yaml("apiVersion: v1\nkind: [Pod\n---\n" + CLASS),
    "unquoted braces": yaml("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}\n"),
    "unquoted star": yaml("apiVersion: v1\nkind: Pod\nmetadata:\n  name: *\n"),
    "conflict markers": yaml("<<<<<<< HEAD\napiVersion: v1\n=======\napiVersion: v2\n>>>>>>> other\n"),
    "two faulty documents": yaml("a: [1\n---\n" + CLASS + "---\nb: }\n"),
    # YAML features
    "key twice": yaml("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n"),
    "key twice, spelled differently": yaml("apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {yes: a, true: b}\n"),
    "alias without anchor": yaml("apiVersion: v1\nkind: Pod\nmetadata: *meta\n"),
    "recursive alias": yaml("apiVersion: v1\nkind: Pod\nmetadata: &m\n  labels: *m\n"),
    "alias bomb": yaml(alias_bomb()),
    "Python tag": yaml('!!python/object/apply:os.system ["true"]\n'),
    "local tag": yaml("apiVersion: v1\nkind: !Pod Pod\n"),
    "binary tag": yaml("apiVersion: v1\nkind: !!binary UG9k\n"),
    "tag that does not fit": yaml("apiVersion: v1\nkind: Pod\nspec:\n  priority: !!int high\n"),
    "list as key": yaml("? [a, b]\n: c\n"),
    "null as key": yaml("apiVersion: v1\n~: c\n"),
    "alias before its anchor": yaml("apiVersion: v1\nkind: *k\nmetadata: {name: &k Pod}\n"),
    "map as key": yaml("? {a: b}\n: c\n"),
    "merge of a list of numbers": yaml("apiVersion: v1\nkind: Pod\nmetadata:\n  <<: [1, 2]\n"),
    "merge of a number": yaml("apiVersion: v1\n<<: 3\n"),
    "not a number": yaml("apiVersion: v1\nkind: Pod\nspec:\n  priority: .nan\n"),
    "infinity": yaml("apiVersion: v1\nkind: Pod\nspec:\n  priority: -.inf\n"),
    "deep YAML": yaml("a: " + "[" * 100_000 + "]" * 100_000),
    "deep YAML block": yaml("".join(" " * depth + "a:\n" for depth in range(300))),
    # JSON syntax
    "JSON trailing comma": json('{\n  "apiVersion": "v1",\n  "kind": "Pod",\n}'),
    "JSON missing comma": json('{\n  "apiVersion": "v1"\n  "kind": "Pod"\n}'),
    "JSON single quotes": json("{'apiVersion': 'v1'}"),
    "JSON comment": json('{\n  // a pod\n  "kind": "Pod"\n}'),
    "JSON NaN": json('{"apiVersion": "v1", "kind": "Pod", "spec": {"priority": NaN}}'),
    "JSON Infinity": json('{"apiVersion": "v1", "kind": "Pod",\n "spec": {"priority": -Infinity}}'),
    "JSON control character": json('{"apiVersion": "v1",\n "kind": "P\x01od"}'),
    "JSON half surrogate pair": json('{"apiVersion": "v1", "kind": "Pod",\n "metadata": {"name": "\\ud800"}}'),
    "JSON other half of a surrogate pair": json('{"apiVersion": "v1",\n "kind": "\\udc00"}'),
    "JSON kind twice": json('{"apiVersion": "v1", "kind": "Node",\n "kind": "Pod", "metadata": {"name": "a"}}'),
    "JSON cut off": json('{"apiVersion": "v1",\n "kind": "Pod",\n "metadata": {"name"'),
    "JSON key twice": json('{"apiVersion": "v1", "kind": "Pod",\n "metadata": {"name": "a",\n "name": "b"}}'),
    "JSON trailing text": json('{"apiVersion": "v1"}\n}'),
    "JSON number with leading zero": json('{"count": 007}'),
    "JSON number out of range": json('{"apiVersion": "v1", "kind": "List", "items": [\n{"kind": "Pod", "x": 1e9999}]}'),
    "JSON bad escape": json('{"a": "\\q"}'),
    "deep JSON": json('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    "flow YAML with a fault": yaml("---\n{\n  apiVersion: v1,\n  kind: Pod,\n  metadata: {name: pod},\n  spec: ]\n}\n"),
    "KYAML with a fault": yaml('{\n  apiVersion: "v1",\n  kind: "Pod",\n  metadata: { name: "pod" ],\n}\n'),
    # Objects
    "text": yaml("hello\n"),
    "number": json("[7, null, true]"),
    "missing apiVersion": yaml("kind: Pod\nmetadata:\n  name: pod\n"),
    "missing kind": yaml("apiVersion: v1\nmetadata:\n  name: pod\n"),
    "missing both": yaml("metadata:\n  name: pod\n"),
    "kind is a number": yaml("apiVersion: v1\nkind: 7\n"),
    "apiVersion is a number": yaml("apiVersion: 1\nkind: Pod\nmetadata:\n  name: pod\n"),
    "kind is null": yaml("apiVersion: v1\nkind: null\nmetadata:\n  name: pod\n"),
    "apiVersion is empty": yaml('apiVersion: ""\nkind: Pod\nmetadata:\n  name: pod\n'),
    "apiVersion in another case": yaml(CLASS.replace("apiVersion", "apiversion")),
    "kind in another case": yaml(CLASS.replace("DeviceClass", "deviceClass")),
    "kind of another group": json('{"apiVersion": "v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}'),
    "unknown version of the core group": yaml("apiVersion: v2\nkind: Node\nmetadata:\n  name: node\n"),
    "unknown version": yaml(CLASS.replace("/v1", "/v9")),
    "version of classic DRA": yaml(CLAIM.replace("/v1", "/v1alpha2")),
    "taint rule version": yaml("apiVersion: resource.k8s.io/v1beta1\nkind: DeviceTaintRule\nmetadata: {name: r}\n"),
    "old workload version": yaml("apiVersion: apps/v1beta1\nkind: Deployment\nmetadata:\n  name: web\n"),
    "missing name": yaml(CLAIM.replace("name: claim", "labels: {}")),
    "missing metadata": yaml("apiVersion: v1\nkind: Node\n"),
    "name is null": yaml(CLASS.replace("name: gpu", "name: null")),
    "name is empty": yaml(CLASS.replace("name: gpu", 'name: ""')),
    "metadata is text": yaml("apiVersion: v1\nkind: Node\nmetadata: node\n"),
    "duplicate object": yaml(CLAIM + "---\n" + CLASS + "---\n" + CLAIM + "  \n---\n" + CLASS),
    "duplicate by default namespace": yaml(
        CLAIM + "---\n" + CLAIM.replace("name: claim", "name: claim\n  namespace: default")
    ),
    "duplicate in two versions": yaml(CLASS + "---\n" + CLASS.replace("/v1", "/v1beta2")),
    "List without items": yaml("apiVersion: v1\nkind: List\nmetadata: {}\n"),
    "List in a List in a List": yaml(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n"
        "  - apiVersion: v1\n    kind: List\n    items:\n    - {kind: Pod}\n    - 3\n"
    ),
    "Lists too deep": json('{"kind": "List", "apiVersion": "v1", "items": [' * 12 + '{"kind": "Pod"}' + "]}" * 12),
    "null in a List": json('{"apiVersion": "v1", "kind": "List", "items": [\n{"kind": "Pod"},\nnull]}'),
    "List of wrong type": yaml("apiVersion: v1\nkind: List\nitems: {a: b}\n"),
    "item is no object": json('{"apiVersion": "v1", "kind": "List",\n "items": [\n  "pod",\n  {"kind": "Pod"}]}'),
    "item is no object in YAML": yaml("apiVersion: v1\nkind: List\nitems:\n- pod\n- kind: Pod\n- [x]\n"),
    # Types
    "name is a number": yaml(CLASS.replace("name: gpu", "name: 7")),
    "name is a boolean": yaml(CLASS.replace("name: gpu", "name: on")),
    "label is a boolean": yaml(CLASS + "  labels:\n    ready: yes\n    zone: a\n    rank: 1\n"),
    "count is text": yaml(CLAIM + '        count: "2"\n'),
    "count is a fraction": yaml(CLAIM + "        count: 1.5\n"),
    "count beyond 64 bits": yaml(CLAIM + "        count: 9223372036854775808\n"),
    "count far beyond 64 bits": yaml(CLAIM + f"        count: {10**400}\n"),
    "count with a large exponent": json(
        '{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {"devices":\n'
        ' {"requests": [{"name": "a", "exactly": {"deviceClassName": "g",\n "count": 1e30}}]}}}'
    ),
    "generation below 64 bits": yaml(SLICE.replace("generation: 1", "generation: -9223372036854775809")),
    "attribute of two wrong types": yaml(SLICE + "    attributes: {v: {version: 1.2, ints: [1, x]}}\n"),
    "attributes is a list": yaml(SLICE + "    attributes: [{name: model, string: a}]\n"),
    "device is text": yaml(SLICE + "  - gpu-1\n"),
    "counter is no quantity": yaml(SLICE + "  sharedCounters:\n  - name: s\n    counters: {x: {value: much}}\n"),
    "wrong type in the third document": yaml(CLASS + "---\n" + CLAIM + "---\n# last\n\n" + SLICE + "    taints: {}\n"),
    "requests is a map": yaml(CLAIM.replace("    - name: gpu", "      name: gpu")),
    "spec is text": yaml("apiVersion: v1\nkind: Pod\nmetadata: {name: pod}\nspec: none\n"),
    "quantity is a list": yaml(POD + "    resources:\n      requests:\n        cpu: [1]\n"),
    "quantity is a boolean": json(
        '{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},\n'
        ' "spec": {"driver": "d", "pool": {"name": "p"}, "devices": [\n'
        '  {"name": "a", "capacity": {"mem": {"value": "1Gi"}}},\n'
        '  {"name": "b", "capacity": {"mem": {"value": true}}}]}}'
    ),
    "quantity is no quantity": yaml(CLAIM + "        capacity: {requests: {memory: 80GB}}\n"),
    "quantities of a pod": json(
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": {"containers": [\n'
        ' {"name": "a", "resources": {"requests": {"cpu": "two", "memory": "1Gi"},\n  "limits": {"memory": ""}}}]}}'
    ),
    "many wrong types": yaml(
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceSlice\nmetadata:\n  name: slice\n  labels: [a]\nspec:\n"
        "  driver: 1\n  nodeName: true\n  pool: gpu\n  devices:\n  - name: a\n    basic:\n      attributes:\n"
        "        model: {string: 100}\n        index: {int: one}\n        nvlink: {bool: 1}\n      capacity:\n"
        "        memory: 80Gi\n"
    ),
    "wrong types in a Deployment": yaml(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: two\n  template:\n    spec:\n"
        "      containers: main\n      resourceClaims:\n      - name: gpu\n        resourceClaimName: 1\n"
    ),
    "value in v1alpha3 capacity": yaml(
        "apiVersion: resource.k8s.io/v1alpha3\nkind: ResourceSlice\nmetadata: {name: s}\nspec:\n  devices:\n"
        "  - name: a\n    basic:\n      capacity:\n        mem: {value: 1Gi}\n"
    ),
    "fault in the second document": yaml(CLASS + "---\n" + CLAIM + "        adminAccess: maybe\n"),
    "faults in several files": Broken(
        {
            "a.yaml": CLASS.replace("name: gpu", "name: 1"),
            "b.json": '{"apiVersion": "v1"',
            "c.yaml": "kind: Pod\n",
            "d.yaml": "a: b: c\n",
        },
        ("a.yaml", "b.json", "missing", "c.yaml", "d.yaml"),
    ),
    "standard input": Broken({}, ("-",), b"apiVersion: v1\nkind: Pod\nmetadata: {name: 1}\n"),
    "typed list item": yaml(
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClassList\nitems:\n- metadata: {name: a}\n- metadata: {name: 5}\n"
    ),
}
