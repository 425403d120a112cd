"""Results as blocks for the templates: lines, tables, bars and funnels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from dra_plan.allocator import Outcome
from dra_plan.documents.claim_sets import ExplainedClaimSet
from dra_plan.documents.stories import NodeStory, StoryRequest
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.text import obstacles, suggestions, words
from dra_plan.text.columns import Paragraph, Part, Table, plain
from dra_plan.text.devices import alike, devices_spread, failing, finding_lines, left_spread, removed, removed_spread
from dra_plan.text.stories import (
    blocking_lines,
    cause_lines,
    has_suggestions,
    heading,
    headline,
    in_vain,
    is_long,
    story_lines,
    who,
)
from dra_plan.text.stories import lines as exclusion_lines


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a bar: a tone (one of those in `picks`), a number and a label."""

    count: int
    tone: str
    said: str


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar with a name. Segments whose number is 0 are left out."""

    name: str
    segments: Sequence[Segment]

    @property
    def total(self) -> int:
        """The sum of the segments' numbers."""
        return sum(each.count for each in self.segments)

    @property
    def said(self) -> str:
        """The labels of the segments, as one text."""
        return ", ".join(each.said for each in self.segments if each.count) or "nothing"


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars on the same scale, with a title."""

    title: str
    rows: Sequence[BarRow]

    @property
    def longest(self) -> int:
        """The total of the longest bar, but at least 1."""
        return max((row.total for row in self.rows), default=0) or 1

    def pieces(self, row: BarRow) -> list[tuple[str, float, float]]:
        """Return the tone, start and length of each segment, on a scale from 0 to 100."""
        made, start = [], 0.0
        for each in row.segments:
            width = 100 * each.count / self.longest
            made.append((each.tone, round(start, 2), round(width, 2)))
            start += width
        return [piece for piece in made if piece[2]]


MOST_ROWS = 300
"""The maximum number of rows in an HTML table. Longer tables are plain text, which browsers show much faster."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text, with its indentation."""

    text: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """A step in a funnel: how many devices it removes or leaves, and why."""

    count: int
    text: str
    kind: str
    code: str = ""
    before: int = 0
    """The number of devices before the step, out of `whole`."""
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FunnelBlock:
    """A request that cannot be met: what it needs, and how many devices remain after each check."""

    sentence: str
    others: str
    whole: int
    steps: list[Step]


@dataclass(frozen=True, slots=True)
class Story:
    """The result for a claim set on nodes that give the same result for the same reasons."""

    title: str
    tone: str
    nodes: list[str]
    message: str
    causes: list[TextLine]
    funnels: list[FunnelBlock]
    rest: list[TextLine]
    codes: list[str]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table. If there are very many rows, they are a single text."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: str = ""


Block = TextTable | TextLine


@dataclass(frozen=True, slots=True)
class BoxLines:
    """The title and the lines of text in a box of the picture."""

    title: str
    lines: tuple[str, ...]


@dataclass
class Article:
    """What the page shows about one entry."""

    key: str
    name: str
    tone: str
    word: str
    sentence: str
    summary: list[TextLine] = field(default_factory=list)
    stories: list[Story] = field(default_factory=list)
    bars: Bars | None = None
    rest: list[TextLine] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    always: bool = False
    """Whether the article is shown whichever entry is selected."""
    boxes: list[BoxLines] = field(default_factory=list)
    """The texts about devices that the picture shows with this article."""
    in_vain: str = ""
    suggestions: list[tuple[str, TriedChanges]] = field(default_factory=list)

    @property
    def is_brief(self) -> bool:
        """Whether the article has only a few lines."""
        return not (self.stories or self.bars or self.rest or self.blocks or self.suggestions or self.in_vain)


MOST_SUMMARY_LINES = 8
"""The maximum number of summary lines that are shown unfolded."""


MOST_BARS = 20
"""The maximum number of bars that are shown unfolded."""


MOST_NODE_NAMES = 300
"""The maximum number of nodes named in a story. The document contains all names."""


def named_nodes(names: list[str]) -> str:
    """Return the names of the nodes as one text. If there are many, only the first are named."""
    return words.listed(names, MOST_NODE_NAMES)


def in_short(of: Article) -> str:
    """Return a brief article as text. The first line contains the article's name."""
    told = [f"{of.name}: {of.word}", of.sentence, *(line.text for line in of.summary)]
    return "\n".join(" ".join(line.split()) for line in told if line.strip())


