"""`--report html=FILE` on the command line."""

from pathlib import Path

import pytest

from tests.cli.running import in_process as run
from tests.page.reading import COMMANDS, read

MORE = {
    "diff": ["--drain", "gpu-a"],
    "grow": ["--like", "gpu-a", "--allow-empty"],
    "impact": ["-f", "fixtures/quickstart"],
    "repack": ["--most"],
}


@pytest.mark.parametrize("command", [*COMMANDS, "grow", "impact", "maintain", "repack"])
def test_every_command_writes_its_page_beside_its_answer(command: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    more = MORE.get(command, [])
    plain = run(command, "fixtures/quickstart", *more)
    reported = run(command, "fixtures/quickstart", *more, "--report", f"html={file}")
    assert (reported.status, reported.out) == (plain.status, plain.out)
    assert read(file.read_text(encoding="utf-8")).data["document"]["apiVersion"] == "dra-plan/v1alpha1"


@pytest.mark.parametrize("command", COMMANDS)
def test_input_that_cannot_be_read_gives_a_page_that_says_so(command: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("kind: [<script>")
    file = tmp_path / "page.html"
    more = MORE.get(command, [])
    result = run(command, str(tmp_path / "bad.yaml"), *more, "--report", f"html={file}")
    if command != "validate":  # which says it as a finding
        assert result.status == 2
        assert "bad.yaml" in read(file.read_text(encoding="utf-8")).text
    assert file.exists()


def test_a_kind_without_a_page_of_its_own_begins_with_the_first_sentence_of_its_tables(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    run("diff", "fixtures/gpu-fleet", "--drain", "each", "--report", f"html={file}")
    page = read(file.read_text(encoding="utf-8"))
    assert "No pod of the input loses its node, whichever of 4 nodes is drained" in page.headline


def test_what_has_no_other_reports_says_so(tmp_path: Path) -> None:
    result = run("pools", "fixtures/quickstart", "--report", f"junit={tmp_path / 'x.xml'}")
    assert result.status == 2
    assert "no format 'junit'; there is html=FILE" in result.err
