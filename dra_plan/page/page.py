"""The file: templates, styles, script and data joined, under a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
import msgspec

from dra_plan import shown
from dra_plan.documents.suggestions import ObjectPatch
from dra_plan.page.content import Page
from dra_plan.page.scene import NOT_SUITABLE, WORDS, Texts

LONGEST_TEXT = 400_000
"""Characters of the document as JSON that stand in the page as text; a longer one is shown when it is opened."""


def render(page: Page) -> str:
    """The page as one file of HTML."""
    texts = Texts()
    document = page.document
    written = None if document is None else msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    follows = written is not None and len(written) > LONGEST_TEXT
    data: dict[str, Any] = {
        "document": document,
        "document_follows": follows,
        "gets": page.gets_word,
        "harm": page.harm_word,
        "moments_in": page.moments_in,
        "opens_on": page.opens_on,
        "moments": [moment.plain(texts) for moment in page.moments],
        "picks": [pick.plain(texts) for pick in page.picks],
        "scenes": [scene.plain() for scene in page.scenes],
        "words": {**WORDS, "no": NOT_SUITABLE},
    }
    data["texts"] = texts.all
    text = "" if follows else written
    return _template("page.html").render(
        page=_WithJson(page, None if text is None else shown.in_json(text)),
        words=WORDS,
        not_suitable=NOT_SUITABLE,
        data=embedded(data),
        script=_asset("page.js"),
        style=_asset("page.css"),
        policy=policy(),
    )


def render_error(command: str, lines: Sequence[str]) -> str:
    """A page that says why there is no answer."""
    return _template("error.html").render(command=command, lines=lines, style=_asset("page.css"), policy=policy())


def embedded(data: Mapping[str, Any]) -> str:
    """JSON with sorted keys that may stand in a script element: nothing in it ends one, or begins a comment."""
    text = shown.in_json(msgspec.json.encode(data, order="sorted").decode())
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def policy() -> str:
    """The Content-Security-Policy: our script and our styles, by their hashes, and nothing from anywhere."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash('page.js')}",
            f"style-src {_hash('page.css')}",
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
    environment.globals["patch_text"] = _patch
    return environment


def _safe(value: Any) -> Any:
    """What does not print is shown escaped: text that turns its neighbours round, or hides."""
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


def _hash(name: str) -> str:
    digest = hashlib.sha256(_asset(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
