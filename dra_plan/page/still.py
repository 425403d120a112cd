"""The picture of a cluster as an HTML fragment for notebooks, which needs no styles or scripts."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from dra_plan import shown
from dra_plan.page.scene import WORDS, Scene, SceneDevice, ScenePlace

MOST_PLACES = 24
"""The maximum number of nodes and shared pools that are drawn. The rest are counted."""

MOST_DEVICES = 32
"""The maximum number of devices drawn in a place. The rest are counted."""

COLOURS = {"free": "#cfeedd", "used": "#d3d9e2", "shared": "#dcd7fb", "tainted": "#fbe3b5", "out": "#f6d0d0"}
"""The colour of a device's box, by state. Its text is dark, whatever the notebook's theme."""


def still(scenes: Sequence[Scene]) -> str:
    """Return HTML with a table for each scene, which has a row for each place and a box for each device.

    Scenes without devices are left out.
    """
    return "".join(_scene(each) for each in scenes if any(place.devices for place in each.places))


def _scene(scene: Scene) -> str:
    places = [place for place in scene.places if place.devices]
    rows = "".join(map(_place, places[:MOST_PLACES]))
    more = len(places) - MOST_PLACES
    key = " ".join(_box(WORDS[state], state, "") for state in scene.states)
    title = f"<p>{_safe(scene.title)}</p>" if scene.title else ""
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f"{title}<table><tbody>{rows}</tbody></table>{rest}<p>{key}</p>"


def _place(place: ScenePlace) -> str:
    return (
        f'<tr><th style="text-align: left">{_safe(place.title)}</th>'
        f'<td style="text-align: left">{" ".join(_devices(place.devices))}</td></tr>'
    )


def _devices(devices: Sequence[SceneDevice]) -> Iterator[str]:
    for device in devices[:MOST_DEVICES]:
        told = ": ".join(part for part in (device.name, WORDS[device.state], device.detail) if part)
        yield _box(device.drawn.name, device.state, told)
    if len(devices) > MOST_DEVICES:
        yield f"and {len(devices) - MOST_DEVICES:,} more"


def _box(text: str, state: str, told: str) -> str:
    style = f"background: {COLOURS[state]}; color: #1c2430; border-radius: 4px; padding: 1px 6px"
    return f'<span style="{style}" title="{_safe(told)}">{_safe(text)}</span>'


def _safe(text: str) -> str:
    return html.escape(shown.line(text), quote=True)
