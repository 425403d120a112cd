"""The formats of `explain`: text and markdown for people, the document for programs."""

from __future__ import annotations

from dra_plan.errors import UsageError

from . import explain_text
from .formats import Format


def parse(option: str) -> Format:
    """The format that `-o OPTION` asks for. UsageError for an unknown one or a malformed template."""
    from . import explain_markdown, structured

    if option.startswith("jsonpath="):
        from .jsonpath import Template

        template = Template(option.removeprefix("jsonpath="))
        return lambda document, _screen: template.render(document)
    known: dict[str, Format] = {
        "text": explain_text.render,
        "markdown": explain_markdown.render,
        "json": lambda document, _screen: structured.json(document),
        "yaml": lambda document, _screen: structured.yaml(document),
    }
    if option not in known:
        raise UsageError(f"--output: no format {option!r}; there are {', '.join(known)}, jsonpath=TEMPLATE")
    return known[option]
