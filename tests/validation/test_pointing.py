"""The characters that a finding points to, in every form of a manifest."""

from pathlib import Path

import pytest

from .judging import judged

HEAD = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: d}\nspec:\n  devices:\n"
SELECTING = "    requests:\n    - name: a\n      exactly:\n        deviceClassName: x\n        selectors:\n"
CASES = {
    "a value": ("    requests:\n    - name: A B # behind\n      exactly: {deviceClassName: x}\n", "7:13", "A B"),
    "a quoted value": ('    requests: [{name: "A B", exactly: {deviceClassName: x}}]\n', "6:23", '"A B"'),
    "a tab before": ("    requests:\n    - name:\tA\tB\n      exactly: {deviceClassName: x}\n", "7:13", "A\tB"),
    "a key": ("    requests:\n    - name: a\n      exactly: {deviceClassName: x, cuont: 1}\n", "8:37", "cuont"),
    "an item": ("    requests:\n    - name: a # behind\n", "7:7", "name: a"),
    "an item in brackets": ("    requests: [{name: a}]\n", "6:16", "{name: a}"),
    "what is missing": ("    requests:\n    - name: a\n      exactly:\n        count: 1\n", "8:7", "exactly"),
    "a place inside": (
        SELECTING + "        - cel:\n            expression: |\n\n              true &&\n              1 >= true\n",
        "15:17",
        ">=",
    ),
    "a place inside of quotes": (
        SELECTING + "        - cel: {expression: 'device.driver == ''x'' && no.no'}\n",
        "11:56",
        "no",
    ),
}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("name", CASES)
def test_the_place(name: str, ends: str, tmp_path: Path) -> None:
    body, place, marked = CASES[name]
    path = tmp_path / "input.yaml"
    text = (HEAD + body).replace("\n", ends)
    path.write_bytes(text.encode())
    from dra_plan import validate

    finding = next(one for one in validate(path, select="DRA").findings if one.rule.severity == 3)
    assert finding.excerpt is not None
    line = text.split(ends)[finding.line - 1]
    assert finding.excerpt.text == line
    assert finding.end_line == finding.line
    assert (f"{finding.line}:{finding.column}", line[finding.column - 1 : finding.end_column - 1]) == (place, marked)


def test_a_long_line(tmp_path: Path) -> None:
    claim = (
        '{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c%s"}, "spec": {"a": 1}}'
    )
    text = f"[{','.join(claim % number for number in range(300))}]"
    findings = judged(tmp_path, text, select="DRA002").findings
    assert len(findings) == 300
    for finding in findings:
        assert finding.excerpt is not None
        assert len(finding.excerpt.text) == 240
        begin = finding.column - finding.excerpt.column
        assert finding.excerpt.text[begin : begin + 3] == '"a"'
        assert text[finding.column - 1 : finding.end_column - 1] == '"a"'


def test_a_comment_behind_the_key_spares_what_stands_below(tmp_path: Path) -> None:
    body = CASES["a place inside"][0]
    assert "DRA121" in {one.code for one in judged(tmp_path, HEAD + body).findings}
    spared = (HEAD + body).replace("expression: |", "expression: | # dra-plan: ignore=DRA121")
    assert "DRA121" not in {one.code for one in judged(tmp_path, spared).findings}


def test_plain_objects_have_no_place() -> None:
    from dra_plan import validate

    [finding] = validate({"apiVersion": "v1", "kind": "ResourceClaim"}).findings
    assert (finding.line, finding.column, finding.excerpt) == (0, 0, None)
