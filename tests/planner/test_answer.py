"""Answers print themselves, whatever was imported: nobody else has to be there first."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from dra_plan import Cluster
from tests import limits

ROOT = Path(__file__).parents[2]
WITHOUT_CLUSTER = "import sys; assert 'dra_plan.cluster' not in sys.modules"


def printed(program: str) -> str:
    done = limits.run(
        [sys.executable, "-c", f"{program}\n{WITHOUT_CLUSTER}"], capture_output=True, cwd=ROOT, check=True
    )
    return done.stdout


def test_the_text_of_an_answer_that_the_planner_made() -> None:
    made = printed("from dra_plan.questions.rule.answer import guides; print(guides(['DRA014']))")
    assert made.startswith("DRA014: request with fields of `exactly` outside `exactly`\n")


def test_the_text_of_an_answer_that_comes_from_another_process(tmp_path: Path) -> None:
    answer = Cluster.load("fixtures/quickstart").allocate()
    kept = tmp_path / "answer"
    kept.write_bytes(pickle.dumps(answer))
    made = printed(f"import pickle; print(pickle.loads(open({str(kept)!r}, 'rb').read()))")
    assert made.rstrip("\n") == str(answer)
