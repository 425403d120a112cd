"""The hooks for pre-commit: well formed, and their entries run."""

from pathlib import Path

import pytest
import yaml

from tests.cli.running import ROOT

from .fixture import project, run
from .test_examples import BEYOND

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


def test_each_hook_has_what_pre_commit_asks_for() -> None:
    for hook in HOOKS:
        assert {"id", "name", "entry", "language"} <= set(hook)
        assert hook["language"] == "python"
        assert hook["pass_filenames"] is False
    assert len({hook["id"] for hook in HOOKS}) == len(HOOKS)


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_it_passes_what_is_right(hook: dict[str, str], tmp_path: Path) -> None:
    done = run(f"{hook['entry']} -R cluster manifests", project(tmp_path, fits=True))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_it_fails_what_is_wrong(hook: dict[str, str], tmp_path: Path) -> None:
    manifest = project(tmp_path, fits=False) / "manifests" / "workloads.yaml"
    manifest.write_text(manifest.read_text().replace("resourceClaimTemplateName: any-gpu", "resourceClaimName: none"))
    assert run(f"{hook['entry']} -R cluster manifests", tmp_path).returncode == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", [name for name in BEYOND if name != "quota"])
def test_pods_that_do_not_run_together_fail_both_plans(change: str, tmp_path: Path) -> None:
    folder = project(tmp_path, fits=True, **BEYOND[change])
    for hook in HOOKS[1:]:
        assert run(f"{hook['entry']} -R cluster manifests", folder).returncode == 1, hook["id"]


def test_without_folders_a_hook_says_what_is_missing(tmp_path: Path) -> None:
    done = run(HOOKS[0]["entry"], tmp_path)
    assert done.returncode == 2
    assert "name files or directories" in done.stderr
