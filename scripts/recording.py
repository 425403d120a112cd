"""The terminal recording of the documentation: a command is typed, and its answer appears line by line, as one SVG.

    python -m scripts.recording docs/images/explain.svg

Nothing is loaded from anywhere; who asks for less motion sees the end at once.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

from dra_plan import Cluster, shown
from dra_plan.questions.explain.text import render
from dra_plan.text.columns import Screen

FIXTURE, OWNER = "fixtures/pending", "pod/train"
COLUMNS, WIDTH, HEIGHT = 100, 8.4, 19
TYPING, LINE = 0.05, 0.12
"""Seconds for a character that is typed, and between two lines of the answer."""

STYLE = """
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre; }
.bold { font-weight: bold; } .prompt { fill: #6fdcae; } .minus { fill: #ff9c93; }
.later { animation: show 1ms both; }
@keyframes show { from { opacity: 0; } to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { .later { animation: none; } }
"""


def recording() -> str:
    """The recording as SVG."""
    command = f"dra-plan explain {FIXTURE} {OWNER}"
    answer = (
        render(Cluster.load(FIXTURE).explain(OWNER).document, Screen(COLUMNS, colour=True)).rstrip("\n").split("\n")
    )
    made = [_text("$", 0, "prompt")]
    made += [
        _text(char, 0, "later", column=at + 2, delay=TYPING * at) for at, char in enumerate(command) if char != " "
    ]
    start = TYPING * len(command) + 0.4
    made += [_line(line, at + 1, start + LINE * at) for at, line in enumerate(answer) if line]
    width, height = int(COLUMNS * WIDTH + 40), (len(answer) + 1) * HEIGHT + 60
    frame = "".join(
        f'<circle cx="{20 + 18 * at}" cy="18" r="6" fill="{colour}"/>'
        for at, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title">'
        f'<title id="title">{escape(command)}, and its answer</title><style>{STYLE}</style>'
        f'<rect width="{width}" height="{height}" rx="10" fill="#11151b"/>{frame}{"".join(made)}</svg>\n'
    )


def _line(line: str, row: int, delay: float) -> str:
    bold = line.startswith("\x1b[1m")
    plain = line.removeprefix("\x1b[1m").removesuffix("\x1b[0m")
    minus = plain.lstrip().startswith("-") and plain.lstrip()[1:2].isdigit()
    kind = " ".join(["later", *(["bold"] if bold else []), *(["minus"] if minus else [])])
    return _text(plain, row, kind, delay=delay)


def _text(text: str, row: int, kind: str, *, column: int = 0, delay: float = 0) -> str:
    x, y = 20 + column * WIDTH, 56 + row * HEIGHT
    style = f' style="animation-delay:{delay:.2f}s"' if delay else ""
    length = f' textLength="{len(text) * WIDTH:.1f}"' if len(text) > 1 else ""
    return f'<text x="{x:.1f}" y="{y}" class="{kind}"{length}{style}>{escape(shown.line(text))}</text>'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(recording(), encoding="utf-8")
