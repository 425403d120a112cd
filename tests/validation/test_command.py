"""The command: exit status, formats, options, settings."""

import json
from pathlib import Path

import jsonschema
import pytest

from dra_plan.questions import schema as schemas
from tests.cli.running import Ran, in_process

from .judging import as_yaml
from .objects import claim, device_class, piece, request, taint_rule

OUTPUTS = ["text", "short", "table", "wide", "json", "yaml", "name", "jsonpath={.summary.errors}"]
GOOD = [piece(), device_class(), claim()]
WARNED = [piece(version="resource.k8s.io/v1beta2"), device_class(), claim()]
INFO = [piece(), claim()]
BETA = ("--runtime-config", "api/beta=true")
WRONG = [*WARNED, claim(request("A B"), name="wrong")]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Run":
    monkeypatch.chdir(tmp_path)
    return Run(tmp_path)


class Run:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, objects: list[dict[str, object]], *options: str) -> Ran:
        (self.folder / "input.yaml").write_text(as_yaml(objects), encoding="utf-8")
        return in_process("validate", "input.yaml", *BETA, *options)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    ("objects", "fail_on", "status"),
    [
        (GOOD, "info", 0),
        (INFO, "error", 0),
        (INFO, "warning", 0),
        (INFO, "info", 1),
        (WARNED, "error", 0),
        (WARNED, "warning", 1),
        (WARNED, "info", 1),
        (WRONG, "error", 1),
        (WRONG, "warning", 1),
    ],
)
def test_status_is_the_same_for_every_output(
    objects: list[dict[str, object]], fail_on: str, status: int, output: str, run: Run
) -> None:
    ran = run(objects, "--fail-on", fail_on, "-o", output)
    assert (ran.status, ran.err) == (status, "")


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a: [", ()),
        ("", ()),
        ("just text", ()),
        ("kind: List", ()),
        ("{}", ("--select", "XYZ")),
        ("{}", ("--fail-on", "never")),
        ("{}", ("--kubernetes-version", "twenty")),
        ("{}", ("--feature-gates", "Nope=true")),
        ("{}", ("--quirks", "some")),
        ("{}", ("--config", "missing.toml")),
        ("{}", ("missing.yaml",)),
    ],
)
def test_what_can_not_be_judged(text: str, options: tuple[str, ...], output: str, tmp_path: Path) -> None:
    path = tmp_path / "input.yaml"
    path.write_text(text, encoding="utf-8")
    ran = in_process("validate", str(path), *options, "-o", output)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: ")


def test_no_path_is_a_usage_error() -> None:
    ran = in_process("validate")
    assert (ran.status, ran.err.startswith("error: no manifests")) == (2, True)


@pytest.mark.parametrize("objects", [GOOD, WARNED, INFO, WRONG])
def test_the_document_meets_its_schema(objects: list[dict[str, object]], run: Run) -> None:
    document = json.loads(run(objects, "-o", "json").out)
    jsonschema.Draft202012Validator(schemas.load("ValidationReport")).validate(document)
    counts = document["summary"]
    found = [finding["severity"] for finding in document["findings"]]
    assert [counts[f"{kind}s"] for kind in ("error", "warning", "info")] == [
        found.count(kind) for kind in ("error", "warning", "info")
    ]
    assert {finding["code"] for finding in document["findings"]} == {rule["code"] for rule in document["rules"]}


def test_the_document_says_who_refuses(run: Run) -> None:
    objects = [*WARNED, claim(request("A B"), name="wrong"), claim(request(count=9), name="many")]
    found = json.loads(run(objects, "-o", "json").out)["findings"]
    assert [(finding["code"], finding["refusedBy"]) for finding in found] == [
        ("DRA010", None),
        ("DRA101", "APIServer"),
        ("DRA230", "Scheduler"),
    ]


def test_table(run: Run) -> None:
    assert run(WRONG, "-o", "table").out == (
        "PLACE              SEVERITY   CODE     OBJECT                     MESSAGE\n"
        "input.yaml:1:13    warning    DRA010   ResourceSlice node-a-gpu   apiVersion: resource.k8s.io/v1beta2 is"
        " deprecated; resource.k8s.io/v1 replaces it\n"
        'input.yaml:49:13   error      DRA101   ResourceClaim team/wrong   spec.devices.requests[0].name: "A B" is not'
        " a valid request name: lowercase letters, digits and '-', at most 63, starting and ending with a letter or"
        " digit\n"
        "\n1 error, 1 warning in 4 objects. Checked against Kubernetes 1.36.3.\n"
    )
    assert run(GOOD).out == "3 objects checked, no findings. Checked against Kubernetes 1.36.3.\n"


def test_wide_has_the_correction_and_the_reason(run: Run) -> None:
    out = run(WRONG, "-o", "wide").out
    assert "apiVersion: resource.k8s.io/v1\n" in out
    assert "The version is still served, but a later release will remove it." in out


def test_names(run: Run) -> None:
    assert run(WRONG, "-o", "name").out == "resourceslice/node-a-gpu\nresourceclaim/team/wrong\n"
    assert run(GOOD, "-o", "name").out == ""


