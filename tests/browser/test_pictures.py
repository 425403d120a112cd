"""The screenshots of the documentation: `RETAKE=1 make browser T=tests/browser/test_pictures.py` takes them.

What a browser paints differs from release to release, so that only their being there and their size is compared.
"""

import os
import struct

import pytest

from dra_plan import Cluster
from tests.browser.conftest import Open, Opened, settled
from tests.browser.test_tiles import _html
from tests.page.reading import ROOT

IMAGES = ROOT / "docs" / "images"
SHOTS = [
    ("explain", "gpu-fleet", "next-gen", "explain", "light", (1240, 800)),
    ("partitions", "mig", "pod/default/mixed", "explain", "light", (1240, 640)),
    ("schedule", "gpu-fleet", "finetune", "schedule", "dark", (1240, 800)),
]
MOST_BYTES = 250_000


RETAKING = bool(os.environ.get("RETAKE"))
"""Whether they are taken anew: no golden texts, for which nobody should need a browser."""


@pytest.mark.parametrize(("name", "fixture", "picked", "command", "scheme", "size"), SHOTS)
def test_screenshots(
    name: str,
    fixture: str,
    picked: str,
    command: str,
    scheme: str,
    size: tuple[int, int],
    opens: Open,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)  # pictures name files as the reader has them
    cluster = Cluster.load(f"fixtures/{fixture}")
    html = cluster.page(cluster.schedule(explain=True) if command == "schedule" else cluster.explain())
    opened = opens(html, width=size[0], height=size[1], color_scheme=scheme, reduced_motion="reduce")
    opened.page.locator(".pick", has_text=picked).first.click()
    opened.page.mouse.move(0, 0)
    _keep(name, opened, size)


def test_a_fleet(opens: Open) -> None:
    _keep("fleet", opens(_html(), reduced_motion="reduce"), (1440, 900))


def _keep(name: str, opened: Opened, size: tuple[int, int]) -> None:
    taken = settled(opened.page).screenshot()
    file = IMAGES / f"{name}.png"
    if RETAKING:
        IMAGES.mkdir(exist_ok=True)
        file.write_bytes(taken)
    kept = file.read_bytes()
    assert len(kept) < MOST_BYTES
    assert struct.unpack(">II", kept[16:24]) == struct.unpack(">II", taken[16:24]) == size
    assert f"images/{name}.png" in (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
