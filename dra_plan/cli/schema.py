"""`dra-plan schema`: the JSON Schemas of what dra-plan prints and reads."""

from __future__ import annotations

from typing import Annotated

import typer

from . import completing
from .exits import Exit


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completing.documents,
            metavar="KIND",
            help="The document's kind, or APIVERSION/KIND; without it, all are listed.",
        ),
    ] = None,
) -> Exit:
    """Print the JSON Schema of a document, or list them.

    First the documents that dra-plan prints, then those that it reads. A kind alone stands for its newest version.
    """
    from dra_plan.errors import UsageError
    from dra_plan.output import schemas, structured
    from dra_plan.output.schemas import accepted

    names = [*schemas.kinds(), *accepted.kinds()]
    if kind is None:
        print("\n".join(names))
        return Exit.OK
    wanted = kind.lower()
    found = next((name for name in names if wanted in (name.lower(), name.lower().rpartition("/")[2])), None)
    if found is None:
        raise UsageError(f"no document of kind {kind!r}{_hint(wanted, names)}")
    print(structured.json((schemas if found in schemas.kinds() else accepted).load(found)), end="")
    return Exit.OK


def _hint(wanted: str, names: list[str]) -> str:
    from dra_plan.near import nearest

    forms = {form.lower(): name for name in names for form in (name, name.rpartition("/")[2])}
    near = nearest(wanted, forms)
    return f" (did you mean {forms[near]}?)" if near else "; dra-plan schema lists them"
