"""Reports of whole runs: written after every run, valid, and of one mind with the exit status."""

import json
from pathlib import Path

import pytest
from lxml import etree

from tests.build import deployment, gpus, node, pod, priority_class, request, template
from tests.cli.running import INPUTS, ROOT, Ran, given, in_process

from .checking import FORMS, Said, failures, said, validate

INPUT = "tests/cli/inputs"

FITS, NOT, BAD = given("cluster", "fits"), given("cluster", "too-many"), given("missing")
WARNINGS = [
    line.rpartition("[")[2].partition("]")[0]
    for line in (ROOT / "fixtures" / "expected" / "upgrade.warnings.txt").read_text(encoding="utf-8").splitlines()
    if line.startswith("warning: ")
]
OLD = ["validate", "fixtures/old-api", "--runtime-config", "api/beta=true"]
IMPACT = ["examples/impact/cluster.yaml"]
CHANGES = "examples/impact/changes"
RACKS = "tests/cli/inputs/racks.yaml"
RUNS: dict[str, tuple[list[str], int, list[str]]] = {
    "allocate: fits": (["allocate", *FITS], 0, []),
    "allocate: does not fit": (["allocate", *NOT], 1, ["does-not-fit"]),
    "allocate: error": (["allocate", *given("cluster", "error")], 1, ["allocation-error"]),
    "allocate: undecided": (["allocate", *given("cluster", "hard"), "--max-steps", "1"], 3, ["undecided"]),
    "allocate: undecided, gate": (
        ["allocate", *given("cluster", "hard"), "--max-steps", "1", "--require-fit"],
        1,
        ["undecided"],
    ),
    "allocate: too few nodes": (["allocate", *FITS, "--min-nodes", "3"], 1, ["too-few-nodes"]),
    "allocate: warning": (
        ["allocate", "fixtures/upgrade", "--fail-on", "warning"],
        1,
        WARNINGS,
    ),
    "allocate: nothing to plan": (["allocate", *given("cluster")], 2, ["input-error"]),
    "allocate: nothing, allowed": (["allocate", *given("cluster"), "--allow-empty"], 0, []),
    "allocate: no such file": (["allocate", *BAD], 2, ["input-error"]),
    "allocate: no input": (["allocate"], 2, ["usage-error"]),
    "allocate: no version": (["allocate", *FITS, "--kubernetes-version", "newest"], 2, ["usage-error"]),
    "schedule: all bound": (["schedule", "fixtures/upgrade"], 0, []),
    "schedule: pod stays": (["schedule", "fixtures/quickstart"], 1, ["unschedulable"]),
    "allocate: rejected": (["allocate", "fixtures/old-api"], 1, ["refused"] * 7),
    "schedule: rejected": (["schedule", "fixtures/old-api"], 1, ["refused"] * 3),
    "schedule: no such file": (["schedule", *BAD], 2, ["input-error"]),
    "impact: a pod ends": (["impact", *IMPACT, "-f", f"{CHANGES}/recall.yaml"], 1, ["pod-ends"]),
    "impact: a selector is lost": (["impact", *IMPACT, "-f", f"{CHANGES}/driver-2.yaml"], 1, ["selector-lost"]),
    "impact: nothing changes": (["impact", *IMPACT, "-f", *IMPACT], 0, []),
    "impact: no such file": (["impact", *IMPACT, "-f", "no/such.yaml"], 2, ["input-error"]),
    "maintain: an order": (["maintain", RACKS], 0, []),
    "maintain: none": (["maintain", RACKS, "--cordon", "b2"], 1, ["no-order"]),
    "maintain: no such file": (["maintain", *BAD], 2, ["input-error"]),
    "explain: fits": (["explain", *FITS], 0, []),
    "explain: does not fit": (["explain", *NOT], 0, ["does-not-fit"]),
    "explain: does not fit, gate": (["explain", *NOT, "--require-fit"], 1, ["does-not-fit"]),
    "explain: no such file": (["explain", *BAD], 2, ["input-error"]),
    "validate: nothing found": (["validate", "fixtures/quickstart"], 0, []),
    "validate: errors": (["validate", "fixtures/old-api"], 1, ["DRA011"] * 7),
    "validate: errors, one rule": (["validate", "fixtures/old-api", "--select", "DRA010"], 0, []),
    "validate: warnings counted": (
        [*OLD, "--select", "DRA010", "--fail-on", "warning"],
        1,
        ["DRA010"] * 4,
    ),
    "validate: no such file": (["validate", *BAD], 2, ["input-error"]),
    "validate: unknown rule": (["validate", "fixtures/quickstart", "--select", "DRA999"], 2, ["usage-error"]),
}
"""Arguments, exit status, and what the test cases that do not pass are about."""

