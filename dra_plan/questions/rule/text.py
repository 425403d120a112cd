"""The formats of `rule`: a list of rules, or explanations with examples."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan import shown
from dra_plan.questions.rule.document import RuleGuide, RulesDocument
from dra_plan.text.columns import Screen, Table
from dra_plan.text.findings import block, wrapped
from dra_plan.text.formats import DATA, Format, choose, columns, whole

REFUSERS = {"APIServer": "the API server", "Scheduler": "the scheduler", None: "-"}
"""How the text names each component that rejects objects."""


_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def parse(option: str) -> Format[RulesDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, {"text": whole(_text), **DATA, "name": whole(_names)})


def _names(document: RulesDocument, _screen: Screen | None) -> str:
    return "".join(f"{rule.code}\n" for rule in document.rules)


def _text(document: RulesDocument, screen: Screen | None) -> str:
    if any(rule.example is None for rule in document.rules):
        return _list(document, screen)
    return "\n".join("".join(f"{line}\n" for line in _guide(rule, screen)) for rule in document.rules)


def _list(document: RulesDocument, screen: Screen | None) -> str:
    made = Table(("CODE", "SEVERITY", "REJECTED BY", "WHAT"), flexible=(3,))
    for rule in document.rules:
        made.add(rule.code, rule.severity, REFUSERS[rule.refused_by], rule.title)
    return columns([made, "dra-plan rule CODE shows the details, with a bad and a good example."], screen)


def _guide(rule: RuleGuide, screen: Screen | None) -> Iterator[str]:
    yield _heading(f"{rule.code}: {rule.title}", screen)
    yield ""
    yield f"{rule.severity}, rejected by {REFUSERS[rule.refused_by]}" if rule.refused_by else str(rule.severity)
    yield from wrapped(f"why: {rule.why}", screen, "     ")
    yield from wrapped(f"help: {rule.fix}", screen, "      ")
    if rule.example is None:
        return
    yield from _manifest("Bad", rule.example.bad, screen)
    for finding in rule.example.findings:
        yield ""
        yield from (f"  {line}".rstrip() for line in block(finding, rule.fix, _narrower(screen)))
    yield from _manifest("Good", rule.example.good, screen)
    if rule.example.old:
        yield from _manifest("Both --against", rule.example.old, screen)
    if rule.example.around:
        yield from _manifest("Both with", rule.example.around, screen)
    if rule.example.feature_gates:
        gates = ",".join(f"{name}={str(on).lower()}" for name, on in rule.example.feature_gates.items())
        yield ""
        yield f"--feature-gates {gates}"


def _narrower(screen: Screen | None) -> Screen | None:
    """Return a screen that is narrower by the indentation."""
    return Screen(width=max(screen.width - 2, 1), colour=screen.colour) if screen else None


def _manifest(heading: str, text: str, screen: Screen | None) -> Iterator[str]:
    yield ""
    yield _heading(f"{heading}:", screen)
    yield ""
    yield from (f"  {shown.line(line)}" for line in text.rstrip("\n").split("\n"))


def _heading(text: str, screen: Screen | None) -> str:
    return f"{_BOLD}{text}{_PLAIN}" if screen and screen.colour else text