def lines(of: Iterable[str]) -> list[TextLine]:
    """Return the lines with their indentation level, without empty lines."""
    return [TextLine(line.strip(), (len(line) - len(line.lstrip())) // 2) for line in of if line.strip()]


def blocks(parts: Iterable[Part]) -> list[Block]:
    """Return the parts of an answer as blocks, with the same content as in a text file."""
    return [block for part in parts for block in _blocks(part)]


def without(parts: Iterable[Part], *headers: str) -> list[Part]:
    """Return the parts without the table columns named `headers`, which would repeat the heading of an article."""
    return [_without(part, headers) if isinstance(part, Table) else part for part in parts]


def _without(table: Table, headers: tuple[str, ...]) -> Table:
    kept = [at for at, header in enumerate(table.headers) if header not in headers]
    return Table([table.headers[at] for at in kept], rows=[[row[at] for at in kept] for row in table.rows])


def is_short(part: Part) -> bool:
    """Return whether the part is short enough to be shown in full."""
    return not isinstance(part, Table) or len(part.rows) <= MOST_ROWS


def _blocks(part: Part) -> Iterator[Block]:
    if isinstance(part, Table):
        if not part.rows:
            return
        long = not is_short(part)
        headers = [header.capitalize() for header in part.headers]
        yield TextTable(headers, () if long else part.rows, plain([part]) if long else "")
    else:
        yield from lines(part.lines if isinstance(part, Paragraph) else [part])


WORDS = {
    Outcome.FITS: "fits",
    Outcome.DOES_NOT_FIT: "does not fit",
    Outcome.NODE_ERROR: "error",
    Outcome.ERROR: "error",
    Outcome.UNDECIDED: "undecided",
    Outcome.REFUSED: "refused",
    Outcome.UNKNOWN: "not known",
}
"""The text for each outcome."""


_TONES = {Outcome.FITS: "good", Outcome.UNDECIDED: "other"}


def explained(of: ExplainedClaimSet, key: str, name: str) -> Article:
    """Return the article about a claim set, with its suggestions and its results on nodes."""
    sentence = headline(of)
    made = Article(
        key=key,
        name=name,
        tone=_TONES.get(of.outcome, "bad"),
        word=WORDS[of.outcome],
        sentence=words.capital(sentence.removeprefix(f"{name}: ")),
        stories=[story(each) for each in of.stories],
    )
    if of.fault is not None:
        made.summary += lines(obstacles.fault(of.fault))
    made.summary += [TextLine(words.absent(found)) for found in of.absent]
    if is_long(of.leading, of.stories):
        made.summary.append(TextLine(words.summary(of.leading)))
    if of.excluded:
        made.rest += lines(exclusion_lines(of))
    if has_suggestions(of):
        made.suggestions = [(suggestions.suggestion(each, who(of)), each) for each in of.suggestions]
        made.in_vain = "" if of.suggestions else in_vain(of)
    return made


def story(of: NodeStory) -> Story:
    """Return the result for a claim set on similar nodes, the cause first."""
    fits = of.outcome is Outcome.FITS
    title = heading(of).removesuffix(":")
    made = Story(
        title=title,
        tone=_TONES.get(of.outcome, "bad"),
        nodes=of.nodes,
        message="" if of.fault is not None else of.message,  # a fault contains this
        causes=lines(story_lines(of) if fits else cause_lines(of)),
        funnels=[],
        rest=[],
        codes=sorted(_codes(of)),
    )
    if not fits and of.outcome is not Outcome.ERROR and of.devices != 0:
        made.funnels.extend(_funnel(one, others) for one, others in alike(failing(of)))
        made.rest.extend(lines(blocking_lines(of)))
        made.rest.extend(lines(obstacles.slot_lines(of.counter_sets)))
    return made


def _funnel(of: StoryRequest, others: list[StoryRequest]) -> FunnelBlock:
    steps = [Step(of.devices, f"{'device' if of.devices == 1 else 'devices'} on the node{devices_spread(of)}", "all")]
    left = of.devices
    for each in of.removed:
        told = tuple(finding_lines(each))
        said = f"{removed(each)}{removed_spread(each)}"
        steps.append(Step(each.count, said, "gone", each.code, left, told))
        left -= each.count
    names = [str(device) for device in of.left_devices]
    more = [f"{of.left - len(names)} more"] if of.left > len(names) else []
    which = f": {words.listed([*names, *more], len(names) + 1)}" if names else ""
    steps.append(Step(of.left, f"left{which}{left_spread(of)}", "left", before=of.left))
    same = f"The same holds for {words.requests(others)}." if others else ""
    return FunnelBlock(f"{words.capital(words.problem(of))}.", same, of.devices, steps)


def _codes(of: NodeStory) -> set[str]:
    found = {each.code for request in of.requests for each in request.removed}
    found |= {pool.code for pool in of.pools} | {each.code for choice in of.choices for each in choice.passed_over}
    return found | ({of.fault.code} if of.fault is not None else set())
