"""kubectl 1.20 is enough: what is asked of it has nothing newer, and a real one reads a cluster."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from dra_plan.live import snapshot
from tests.cli.running import in_process

from .replay import Answers, InProcess, kubeconfig, served

REQUEST = re.compile(r"get --raw /\S+ --request-timeout=\d+s --context=replay --kubeconfig=\S+")
NAMESPACE = re.compile(
    r"config view --minify --output=jsonpath=\{\.contexts\[0\]\.context\.namespace\} --context=replay"
    r" --kubeconfig=\S+"
)
STRICT = """#!/bin/sh
# Knows what kubectl 1.20 knows, and of that only what is needed.
echo "$*" >> {log}
for word; do
    case $word in
    get|--raw|/*|config|view|--minify|--output=jsonpath=*|--request-timeout=*s|--context=*|--kubeconfig=*) ;;
    *) echo "error: unknown flag: $word" >&2; exit 1 ;;
    esac
done
exec {kubectl} "$@"
"""


def test_nothing_newer_is_asked_of_kubectl(kubectl: str, tmp_path: Path) -> None:
    """Neither a verb that writes nor an option that 1.20 lacks; for the namespace only where a name is given."""
    log, strict = tmp_path / "log", tmp_path / "strict"
    strict.write_text(STRICT.format(log=shlex.quote(str(log)), kubectl=shlex.quote(kubectl)))
    strict.chmod(0o755)
    with served(Answers()) as address:
        config = ["--context", "replay", "--kubeconfig", kubeconfig(tmp_path, address, "team-a")]
        assert in_process("explain", "pod/too-big", *config, KUBECTL_PATH=str(strict)).status == 0
        lines = log.read_text().splitlines()
        log.unlink()
        assert in_process("pools", *config, KUBECTL_PATH=str(strict)).status == 0
        unnamed = log.read_text().splitlines()
    assert [line for line in unnamed if not REQUEST.fullmatch(line)] == []
    (other,) = [line for line in lines if not REQUEST.fullmatch(line)]
    assert NAMESPACE.fullmatch(other)


@pytest.mark.long
def test_a_real_one_reads_a_cluster(oldest_kubectl: str, tmp_path: Path) -> None:
    """A snapshot, a name in the context's namespace, a rejection and a server that is not there."""
    whole = snapshot.read(InProcess(Answers()))
    path = tmp_path / "s.json"
    with served(Answers()) as address:
        config = ["--kubeconfig", kubeconfig(tmp_path, address, "team-a")]
        assert in_process("snapshot", "-o", str(path), *config, KUBECTL_PATH=oldest_kubectl).status == 0
        told = in_process("explain", "pod/too-big", *config, "-o", "json", KUBECTL_PATH=oldest_kubectl)
        nobody = in_process("pools", *config, "--context", "elsewhere", KUBECTL_PATH=oldest_kubectl)
    assert json.loads(path.read_text())["items"][1:] == [json.loads(text) for text in whole.objects]
    assert [each["owner"]["name"] for each in json.loads(told.out)["claimSets"]] == ["too-big"]
    assert nobody.status == 2
    assert nobody.err.startswith("error: cannot read the cluster: ")
    with served(Answers(), "noslices") as address:
        config = ["--kubeconfig", kubeconfig(tmp_path, address)]
        refused = in_process("snapshot", "-o", str(path), *config, KUBECTL_PATH=oldest_kubectl)
    assert refused.status == 0
    assert "resourceslices.resource.k8s.io, devicetaintrules.resource.k8s.io: you may not list them" in refused.err
