"""The screenshots of the documentation: `RETAKE=1 make browser T=tests/browser/test_pictures.py` takes them.

What a browser paints differs from release to release, so that only their being there and their size is compared.
"""

import os
import struct

import pytest

from dra_plan import Cluster
from tests.browser.conftest import Open
from tests.page.reading import ROOT

IMAGES = ROOT / "docs" / "images"
SHOTS = [
    ("explain", "gpu-fleet", "next-gen", "explain", "light", (1240, 800)),
    ("partitions", "mig", "pod/default/mixed", "explain", "light", (1240, 640)),
    ("schedule", "gpu-fleet", "finetune", "schedule", "dark", (1240, 800)),
]
MOST_BYTES = 200_000


RETAKING = bool(os.environ.get("RETAKE"))
"""Whether they are taken anew: no golden texts, for which nobody should need a browser."""


@pytest.mark.parametrize(("name", "fixture", "picked", "command", "scheme", "size"), SHOTS)
def test_screenshots(
    name: str, fixture: str, picked: str, command: str, scheme: str, size: tuple[int, int], opens: Open
) -> None:
    cluster = Cluster.load(ROOT / "fixtures" / fixture)
    html = cluster.page(cluster.schedule(explain=True) if command == "schedule" else cluster.explain())
    opened = opens(html, width=size[0], height=size[1], color_scheme=scheme, reduced_motion="reduce")
    opened.page.locator(".pick", has_text=picked).click()
    opened.page.mouse.move(0, 0)
    taken = opened.page.screenshot()
    file = IMAGES / f"{name}.png"
    if RETAKING:
        IMAGES.mkdir(exist_ok=True)
        file.write_bytes(taken)
    kept = file.read_bytes()
    assert len(kept) < MOST_BYTES
    assert struct.unpack(">II", kept[16:24]) == struct.unpack(">II", taken[16:24]) == size
    assert f"images/{name}.png" in (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
