"""`dra-plan schema`: the JSON Schemas of the documents that dra-plan prints and reads.

The schemas of printed documents are generated on request.
"""

from __future__ import annotations

from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer

from dra_plan.cli import completing
from dra_plan.cli.running import Exit
from dra_plan.questions.registry import QUESTIONS, of_kind

Schema = dict[str, Any]


def _documents(incomplete: str) -> list[str]:
    """Return the kinds of documents that have a schema."""
    from dra_plan.text import accepted

    return completing.beginning(incomplete, (*kinds(), *accepted.kinds()))


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(
            autocompletion=_documents,
            metavar="KIND",
            help="The kind of the document, or APIVERSION/KIND. If KIND is omitted, all kinds are listed.",
        ),
    ] = None,
) -> Exit:
    """Print the JSON Schema for a document, or list the schemas.

    Examples:
      dra-plan schema
      dra-plan schema AllocationPlan > allocation-plan.schema.json

    If KIND is omitted, lists the kinds of documents that dra-plan prints or reads. If KIND has no version, prints the
    schema of the latest version.

    """
    from dra_plan.errors import UsageError
    from dra_plan.text import accepted, structured

    names = [*kinds(), *accepted.kinds()]
    if kind is None:
        print("\n".join(names))
        return Exit.OK
    wanted = kind.lower()
    found = next((name for name in names if wanted in (name.lower(), name.lower().rpartition("/")[2])), None)
    if found is None:
        raise UsageError(f"no document of kind {kind!r}{_hint(wanted, names)}")
    print(structured.json(load(found) if found in kinds() else accepted.load(found)), end="")
    return Exit.OK


def _hint(wanted: str, names: list[str]) -> str:
    from dra_plan.near import nearest

    forms = {form.lower(): name for name in names for form in (name, name.rpartition("/")[2])}
    near = nearest(wanted, forms)
    return f" (did you mean {forms[near]}?)" if near else "; dra-plan schema lists them"


def kinds() -> list[str]:
    """Return the kinds of printed documents, sorted."""
    return sorted(question.kind for question in QUESTIONS)


def document_type(kind: str) -> type[Any]:
    """Return the struct for a kind in `kinds()`."""
    return of_kind(kind).document_type()


def load(kind: str) -> Schema:
    """Return the JSON Schema for a kind in `kinds()`."""
    import msgspec

    from dra_plan.text.accepted import DRAFT

    made = document_type(kind)
    _, parts = msgspec.json.schema_components([made, *getattr(import_module(made.__module__), "PARTS", ())])
    definitions: Schema = {name: _part(part) for name, part in parts.items()}
    whole = definitions.pop(made.__name__)
    return {
        "$schema": DRAFT,
        "$id": f"urn:dra-plan:v1alpha1:{kind}",
        "title": kind,
        **whole,
        "required": ["apiVersion", "kind", *whole["required"]],
        "$defs": definitions,
    }


def _part(part: Schema) -> Schema:
    """Return the schema of a struct without details that readers do not need: a None default means an absent field."""
    kept = {key: value for key, value in part.items() if key != "title"}
    if "description" in kept:
        kept["description"] = cleandoc(kept["description"])
    if "properties" not in part:
        return kept
    properties = {name: _property(read) for name, read in part["properties"].items()}
    return {**kept, "properties": properties, "additionalProperties": False}


def _property(read: Schema) -> Schema:
    about = {key: value for key, value in read.items() if key not in ("anyOf", "default")}
    if len(read.get("enum", ())) == 1:
        [about["const"]] = about.pop("enum")
    choices = read.get("anyOf", [])
    if read.get("default", "") is None:
        choices = [choice for choice in choices if choice != {"type": "null"}]
    return {**about, **choices[0]} if len(choices) == 1 else {**about, **({"anyOf": choices} if choices else {})}
