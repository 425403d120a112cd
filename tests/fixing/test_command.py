"""`validate --fix` and `--diff`: what is written, what is printed, exit statuses."""

import codecs
import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.running import in_process
from tests.reports import checking

TEXT = """\
# a claim
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpus, namespace: team}
spec:
  devices:
    requests:
    - name: gpu  # the name stays
      deviceClassName: gpu.example.com
      # how many
      count: 2
      selectors:
      - cel:
          expression: |
            device.driver == "gpu.example.com" &&
            device.capacity["gpu.example.com"].memory >= quantity("64Gi")
    # behind it
    config: []
"""
FIXED = """\
# a claim
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpus, namespace: team}
spec:
  devices:
    requests:
    - name: gpu  # the name stays
      exactly:
        deviceClassName: gpu.example.com
        # how many
        count: 2
        selectors:
        - cel:
            expression: |
              device.driver == "gpu.example.com" &&
              device.capacity["gpu.example.com"].memory.compareTo(quantity("64Gi")) >= 0
    # behind it
    config: []
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "claim.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_fix_writes_and_tells_what_is_left(file: Path) -> None:
    file.chmod(0o640)
    ran = in_process("validate", "claim.yaml", "--fix", "-o", "short")
    assert file.read_text(encoding="utf-8") == FIXED
    assert file.stat().st_mode & 0o777 == 0o640
    assert (ran.status, ran.err) == (0, "2 fixes made in 1 file\n")
    assert ran.out.startswith("claim.yaml:10:26: info[DRA203] ")
    assert in_process("validate", "claim.yaml", "--fix").err == "nothing to fix\n"


def test_diff_writes_nothing_and_can_be_applied(file: Path) -> None:
    ran = in_process("validate", "claim.yaml", "--diff")
    assert (ran.status, ran.err) == (1, "2 fixes would be made in 1 file\n")
    assert file.read_text(encoding="utf-8") == TEXT
    assert in_process("validate", "claim.yaml", "--fix", "--diff").out == ran.out
    subprocess.run(["patch", "-p0", "-s"], input=ran.out.encode(), check=True)
    assert file.read_text(encoding="utf-8") == FIXED
    ran = in_process("validate", "claim.yaml", "--diff", "--fail-on", "info")
    assert (ran.status, ran.out, ran.err) == (0, "", "nothing to fix\n")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_encoding_and_line_ends_stay(file: Path, mark: bytes, encoding: str, ends: str) -> None:
    file.write_bytes(mark + TEXT.replace("\n", ends).removesuffix(ends).encode(encoding))
    assert in_process("validate", "claim.yaml", "--fix").status == 0
    assert file.read_bytes() == mark + FIXED.replace("\n", ends).removesuffix(ends).encode(encoding)


def test_only_what_counts_is_fixed(file: Path) -> None:
    assert in_process("validate", "claim.yaml", "--diff", "--ignore", "DRA014,DRA121").out == ""
    file.write_text(f"# dra-plan: ignore\n{TEXT}", encoding="utf-8")
    assert in_process("validate", "claim.yaml", "--diff").out == ""


def test_standard_input_is_only_compared(file: Path) -> None:
    ran = in_process("validate", "-", "--fix", stdin=TEXT)
    assert (ran.status, ran.out) == (2, "")
    assert "--diff" in ran.err
    assert in_process("validate", "-", "--diff", stdin=TEXT).out.startswith("--- -\n+++ -\n@@ ")


def test_a_link_is_followed_and_stays(file: Path) -> None:
    Path("link.yaml").symlink_to(file)
    assert in_process("validate", "link.yaml", "--fix").status == 0
    assert Path("link.yaml").is_symlink()
    assert file.read_text(encoding="utf-8") == FIXED


def test_what_is_not_read_is_not_written(file: Path) -> None:
    Path("other.yaml").write_text("a: [", encoding="utf-8")
    assert in_process("validate", "claim.yaml", "other.yaml", "--fix").status == 2
    assert file.read_text(encoding="utf-8") == TEXT


def test_an_anchor_is_left_alone(file: Path) -> None:
    text = TEXT.replace("deviceClassName: gpu.example.com", "deviceClassName: &name gpu.example.com").replace(
        "config: []", "config: [{opaque: {driver: *name, parameters: {}}}]"
    )
    file.write_text(text, encoding="utf-8")
    in_process("validate", "claim.yaml", "--fix")
    made = file.read_text(encoding="utf-8")
    assert made == text or "&name gpu.example.com" in made
    assert "DRA014" not in in_process("validate", "claim.yaml", "-o", "short").out


def test_sarif_has_the_fix(file: Path) -> None:
    in_process("validate", "claim.yaml", "--report", "sarif=report.sarif")
    text = Path("report.sarif").read_text(encoding="utf-8")
    checking.validate("sarif", text)
    results = json.loads(text)["runs"][0]["results"]
    [fix] = next(one for one in results if one["ruleId"] == "DRA014")["fixes"]
    assert fix["description"]["text"] == "move the fields of the request into `exactly`"
    lines = TEXT.splitlines(keepends=True)
    [change] = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "claim.yaml"
    for one in reversed(change["replacements"]):
        region = one["deletedRegion"]
        assert region["startLine"] == region["endLine"]
        line = lines[region["startLine"] - 1]
        new = line[: region["startColumn"] - 1] + one["insertedContent"]["text"] + line[region["endColumn"] - 1 :]
        lines[region["startLine"] - 1] = new
    assert "".join(lines).split("expression")[0] == FIXED.split("expression", maxsplit=1)[0]


def test_hostile_text_in_a_diff(file: Path) -> None:
    file.write_text(TEXT.replace("# how many", "# \u202e::error::\tx"), encoding="utf-8")
    out = in_process("validate", "claim.yaml", "--diff").out
    assert "::error" not in out
    assert "\u202e" not in out
    assert "\tx" in out


@pytest.mark.parametrize(("kind", "lists"), [("ResourceClaim", "requests"), ("ResourceSlice", "devices")])
@pytest.mark.parametrize("value", ["1.5", "true", "text", "{a: 1}"])
def test_an_old_version_with_no_list_where_one_belongs_is_told(file: Path, kind: str, lists: str, value: str) -> None:
    inner = f"{{devices: {{{lists}: {value}}}}}" if kind == "ResourceClaim" else f"{{{lists}: {value}}}"
    text = f"apiVersion: resource.k8s.io/v1beta1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {inner}\n"
    file.write_text(text, encoding="utf-8")
    ran = in_process("validate", "claim.yaml", "-o", "short")
    assert ran.status == 1
    assert "DRA001" in ran.out
    assert in_process("validate", "claim.yaml", "--fix").err == "nothing to fix\n"
    assert file.read_text(encoding="utf-8") == text


CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: big}
spec:
  selectors:
  - cel: {expression: 'device.capacity["gpu.example.com"].memory > quantity("1Gi")'}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: node-a}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: node-a, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
"""


