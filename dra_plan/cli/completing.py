"""Shell completion: fixed values, and names from the manifests on the command line.

Completion prints no errors. If the input cannot be read, it offers no names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from dra_plan.api.inventory import Inventory


MOST_BYTES = 32 << 20
"""The size of manifests, in bytes, above which they are not read for completion. Reading takes about a second per 300
nodes."""


Complete = Callable[[str], list[str]]


DATA = ("json", "yaml", "jsonpath=")


def of(*values: str) -> Complete:
    """Return a function that completes a word to one of these values."""

    def complete(incomplete: str) -> list[str]:
        return beginning(incomplete, values)

    return complete


outputs = of("table", "wide", *DATA, "name")


placements = of("table", "wide", *DATA, "name", "patches")


series = of("table", "wide", *DATA, "name", "csv")


repackings = of("table", "wide", *DATA, "name", "markdown", "script")


explanations = of("text", "markdown", *DATA)


pages = of("html=report.html")


reports = of("html=report.html", "junit=report.xml", "sarif=report.sarif", "github", "gitlab=report.json")


def versions(incomplete: str) -> list[str]:
    """Return the minor versions, and the patch releases with recorded results, that begin with `incomplete`."""
    from dra_plan.releases import MINORS, RECORDED

    return beginning(incomplete, (*MINORS, *RECORDED))


def gates(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the feature gates of the release on the command line, each with the opposite of its default."""
    from dra_plan.releases import NEWEST, find_release, gate_defaults

    release = find_release(ctx.params.get("kubernetes_version") or NEWEST)
    values = (f"{name}={str(not on).lower()}" for name, on in gate_defaults(release.minor).items())
    return _last_of_list(incomplete, values)


def rules(incomplete: str) -> list[str]:
    """Return the codes of the validation rules."""
    from dra_plan.validation.registry import RULES

    return _last_of_list(incomplete, RULES)


def nodes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of the nodes in the input."""
    return _last_of_list(incomplete, (node.metadata.name for node in _inventory(ctx).nodes))


def added_nodes(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return completions for `--add-nodes`, of the form NUMBER=NODE."""
    number, equals, _ = incomplete.partition("=")
    names = (node.metadata.name for node in _inventory(ctx).nodes)
    return beginning(incomplete, (f"{number if equals else 1}={name}" for name in names))


def devices(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the devices in the input, as DRIVER/POOL/DEVICE."""
    slices = (slice_.spec for slice_ in _inventory(ctx).slices)
    names = (f"{spec.driver}/{spec.pool.name}/{device.name}" for spec in slices for device in spec.devices)
    return beginning(incomplete, dict.fromkeys(names))


def namespaces(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the namespaces of the pods, workloads and claims in the input."""
    return beginning(incomplete, dict.fromkeys(namespace for _, namespace, _ in _keys(_inventory(ctx))))


def owners(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the pods, workloads and claims in the input, if the command line already contains a path.

    Returns nothing if the word is the beginning of a file name, so that the shell completes it.
    """
    if incomplete.startswith((".", "/", "~", "-")) or (incomplete and any(Path().glob(f"{_plain(incomplete)}*"))):
        return []
    return _named(ctx, incomplete)


def objects(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the objects in the input that can be removed, as KIND/NAME."""
    found = (f"node/{node.metadata.name}" for node in _inventory(ctx).nodes)
    return [*beginning(incomplete, found), *_named(ctx, incomplete)]


def _named(ctx: typer.Context, incomplete: str) -> list[str]:
    wanted = ctx.params.get("namespace")
    keys = [key for key in _keys(_inventory(ctx)) if wanted in (None, key[1])]
    forms = [f"{kind.lower()}/{name}" for kind, _, name in keys]
    names = [name for _, _, name in keys] if incomplete else []
    return beginning(incomplete, dict.fromkeys([*forms, *names]))


def _plain(text: str) -> str:
    """Return the text as a pattern that matches only itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in text)


def _keys(inventory: Inventory) -> Iterator[tuple[str, str, str]]:
    for found in (*inventory.pods, *inventory.workloads, *inventory.claims):
        yield found.kind, found.metadata.namespace, found.metadata.name


def _inventory(ctx: typer.Context) -> Inventory:
    """Return the content of the paths on the command line; an empty inventory if any is unreadable or large."""
    from dra_plan.api.inventory import Inventory
    from dra_plan.errors import DraPlanError
    from dra_plan.manifests.load import load
    from dra_plan.manifests.sources import is_there

    # typer leaves arguments in `args` while the option to complete lacks its value.
    given = [*(ctx.params.get("paths") or ()), *(ctx.params.get("filenames") or ()), *ctx.args]
    paths = [path for path in given if is_there(path)]
    try:
        if not paths or sum(map(_size, paths)) > MOST_BYTES:
            return Inventory()
        return load(paths, recursive=bool(ctx.params.get("recursive")))
    except (DraPlanError, OSError):
        return Inventory()


def _size(path: str) -> int:
    top = Path(path)
    files = [file for file in top.rglob("*") if file.is_file()] if top.is_dir() else [top]
    return sum(file.stat().st_size for file in files)


def _last_of_list(incomplete: str, values: Iterable[str]) -> list[str]:
    """Complete the last of several comma-separated values."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{value}" for value in beginning(last, values)]


def beginning(incomplete: str, values: Iterable[str]) -> list[str]:
    """Return the values that begin with `incomplete`."""
    return [value for value in values if value.startswith(incomplete)]
