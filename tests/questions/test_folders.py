"""The folders of questions are what docs/internals/adding-a-question.md says, and use of each other what they may."""

import ast
from pathlib import Path

import pytest

from dra_plan import Cluster
from dra_plan.planner.answer import PrintedAnswer
from dra_plan.questions.methods import Questions
from dra_plan.questions.registry import QUESTIONS, QuestionRecord, of_kind
from tests.cli.running import ROOT

FOLDER = ROOT / "dra_plan" / "questions"
SHARED = {"ask", "answer", "document"}
"""What a question may use of another one."""
ONE_COMMAND = {("diff", "drain_each", "command")}
"""`diff --drain each` is an option of `diff` and a question of its own."""


def imported(path: Path) -> set[tuple[str, str]]:
    """Question and module, of all that a module imports from questions, whenever it does."""
    found = set()
    for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("dra_plan.questions."):
            question, _, module = (each.module or "").removeprefix("dra_plan.questions.").partition(".")
            found |= {(question, module or name.name) for name in each.names}
    return found


def test_questions_use_of_each_other_what_they_may() -> None:
    seen = 0
    for path in FOLDER.glob("*/*.py"):
        own = path.parent.name
        others = {(own, *each) for each in imported(path) if each[0] != own and (FOLDER / each[0]).is_dir()}
        seen += len(others)
        assert {each for each in others if each[2] not in SHARED} <= ONE_COMMAND, path
    assert seen > 5


def test_every_folder_is_registered() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert {question.name for question in QUESTIONS} == folders
    methods = {name for name in vars(Questions) if name[0] != "_"}
    assert methods == {path.parent.name for path in FOLDER.glob("*/ask.py")}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_record_leads_to_what_it_names(question: QuestionRecord) -> None:
    assert question.document_type().__struct_config__.frozen
    assert of_kind(question.kind) is question
    assert callable(question.function()) == bool(question.command or question.name == "drain_each")
    has_page = (FOLDER / question.name / "page.py").exists()
    assert question.has_page is has_page


@pytest.mark.parametrize("name", ["allocate", "explain", "pools", "schedule", "capacity", "place"])
def test_every_answer_has_its_text_and_its_page(name: str) -> None:
    answer: PrintedAnswer = getattr(Cluster.load(ROOT / "fixtures" / "quickstart"), name)()  # type: ignore[type-arg]
    assert of_kind(answer.document.kind).name == name
    assert str(answer) == of_kind(answer.document.kind).text(answer.document)
    assert answer.html().startswith("<!doctype html>")
