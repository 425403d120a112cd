"""The HTML file of a page, with a Content-Security-Policy that allows nothing but its own script and styles."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any
from urllib.parse import quote

import jinja2
import msgspec

from dra_plan import __version__, shown
from dra_plan.documents.suggestions import ObjectPatch
from dra_plan.page import fleet
from dra_plan.page.content import MOST_ARTICLES, Page
from dra_plan.page.picks import BAD, GOOD, OTHER, PLAIN, MarkLists, Pick
from dra_plan.page.scene import NOT_SUITABLE, WORDS, Texts
from dra_plan.page.told import MOST_BARS, MOST_SUMMARY_LINES, in_short, named_nodes

LONGEST_TEXT = 400_000
"""The maximum length of the document's JSON as text in the page. Longer JSON is rendered when it is opened."""


LONGEST_DATA = 300_000
"""The maximum length of uncompressed data in the page."""


PACKED = "application/gzip"
"""The media type of compressed data: gzip, encoded as base64."""


SCRIPTS = ("model.js", "draw.js", "tiles.js", "left.js", "fleet.js", "page.js")
"""The modules of the script. Each module comes after the modules that it imports."""


_BETWEEN_MODULES = re.compile(r"^(?:import [^;]*;\n|export )", re.MULTILINE)


def render(page: Page) -> str:
    """Return the page as a single HTML file."""
    document = page.document
    written = None if document is None else msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    follows = written is not None and len(written) > LONGEST_TEXT
    briefs = (
        [article.key for article in page.articles if article.is_brief] if len(page.articles) > MOST_ARTICLES else []
    )
    data = _data(page) | {"briefs": briefs, "document_follows": follows}
    if not follows:
        data["document"] = document
    text = embedded(data)
    is_long = len(text) > LONGEST_DATA
    return _template("page.html").render(
        page=_WithJson(page, None if written is None else "" if follows else shown.in_json(written)),
        briefs=set(briefs),
        words=WORDS,
        not_suitable=NOT_SUITABLE,
        data=packed(text) if is_long else text,
        data_type=PACKED if is_long else "application/json",
        document=packed(shown.in_json(written)) if written is not None and follows else "",
        packed_type=PACKED,
        script=script(),
        style=_asset("page.css"),
        policy=policy(),
        version=__version__,
    )


def _data(page: Page) -> dict[str, Any]:
    """Return the data that the script needs in addition to the document."""
    texts, marks = Texts(), MarkLists()
    differing = fleet.differing(page.scenes)
    addresses = _addresses(page.picks)
    data: dict[str, Any] = {
        "gets": page.gets_word,
        "harm": page.harm_word,
        "moments_in": page.moments_in,
        "opens_on": _opens_on(page),
        "order": _order(page),
        "before": page.before,
        "steps": page.steps,
        "at": page.curves.steps if page.curves is not None else [],
        "moments": [moment.plain(texts) for moment in page.moments],
        "picks": [pick.plain(texts, marks, address) for pick, address in zip(page.picks, addresses, strict=True)],
        "scenes": [fleet.plain(scene, texts, differing) for scene in page.scenes],
        "words": {**WORDS, "no": NOT_SUITABLE, "fits": "fits"},
    }
    return data | {"marks": marks.all, "texts": texts.all}


def _addresses(all_picks: Sequence[Pick]) -> list[str]:
    """Return the address of each pick: its name, or its key if an earlier pick has the same name."""
    found: dict[str, str] = {}
    for pick in all_picks:
        found.setdefault("#" + quote(shown.printable(pick.name), safe="/!*'()"), pick.key)
    by_key = {key: address for address, key in found.items()}
    return [by_key.get(pick.key, f"#{pick.key}") for pick in all_picks]


def _opens_on(page: Page) -> int:
    """Return the pick with which the page opens; -1 if there is none."""
    if page.opens_on is not None:
        return page.opens_on
    failing = next((at for at, pick in enumerate(page.picks) if pick.tone == BAD), -1)
    return 0 if failing < 0 and page.picks and not page.slider else failing


def _order(page: Page) -> list[int]:
    """Return the order in which picks are listed: first the open pick, unless it is a step, then failing picks."""
    tones = (BAD, OTHER, GOOD, PLAIN)
    first = None if page.slider else page.opens_on
    return sorted(range(len(page.picks)), key=lambda at: (at != first, tones.index(page.picks[at].tone)))


def packed(text: str) -> str:
    """Return the text compressed with gzip and encoded as base64. The result is deterministic."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def script() -> str:
    """Return the page's script, in which all modules share one scope."""
    modules = (_BETWEEN_MODULES.sub("", _asset(name)) for name in SCRIPTS)
    return "\n".join(['"use strict";', "(() => {", *modules, "})();", ""])


def render_error(command: str, lines: Sequence[str]) -> str:
    """Return a page that shows why there is no result."""
    return _template("error.html").render(command=command, lines=lines, style=_asset("page.css"), policy=policy())


def embedded(data: Mapping[str, Any]) -> str:
    """Return the data as JSON that is safe inside a script element, with sorted keys."""
    text = shown.in_json(msgspec.json.encode(data, order="sorted").decode())
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def policy() -> str:
    """Return the Content-Security-Policy, which allows only the page's own script and styles, by hash."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(script())}",
            f"style-src {_hash(_asset('page.css'))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


class _WithJson:
    """A page, and its document as text."""

    def __init__(self, page: Page, json: str | None) -> None:
        self._page = page
        self.json = json

    def __getattr__(self, name: str) -> Any:
        return getattr(self._page, name)


def _template(name: str) -> jinja2.Template:
    return _environment().get_template(name)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda wanted: _read("templates", wanted)),
        autoescape=True,
        finalize=_safe,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(patch_text=_patch, in_short=in_short, fleet_lines=fleet.lines, named_nodes=named_nodes)
    environment.globals.update(most_lines=MOST_SUMMARY_LINES, most_bars=MOST_BARS)
    return environment


def _safe(value: Any) -> Any:
    """Return the value with unprintable characters escaped, such as those that reverse or hide text."""
    return shown.printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _patch(of: ObjectPatch) -> str:
    about = f"{of.object.kind} {of.object.namespace}/{of.object.name}" + (
        " (delete and create it)" if of.recreate else ""
    )
    patch = msgspec.json.format(msgspec.json.encode(of.patch), indent=2).decode()
    return f"{shown.line(about)}\n{shown.in_json(patch)}"


def _read(folder: str, name: str) -> str:
    return resources.files(__package__).joinpath(folder, name).read_text(encoding="utf-8")


def _asset(name: str) -> str:
    return _read("assets", name)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