SHAPES = {
    "validate": ["table", "wide", "json", "yaml", "name", "jsonpath={.kind}"],
    "allocate": ["table", "wide", "json", "yaml", "name", "jsonpath={.kind}"],
    "schedule": ["table", "wide", "json", "yaml", "name", "jsonpath={.kind}"],
    "impact": ["table", "wide", "json", "markdown", "name", "jsonpath={.kind}"],
    "maintain": ["table", "wide", "json", "markdown", "name", "jsonpath={.kind}"],
    "explain": ["text", "markdown", "json", "yaml", "jsonpath={.kind}"],
}


def reported(arguments: list[str], folder: Path) -> tuple[Ran, dict[str, str]]:
    """The run with all reports, and their texts."""
    files = {form: folder / form for form in FORMS}
    options = [option for form, file in files.items() for option in ("--report", f"{form}={file}")]
    ran = in_process(*arguments, *options, "--report", "github")
    return ran, {form: file.read_text(encoding="utf-8") for form, file in files.items()}


@pytest.mark.parametrize("run", RUNS)
def test_every_run_leaves_valid_reports(run: str, tmp_path: Path) -> None:
    arguments, status, codes = RUNS[run]
    ran, texts = reported(arguments, tmp_path)
    assert ran.status == status, ran
    for form in FORMS:
        validate(form, texts[form])
    assert failures(texts["junit"]) == codes
    for form in ("sarif", "gitlab"):
        assert [entry.code for entry in said(form, texts[form])][: len(codes)] == codes
    titles = [line.partition("title=dra-plan ")[2].partition("::")[0] for line in ran.err.splitlines() if "::" in line]
    assert titles[: len(codes)] == codes
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FORMS), "nothing half-written is left"


