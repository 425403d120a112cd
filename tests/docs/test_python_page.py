"""The Python page: its examples give what it says, and its tables name what there is."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dra_plan
from dra_plan.questions.methods import Questions
from tests.cli.running import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def test_its_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```pycon\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 4
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "python.md", None, 0)
    told: list[str] = []
    assert doctest.DocTestRunner().run(examples, out=told.append).failed == 0, "".join(told)


def test_its_table_names_the_methods_and_their_answers() -> None:
    rows = re.findall(r"^\| `(\w+)\(.*?\)` \| `(\w+)` \|", PAGE, re.MULTILINE)
    edits = set(re.findall(r"^\| `(\w+)\(.*?\)` \| [^`]", PAGE, re.MULTILINE))
    assert {method for method, _ in rows} == {name for name in vars(Questions) if name[0] != "_"}
    assert edits == {"cordon", "drain", "without", "add_nodes", "label", "scale", "taint_device", "edited"}
    assert {answer for _, answer in rows} <= set(dra_plan.__all__)


CLIENT = """
from collections.abc import Iterator

import dra_plan


def fitting(cluster: dra_plan.Cluster) -> Iterator[tuple[str, str, list[str]]]:
    for plan in cluster.allocate("pod/train", nodes="gpu-a"):
        for node in plan:
            if node.outcome is dra_plan.Outcome.FITS:
                for claim, allocation in plan.claims_on(node.node):
                    yield claim.key, node.node, [result.device for result in allocation.devices.results]


cluster = dra_plan.Cluster.load("fixtures/quickstart").at("1.35", quirks="fixed")
print(list(fitting(cluster)))
objects = dra_plan.load(["fixtures/quickstart"])
name: str = objects[0]["metadata"]["name"]
pods: list[str | None] = [pod.node_name for pod in dra_plan.schedule(objects)]
codes: list[str] = [finding.code for finding in cluster.validate(select="DRA1")]
pools: list[str] = [pool.pool_name for pool in cluster.pools()]
told: dra_plan.Explanation = dra_plan.explain(objects)
print(str(told))
"""


def test_a_typed_program_runs(tmp_path: Path) -> None:
    program = tmp_path / "client.py"
    program.write_text(CLIENT)
    done = subprocess.run([sys.executable, program], cwd=ROOT, env=_here(), capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[('default/train-gpus', 'gpu-a', ['gpu-0', 'gpu-1'])]\n")


@pytest.mark.long
def test_a_typed_program_passes_mypy(tmp_path: Path) -> None:
    """Long, because mypy reads the whole package where it has not done so before."""
    program = tmp_path / "client.py"
    program.write_text(CLIENT)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(CLIENT + "codes = cluster.pools()\n")
    for path, status in ((program, 0), (wrong, 1)):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), str(path)]
        done = subprocess.run(command, cwd=ROOT, env=_here(), capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout


def _here() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}
