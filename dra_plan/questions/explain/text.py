"""`explain -o text`: short lines, with causes before numbers."""

from __future__ import annotations

from dra_plan.questions.explain.blocks import owner_blocks
from dra_plan.questions.explain.document import ExplanationDocument
from dra_plan.questions.explain.lines import group_lines, nothing, room_lines
from dra_plan.questions.explain.owners import BRIEF, MOST_BLOCKS, WHOLE, Telling, explained, one_line, owner_lines
from dra_plan.text import columns, refusals
from dra_plan.text.columns import Screen
from dra_plan.text.devices import device_lines
from dra_plan.text.formats import DATA, Format, choose, whole
from dra_plan.text.naming import target


def parse(option: str, telling: Telling = BRIEF) -> Format[ExplanationDocument]:
    """Return the format for `-o OPTION`. `telling` is the level of detail of the text.

    Raises UsageError for an unknown format or a malformed template.
    """

    def as_text(document: ExplanationDocument, screen: Screen | None) -> str:
        return render(document, screen, telling=telling)

    def as_markdown(document: ExplanationDocument, _screen: Screen | None) -> str:
        from dra_plan.questions.explain import markdown

        return markdown.markdown(document, telling=telling)

    return choose(option, {"text": whole(as_text), "markdown": whole(as_markdown), **DATA})


def render(document: ExplanationDocument, screen: Screen | None, *, telling: Telling = BRIEF) -> str:
    """Return the whole explanation as text, which is wrapped and has bold headings on a terminal.

    `telling` is the level of detail.
    """
    owners = owner_blocks(document)
    if len(owners) > MOST_BLOCKS and not telling.details:
        blocks = [[one_line(block) for block in owners]]
        blocks[0].append(f"`explain NAME` shows the details of one pod or workload; {WHOLE} all details.")
    else:
        blocks = [list(owner_lines(block, folded=not telling.verbose)) for block in owners]
    blocks += [list(group_lines(group)) for group in document.pod_groups or ()]
    blocks += [list(room_lines(room)) for room in document.moves or ()]
    blocks += [list(device_lines(story)) for story in document.devices]
    if document.autoscaler:
        from dra_plan.questions.explain.autoscaler import autoscaler_lines

        blocks += [[line] for line in autoscaler_lines(document)]
    blocks = [*([*part.lines] for part in refusals.paragraphs(document.refusals)), *blocks]
    if not blocks:
        blocks = [[nothing(document.not_pending or 0)]]
    return columns.render([*blocks, [*explained(document), target(document)]], screen)