@pytest.mark.parametrize("run", [name for name in RUNS if not name.startswith("explain")])
def test_red_test_cases_mean_a_status_that_is_not_0(run: str, tmp_path: Path) -> None:
    arguments, status, _ = RUNS[run]
    _, texts = reported(arguments, tmp_path)
    assert bool(failures(texts["junit"])) == (status != 0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("run", RUNS)
def test_the_status_is_the_same_for_every_format_and_report(run: str, tmp_path: Path) -> None:
    arguments, status, _ = RUNS[run]
    reports = ["github", *(f"{form}={tmp_path / form}" for form in FORMS)]
    for shape in SHAPES[arguments[0]]:
        for chosen in ([], reports):
            options = [part for report in chosen for part in ("--report", report)]
            assert in_process(*arguments, "-o", shape, *options).status == status, (shape, chosen)
    for report in reports:
        assert in_process(*arguments, "--report", report).status == status, report


@pytest.mark.parametrize("run", ["allocate: does not fit", "schedule: pod stays", "explain: does not fit"])
def test_the_answer_is_the_same_with_reports(run: str, tmp_path: Path) -> None:
    arguments, _, _ = RUNS[run]
    ran, _ = reported(arguments, tmp_path)
    plain = in_process(*arguments)
    assert ran.out == plain.out
    assert [line for line in ran.err.splitlines() if not line.startswith("::")] == plain.err.splitlines()


@pytest.mark.parametrize("command", ["allocate", "explain"])
def test_places_are_where_the_objects_are(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, texts = reported([command, *NOT], tmp_path)
    lines = (INPUTS / "too-many.yaml").read_text(encoding="utf-8").splitlines()
    for form in ("sarif", "gitlab"):
        (entry,) = said(form, texts[form])
        assert entry.file == f"{INPUT}/too-many.yaml"
        assert lines[entry.line - 1].startswith(("apiVersion", "kind", "metadata"))


def test_every_fault_of_the_input_is_an_entry_with_its_place(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: 7}\n---\napiVersion: v1\nkind: Pod\nmetadata: 1\n")
    _, texts = reported(["allocate", str(bad)], tmp_path)
    bad.unlink()
    faults = [Said("input-error", f"{bad.as_uri()}", line) for line in (3, 7)]
    assert said("sarif", texts["sarif"]) == faults
    assert [entry.line for entry in said("gitlab", texts["gitlab"])] == [3, 7]
    assert failures(texts["junit"]) == ["input-error"] * 2


def test_what_makes_nothing_fail_is_no_test_case(tmp_path: Path) -> None:
    arguments = ["allocate", "fixtures/upgrade"]
    noted = etree.fromstring(reported(arguments, tmp_path)[1]["junit"].encode())
    assert not noted.findall("testcase/*")
    assert "warning: " in noted.findtext("system-err")
    counted = reported([*arguments, "--fail-on", "warning"], tmp_path)[1]["junit"]
    assert failures(counted)
    assert etree.fromstring(counted.encode()).find("system-err") is None


def test_explanations_are_in_the_report(tmp_path: Path) -> None:
    _, texts = reported(["explain", *NOT], tmp_path)
    told = [line.strip() for line in in_process("explain", *NOT).out.splitlines() if "needs 3 devices" in line]
    assert told
    for form in ("junit", "sarif"):
        assert all(line in texts[form] for line in told)


def test_replicas_are_shown_at_their_workload(tmp_path: Path) -> None:
    _, texts = reported(["schedule", "fixtures/quickstart"], tmp_path)
    (entry,) = said("gitlab", texts["gitlab"])
    lines = (ROOT / "fixtures" / "quickstart" / "workloads.yaml").read_text(encoding="utf-8").splitlines()
    assert entry.file == "fixtures/quickstart/workloads.yaml"
    assert lines[entry.line - 1] == "apiVersion: apps/v1"
    assert lines[entry.line + 1] == "metadata: {name: serve, namespace: default}"


def test_alike_replicas_share_one_annotation_and_name_the_pod_with_the_explanation(tmp_path: Path) -> None:
    quickstart = ROOT / "fixtures" / "quickstart"
    for path in quickstart.glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        (tmp_path / path.name).write_text(text.replace("replicas: 2", "replicas: 5"), encoding="utf-8")
    ran, texts = reported(["schedule", str(tmp_path)], tmp_path)
    (told,) = [line for line in ran.err.splitlines() if line.startswith("::error")]
    results = json.loads(texts["sarif"])["runs"][0]["results"]
    first, *others = [each["message"]["text"] for each in results if each["level"] == "error"]
    name = told.partition("::Deployment ")[2].partition(" and ")[0]
    assert others
    assert name.startswith("default/serve pod ")
    assert name.endswith(" of 5")
    assert f"Deployment {name} and {len(others)} like it: " in told
    assert "of claim serve-" in first
    assert all(text.startswith(f"For the same reason as Deployment {name}: ") for text in others)
    assert all(" comes first and takes the room. Even if " in text for text in others)


def test_pods_of_the_same_change_that_take_the_room_are_named_everywhere(tmp_path: Path) -> None:
    first = [pod(f"first-{n}", templates={"gpu": "one"}, priorityClassName="high") for n in range(4)]
    shape = pod("x", templates={"gpu": "two"})
    rank = deployment("rank", {"metadata": shape["metadata"], "spec": shape["spec"]}, 3)
    templates = [template("one", request("gpu")), template("two", request("gpu", count=2))]
    items = [*gpus("a", "b", each=2), priority_class("high", 1000), *templates, rank, *first]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    ran, texts = reported(["schedule", str(path), "--require-fit"], tmp_path)
    said = (
        "2 of the 3 pods of deployment/default/rank would fit on a, but default/first-0 (priority 1000) and "
        "default/first-2 (priority 1000) come first and take the room. "
        "Even if no other pods were pending, only 2 of the 3 pods would fit"
    )
    annotation, gate = [line for line in ran.err.splitlines() if line.startswith(("gate failed", "::error"))]
    assert f"({said})" in gate
    assert f"like it: {said}." in annotation
    results = json.loads(texts["sarif"])["runs"][0]["results"]
    messages = [result["message"]["text"] for result in results if result["level"] == "error"]
    cases = [case[0].get("message") for case in etree.fromstring(texts["junit"].encode()) if len(case)]
    for told in (messages, cases):
        assert [
            text for text in told if text.startswith("For the same reason as Deployment default/rank pod 1 of 3: ")
        ] == told[1:]
        assert sum(f"{said}. The scheduler says: 0/2 nodes" in text for text in told) == 3


def test_standard_input_has_a_name(tmp_path: Path) -> None:
    text = "".join(Path(path).read_text(encoding="utf-8") + "\n---\n" for path in NOT)
    report = tmp_path / "gitlab"
    ran = in_process("allocate", "-", "--report", f"gitlab={report}", "--report", "github", stdin=text)
    assert [entry.file for entry in said("gitlab", report.read_text(encoding="utf-8"))] == ["stdin"]
    assert "::error title=" in ran.err


def _facts(tmp_path: Path, *options: str) -> dict[str, str]:
    """The reports of a run whose input is a folder, and whose answer depends on the order of nodes."""
    run = ["schedule", str(tmp_path / "in"), *options]
    files = {form: tmp_path / f"report.{form}" for form in ("junit", "gitlab", "sarif")}
    reports = [f"--report={form}={file}" for form, file in files.items()]
    ran = in_process(*run, *reports, "--report=github")
    assert ran.status == 0, ran.err
    texts = {form: file.read_text(encoding="utf-8") for form, file in files.items()}
    return {**texts, "github": "".join(line for line in ran.err.splitlines(keepends=True) if line.startswith("::"))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    for name, objects in (("a", [pod("free")]), ("b", [node("n1"), node("n2")])):
        for index, each in enumerate(objects):
            (made / f"{name}-{index}.json").write_text(json.dumps(each), encoding="utf-8")
    return made


def test_facts_about_a_release_are_notes(folder: Path, tmp_path: Path) -> None:
    told = _facts(tmp_path)
    code = "several-best-nodes"
    assert [line.partition(" ")[0] for line in told["github"].splitlines()] == ["::notice"]
    assert f"title=dra-plan {code}" in told["github"]
    assert "<system-err>note: " in told["junit"]
    assert json.loads(told["gitlab"]) == []
    [result] = json.loads(told["sarif"])["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (result["ruleId"], result["level"]) == (code, "note")
    assert place.endswith("/in/a-0.json"), "a file of the folder stands for it"


def test_a_quiet_run_reports_no_facts(folder: Path, tmp_path: Path) -> None:
    told = _facts(tmp_path, "-q")
    assert told["github"] == ""
    assert "system-err" not in told["junit"]
    assert json.loads(told["sarif"])["runs"][0]["results"] == []


def test_a_quiet_run_reports_warnings_and_findings() -> None:
    def told(*run: str) -> str:
        return "".join(line for line in in_process(*run, "--report=github").err.splitlines() if line[:2] == "::")

    for run in (["allocate", "fixtures/upgrade"], [*OLD, "--select", "DRA010"]):
        assert "::warning" in told(*run)
        assert told(*run, "-q").count("::warning") == told(*run).count("::warning")


def test_a_warning_in_annotations_is_not_printed_again() -> None:
    """Without annotations, and if an error ends the run, it is printed as text."""
    run = ["allocate", "fixtures/upgrade"]
    plain, annotated = in_process(*run), in_process(*run, "--report", "github")
    assert plain.err.count("[upstream-defect]") == 2
    assert [line[:9] for line in annotated.err.splitlines() if "upstream-defect" in line] == ["::warning"] * 2
    assert "\nwarning:" not in f"\n{annotated.err}"
