"""The examples for CI: their commands, run as they are written, pass what fits and fail what does not."""

import contextlib
import http.server
import json
import shutil
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import ROOT
from tests.reports.checking import failures, validate

from .fixture import QUICKSTART, project, run

EXAMPLES = ROOT / "examples" / "ci"
INSTALL = 'pip install "$DRA_PLAN"'
with_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="the comment is sent by curl")
POD = (QUICKSTART / "workloads.yaml").read_text(encoding="utf-8").split("kind: Pod")[0].count("\n")
"""The line at which the pod begins."""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the examples are for a POSIX shell")


def read(name: str) -> Any:
    return yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))


def github(folder: Path) -> tuple[bool, str]:
    """Whether the workflow's job succeeds, and its log; steps that use actions, and the installation, are left out."""
    (job,) = read("github-workflow.yaml")["jobs"].values()
    succeeded, log = True, ""
    for step in job["steps"]:
        condition = step.get("if", "success()")
        assert condition in ("success()", "failure()", "success() || failure()")
        wanted = "success()" if succeeded else "failure()"
        if "run" not in step or step["run"] == INSTALL or wanted not in condition:
            continue
        done = run(step["run"], folder, GITHUB_STEP_SUMMARY=str(folder / "summary.md"))
        log += done.stdout + done.stderr
        succeeded = succeeded and done.returncode == 0
    return succeeded, log


def gitlab(folder: Path) -> tuple[bool, str]:
    """Whether all jobs succeed, and their logs."""
    read_file = read("gitlab-ci.yaml")
    assert read_file[".dra-plan"]["before_script"] == [INSTALL]
    succeeded, log = True, ""
    for job in (job for name, job in read_file.items() if not name.startswith(".")):
        done = run("\n".join(job["script"]), folder)
        succeeded = succeeded and done.returncode == 0
        status = "failed" if done.returncode else "success"
        after = run("\n".join(job.get("after_script", ["true"])), folder, CI_JOB_STATUS=status)
        assert after.returncode == 0
        log += done.stdout + done.stderr + after.stdout
    return succeeded, log


def make(folder: Path) -> tuple[bool, str]:
    done = run(f"make -f {EXAMPLES / 'Makefile'} -k valid fits", folder)
    return done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("system", [github, gitlab, make])
def test_what_fits_passes(system: Any, tmp_path: Path) -> None:
    succeeded, log = system(project(tmp_path, fits=True))
    assert succeeded, log