def test_what_a_fix_brings_to_light_does_not_keep_it_from_being_made(file: Path) -> None:
    file.write_text(CLASS, encoding="utf-8")
    assert in_process("validate", "claim.yaml").out.endswith(" 1 can be fixed with --fix.\n")
    ran = in_process("validate", "claim.yaml", "--fix")
    assert (ran.status, ran.err) == (1, "1 fix made in 1 file\n")
    assert '.memory.compareTo(quantity("1Gi")) > 0' in file.read_text(encoding="utf-8")
    assert "error[DRA220] fails on the only device" in ran.out
    assert "can be fixed" not in ran.out


def test_what_could_not_be_fixed_is_not_offered_afterwards(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dra_plan.validation.fixing.correction", lambda *_: None)
    ran = in_process("validate", "claim.yaml", "--fix")
    assert (ran.status, ran.err) == (1, "nothing to fix\n")
    assert "fixed with --fix" not in ran.out
    assert "fix: --fix can" not in ran.out


def test_reports_are_written_beside_a_diff(file: Path) -> None:
    file.write_text(f"{TEXT}---\n{CLASS.partition('---')[0]}  x: 1\n", encoding="utf-8")
    diff = in_process("validate", "claim.yaml", "--diff")
    ran = in_process("validate", "claim.yaml", "--diff", "--report", "junit=a.xml", "--report", "html=a.html")
    assert ran == diff
    assert ran.status == 1
    cases = list(ElementTree.parse("a.xml").iter("testcase"))
    failed = [case.get("name", "").split()[0] for case in cases if case.find("failure") is not None]
    assert failed == ["DRA014", "DRA121", "DRA121"]
    assert "error: " in (ElementTree.parse("a.xml").findtext("system-err") or "")  # what can't be fixed
    assert "DRA014" in Path("a.html").read_text(encoding="utf-8")


def test_reports_are_written_where_there_is_nothing_to_fix(file: Path) -> None:
    file.write_text(CLASS.replace("spec:", "sepc:"), encoding="utf-8")
    ran = in_process("validate", "claim.yaml", "--diff", "--report", "junit=a.xml", "--report", "sarif=a.sarif")
    assert (ran.status, ran.out, ran.err) == (0, "", "nothing to fix\n")
    assert ElementTree.parse("a.xml").find(".//failure") is None
    assert "DRA002" in (ElementTree.parse("a.xml").findtext("system-err") or "")
    assert "DRA002" in Path("a.sarif").read_text(encoding="utf-8")


def test_a_format_beside_a_diff_is_refused(file: Path) -> None:
    ran = in_process("validate", "claim.yaml", "--diff", "-o", "json", "--report", "junit=a.xml")
    assert (ran.status, ran.out) == (2, "")
    assert "cannot be combined with -o json" in ran.err
    assert ElementTree.parse("a.xml").find(".//error") is not None
