"""What `place` prints: its first line, in words that fit the number of pods."""

from pathlib import Path

import pytest
import yaml

from tests.build import node, pod

from .running import in_process

NODE = node("node", cpu="3", pods="9")
"""Three processors."""


@pytest.mark.parametrize(
    ("requests", "line"),
    [
        (["4"], "Impossible: the pending pod cannot run."),
        (["4", "5"], "Impossible: none of 2 pods can run."),
        (["2", "2"], "Impossible: no more than 1 of 2 pods can run at the same time."),
        (["1", "2"], "Placed: 2 pods, which can all run together."),
    ],
)
def test_the_first_line_says_how_many_can_run(tmp_path: Path, requests: list[str], line: str) -> None:
    manifest = tmp_path / "cluster.yaml"
    pods = [pod(f"p-{number}", cpu=cpu, memory=None) for number, cpu in enumerate(requests)]
    manifest.write_text(yaml.safe_dump_all([NODE, *pods]), encoding="utf-8")
    ran = in_process("place", str(manifest))
    assert ran.out.splitlines()[0] == line