def test_options_go_before_settings(run: Run) -> None:
    (run.folder / ".dra-plan.toml").write_text('ignore = ["DRA101"]\nfail-on = "warning"\n')
    assert (run(WRONG).status, run(WRONG, "-o", "name").out) == (1, "resourceslice/node-a-gpu\n")
    assert run(WRONG, "--fail-on", "error").status == 0
    assert run(WRONG, "--ignore", "DRA010", "-o", "name").out == "resourceclaim/team/wrong\n"
    assert run(WRONG, "--select", "DRA0,DRA2", "-o", "name").out == "resourceslice/node-a-gpu\n"
    assert run(WRONG, "--select", "DRA0", "--ignore", "DRA010").out.startswith(
        "4 objects checked, no findings (2 ignored)."
    )


def test_settings_can_be_named(run: Run) -> None:
    (run.folder / "other.toml").write_text('select = ["DRA2"]\n')
    assert run(WRONG, "--config", "other.toml").status == 0


def test_unknown_fields_can_be_passed_over(run: Run) -> None:
    objects = [piece(), device_class(), claim(request(selector=[]))]
    assert run(objects).status == 1
    assert run(objects, "--ignore-unknown").status == 0
    (run.folder / ".dra-plan.toml").write_text("ignore-unknown = true\n")
    assert run(objects).status == 0
    assert run(objects, "--no-ignore-unknown").status == 1


def test_standard_input() -> None:
    ran = in_process("validate", "-", *BETA, "-o", "jsonpath={.findings[*].file}", stdin=as_yaml(WRONG))
    assert (ran.status, ran.out) == (1, "- -")


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ((), "DRA011"),
        (("--runtime-config", "resource.k8s.io/v1beta2=true"), "DRA010"),
        (("--runtime-config", "resource.k8s.io/v1beta2/resourceslices"), "DRA010"),
        (("--runtime-config", "resource.k8s.io/v1beta2/deviceclasses"), "DRA011"),
        (("--runtime-config", "api/beta=true,resource.k8s.io/v1beta2=false"), "DRA011"),
        (("--runtime-config", "api/all=true"), "DRA010"),
    ],
)
def test_versions_are_served_as_the_api_server_says(options: tuple[str, ...], codes: str) -> None:
    ran = in_process("validate", "-", *options, "-o", "jsonpath={.findings[*].code}", stdin=as_yaml(WARNED))
    assert ran.out == codes


@pytest.mark.parametrize("config", ["v1beta2", "resource.k8s.io/v1=maybe", "api/", "a/b/c/d"])
def test_what_is_no_runtime_config(config: str) -> None:
    ran = in_process("validate", "-", "--runtime-config", config, stdin=as_yaml(GOOD))
    assert (ran.status, ran.err.startswith("error: --runtime-config: ")) == (2, True)


def test_a_kind_is_served_where_its_gate_is_on() -> None:
    def codes(*options: str) -> str:
        return in_process("validate", "-", *options, "-o", "jsonpath={.findings[*].code}", stdin=as_yaml([rule])).out

    rule = taint_rule()
    assert "DRA011" in codes()
    assert codes("--feature-gates", "DRADeviceTaintRules=true") == ""


@pytest.mark.parametrize("form", ["junit", "sarif", "gitlab"])
@pytest.mark.parametrize(("objects", "status"), [(GOOD, 0), (WARNED, 0), (WRONG, 1)])
def test_reports_do_not_change_status_or_output(
    form: str, objects: list[dict[str, object]], status: int, run: Run
) -> None:
    plain = run(objects)
    ran = run(objects, "--report", f"{form}=report")
    assert (ran.status, ran.out) == (status, plain.out)
    text = (run.folder / "report").read_text()
    assert ("DRA101" in text) == (status == 1)


def test_annotations(run: Run) -> None:
    err = run(WRONG, "--report", "github").err
    assert "::warning file=input.yaml,line=1,col=13,title=dra-plan DRA010::" in err
    assert "::error file=input.yaml,line=49,col=13,title=dra-plan DRA101::" in err


def test_quirks(run: Run) -> None:
    rule = taint_rule()
    rule["spec"].pop("deviceSelector")
    objects = [piece(), device_class(), claim(), rule]
    gates = ("--feature-gates", "DRADeviceTaintRules=true", "-o", "jsonpath={.target.quirks} {.findings[*].code}")
    assert run(objects, *gates).out == "upstream DRA230 DRA250"
    assert run(objects, "--quirks", "fixed", *gates).out == "fixed DRA251"


@pytest.mark.parametrize(
    ("text", "message"),
    [(f"x = {'9' * 5_000}\n", "digits"), (f"x = {'[' * 5_000}\n", "toml"), (f"#{'x' * 1_000_000}\n", "bytes")],
    ids=["number", "nesting", "length"],
)
def test_settings_that_can_not_be_read(text: str, message: str, run: Run) -> None:
    (run.folder / ".dra-plan.toml").write_text(text)
    ran = run(GOOD)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert message in ran.err
