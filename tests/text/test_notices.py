"""Warnings as lines."""

from dra_plan.api.inventory import Notice
from dra_plan.text.notices import lines


def test_one_line_names_what_it_is_about() -> None:
    assert lines([Notice("a-code", "it is so", "Pod default/p", "a.yaml:3"), Notice("b", "and so")]) == [
        "warning: it is so [a-code]: Pod default/p at a.yaml:3",
        "warning: and so [b]",
    ]


def test_what_holds_for_many_is_said_once() -> None:
    many = [Notice("c", "same", f"Pod default/p{index}") for index in range(200)]
    assert lines(many) == ["warning: same [c]: Pod default/p0, Pod default/p1, Pod default/p2 and 197 more"]
    assert lines([Notice("c", "same"), Notice("c", "same")]) == ["warning: same [c]"]


def test_control_characters_are_escaped() -> None:
    assert lines([Notice("c", "bad \x1b[31mname")]) == ["warning: bad \\x1b[31mname [c]"]


def test_no_name_begins_a_line() -> None:
    """A log that GitHub reads has commands at the beginning of lines."""
    assert lines([Notice("c", "bad", "Pod default/p\n::stop-commands::x")]) == [
        "warning: bad [c]: Pod default/p\\n:\\u003astop-commands:\\u003ax"
    ]
