"""A page as tests read it: its elements, its texts, and what its script is given."""

import json
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from dra_plan import Cluster
from dra_plan.questions.explain.answer import Explanation
from dra_plan.questions.explain.owners import Telling
from dra_plan.questions.explain.text import parse

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = sorted(path.name for path in (ROOT / "fixtures").iterdir() if path.is_dir() and path.name != "expected")
COMMANDS = ("allocate", "capacity", "diff", "explain", "place", "pools", "schedule", "validate")
PAGES = (*COMMANDS, "autoscale", "drains", "grow", "impact", "maintain", "repack", "replay")
"""All kinds of pages: the commands, and those that need options."""
VOID = {"meta", "link", "input", "br", "hr", "img"}


@dataclass
class ReadPage(HTMLParser):
    """What a browser would find in the file."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    raw: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        if tag not in VOID:
            self._open.append(f"{tag}:{found.get('type') or ''}" if tag == "script" else tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop().partition(":")[0] == tag

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside in ("style", "script:", "script:application/json", "script:application/gzip"):
            self.raw[inside] = self.raw.get(inside, "") + data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def headline(self) -> str:
        """What stands in the title."""
        return self.text.partition(" - dra-plan ")[0]

    @property
    def data(self) -> Any:
        """What the script is given, each pick with its marks."""
        made = json.loads(self.raw["script:application/json"])
        for pick in made["picks"]:
            pick["marks"] = [made["marks"][at] for at in pick["marks"]]
        return made

    @property
    def policy(self) -> str:
        found = [a["content"] for tag, a in self.elements if a.get("http-equiv") == "Content-Security-Policy"]
        assert len(found) == 1
        return str(found[0])


def read(html: str) -> ReadPage:
    page = ReadPage()
    page.feed(html)
    page.close()
    assert not page._open
    return page


def whole(answer: Explanation) -> str:
    """The text of an answer with nothing folded, as `explain -v` prints it."""
    return parse("text", Telling(verbose=True, details=True))(answer.document, None)


def tainted(name: str) -> Cluster:
    """A node that lets no pod stay that does not tolerate it."""
    taint = {"key": "maintenance", "effect": "NoExecute"}
    return Cluster.of([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"taints": [taint]}}])


def answer(command: str, cluster: Cluster) -> Any:
    if command == "diff":
        return cluster.diff(cluster.drain(cluster.inventory.nodes[0].metadata.name))
    if command == "drains":
        return cluster.drain_each()
    if command == "grow":
        nodes = [node.metadata.name for node in cluster.inventory.nodes]
        return cluster.grow(like="tpu-b-3" if "tpu-b-3" in nodes else nodes[0])  # others have pools that nodes share
    if command == "impact":
        return cluster.impact(tainted(cluster.inventory.nodes[0].metadata.name))
    if command == "repack":
        return cluster.repack(most=True)
    if command == "replay":
        return cluster.replay([{"time": 60, "delete": ["Node", cluster.inventory.nodes[-1].metadata.name]}])
    if command == "autoscale":
        return cluster.autoscale(group=[f"pool={cluster.inventory.nodes[0].metadata.name},max=3"])
    if command == "schedule":
        return cluster.schedule(explain=True)
    return getattr(cluster, command)()


@cache
def html_of(fixture: str, command: str) -> str:
    cluster = Cluster.load(ROOT / "fixtures" / fixture)
    return cluster.page(answer(command, cluster))