RIVAL = """
---
apiVersion: v1
kind: Pod
metadata: {name: rival, namespace: default}
spec:
  containers: [{name: c, image: registry.example.com/c, resources: {claims: [{name: gpus}]}}]
  resourceClaims: [{name: gpus, resourceClaimTemplateName: two-large-gpus}]
"""
QUOTA = """
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: default}
spec: {hard: {pods: "0"}}
"""
BEYOND = {
    "replicas": {"changed": ("replicas: 1", "replicas: 4")},
    "rivals": {"added": RIVAL},
    "cpu": {"changed": ("claims: [{name: gpus}]", "claims: [{name: gpus}]\n      requests: {cpu: 9k}")},
    "quota": {"added": QUOTA},
    "refused": {"changed": ("claims: [{name: gpus}]", "claims: [{name: gpus}, {name: gpus}]")},
}
"""Changes after which not all of it runs, although each claim by itself fits on some node."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("change", BEYOND)
@pytest.mark.parametrize("system", [github, gitlab, make])
def test_what_does_not_run_fails(system: Any, change: str, tmp_path: Path) -> None:
    succeeded, log = system(project(tmp_path, fits=True, **BEYOND[change]))
    assert not succeeded, log


def test_github_fails_annotates_and_sums_up(tmp_path: Path) -> None:
    succeeded, log = github(project(tmp_path, fits=False))
    assert not succeeded
    assert f"::error file=manifests/workloads.yaml,line={POD},title=dra-plan unschedulable::Pod default/train: " in log
    assert "pod/default/train" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    validate("sarif", (tmp_path / "dra-plan.sarif").read_text(encoding="utf-8"))


def test_gitlab_fails_and_gets_the_reports_that_the_jobs_declare(tmp_path: Path) -> None:
    succeeded, log = gitlab(project(tmp_path, fits=False))
    assert not succeeded
    jobs = read("gitlab-ci.yaml")
    junit = jobs["workloads-fit"]["artifacts"]["reports"]["junit"]
    assert failures((tmp_path / junit).read_text(encoding="utf-8")) == ["unschedulable"]
    quality = jobs["manifests-are-right"]["artifacts"]["reports"]["codequality"]
    validate("gitlab", (tmp_path / quality).read_text(encoding="utf-8"))
    assert "pod/default/train is Pending: no node can take it" in log, "the job says why"


def test_make_fails(tmp_path: Path) -> None:
    succeeded, log = make(project(tmp_path, fits=False))
    assert not succeeded
    assert "default/train" in log


def test_a_mistake_in_the_manifests_fails_too(tmp_path: Path) -> None:
    project(tmp_path, fits=True)
    manifest = tmp_path / "manifests" / "workloads.yaml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("deviceClassName: gpu.example.com", "deviceClassName: gpu.exampel.com", 1))
    succeeded, log = github(tmp_path)
    assert not succeeded
    assert "::error file=manifests/workloads.yaml,line=" in log
    results = json.loads((tmp_path / "dra-plan.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert results
    assert all(result["locations"][0]["physicalLocation"]["region"]["startLine"] > 1 for result in results)


def test_the_cluster_can_be_recorded_as_written(tmp_path: Path) -> None:
    """With a kubectl that prints what it is asked for."""
    project(tmp_path, fits=True)
    asked = tmp_path / "asked"
    script = f'kubectl() {{ echo "$@" > {asked}; echo "apiVersion: v1"; }}; export -f kubectl; '
    done = run(f"{script} make SHELL=bash -f {EXAMPLES / 'Makefile'} record", tmp_path)
    assert done.returncode == 0, done.stderr
    assert asked.read_text().startswith("get nodes,resourceslices,deviceclasses")
    assert (tmp_path / "cluster" / "recorded.yaml").read_text() == "apiVersion: v1\n"


IMPACT = ROOT / "examples" / "impact"


def test_what_a_change_would_do_and_whether_a_rack_may_fail(tmp_path: Path) -> None:
    options = f"CLUSTER={IMPACT / 'cluster.yaml'} MANIFESTS={IMPACT / 'changes' / 'recall.yaml'} RACK=rack"
    done = run(f"make -f {EXAMPLES / 'Makefile'} -k impact spare {options}", tmp_path)
    assert done.returncode != 0
    assert "| ml/notebook | Not recreated |" in done.stdout
    assert "rack=r1" in done.stdout


ASKED = {
    "impact": "dra-plan impact -R -f manifests cluster -o markdown",
    "any-rack-may-fail": "dra-plan diff -R cluster --drain each-by topology.kubernetes.io/rack",
}


@pytest.mark.parametrize("job", ASKED)
def test_the_workflows_of_changes_ask_what_the_makefile_asks(job: str) -> None:
    steps = read("github-impact.yaml")["jobs"][job]["steps"]
    lines = [line.strip() for step in steps for line in step.get("run", "").splitlines()]
    [asked] = [line for line in [*lines] if line.startswith("dra-plan ")]
    assert asked.partition(" --report")[0] == ASKED[job]
    [asked] = read("gitlab-impact.yaml")[job]["script"]
    assert asked.partition(" --report")[0] == ASKED[job]


def test_a_change_on_gitlab_leaves_the_comment_and_the_findings(tmp_path: Path) -> None:
    for name, file in (("cluster", "cluster.yaml"), ("manifests", "changes/recall.yaml")):
        (tmp_path / name).mkdir()
        shutil.copy(IMPACT / file, tmp_path / name)
    job = read("gitlab-impact.yaml")["impact"]
    done = run("\n".join(job["script"]), tmp_path)
    assert done.returncode == 1, done.stderr
    assert "| ml/notebook | Not recreated |" in (tmp_path / job["artifacts"]["paths"][0]).read_text(encoding="utf-8")
    quality = (tmp_path / job["artifacts"]["reports"]["codequality"]).read_text(encoding="utf-8")
    validate("gitlab", quality)
    assert [entry["check_name"] for entry in json.loads(quality) if entry["severity"] == "major"] == ["pod-ends"]


@with_curl
def test_a_change_on_gitlab_is_commented_on(tmp_path: Path) -> None:
    steps = read("gitlab-impact.yaml")["impact"]["after_script"]
    text = "| ml/notebook | Not recreated |\n& 100% of = ? +\n"
    (tmp_path / "impact.md").write_text(text, encoding="utf-8")
    with listening() as (address, heard):
        here = {"CI_API_V4_URL": f"{address}/api/v4", "CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "12"}
        done = run("\n".join(["apt-get() { :; }", *steps]), tmp_path, COMMENT_TOKEN="secret", no_proxy="*", **here)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert heard == [("/api/v4/projects/7/merge_requests/12/notes", "secret", {"body": [text]})]


@with_curl
def test_a_comment_that_gitlab_refuses_is_said(tmp_path: Path) -> None:
    steps = read("gitlab-impact.yaml")["impact"]["after_script"]
    (tmp_path / "impact.md").write_text("text", encoding="utf-8")
    with listening(status=401) as (address, _):
        here = {"CI_API_V4_URL": f"{address}/api/v4", "CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "12"}
        done = run("\n".join(["apt-get() { :; }", *steps]), tmp_path, COMMENT_TOKEN="old", no_proxy="*", **here)
    assert done.returncode != 0
    assert "401" in done.stderr


@contextlib.contextmanager
def listening(status: int = 201) -> Iterator[tuple[str, list[Any]]]:
    """The address of a server that answers each POST with this status, and what was posted: path, token and form."""
    heard: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            heard.append((self.path, self.headers["PRIVATE-TOKEN"], urllib.parse.parse_qs(form)))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", heard
        finally:
            server.shutdown()
