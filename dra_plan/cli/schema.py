"""`dra-plan schema`: the JSON Schemas of what dra-plan prints."""

from __future__ import annotations

from typing import Annotated

import typer

from dra_plan.cli.exits import Exit


def schema(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="The document's kind; without it, the kinds are listed.")
    ] = None,
) -> Exit:
    """Print the JSON Schema of a document, or list them."""
    from dra_plan.errors import UsageError
    from dra_plan.output import schemas

    if kind is None:
        print("\n".join(schemas.kinds()))
        return Exit.OK
    known = {name.lower(): name for name in schemas.kinds()}
    if kind.lower() not in known:
        raise UsageError(f"no document of kind {kind!r}; there are: {', '.join(known.values())}")
    print(schemas.text(known[kind.lower()]), end="")
    return Exit.OK
