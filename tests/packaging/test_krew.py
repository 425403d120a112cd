"""The manifest for krew: every rule of krew's is met, and each rule would be seen broken."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from dra_plan import __version__
from dra_plan.cli.live import PLUGIN
from scripts import krew, plugin

from .krew_rules import faults, matching

Document = dict[str, Any]


def made() -> Document:
    """As `make plugin` writes it, read back."""
    digests = dict.fromkeys(plugin.TARGETS, "0" * 64)
    document: Document = yaml.safe_load(krew.text(krew.manifest(digests, "https://example.com/x/")))
    return document


def test_krew_takes_it() -> None:
    assert faults(made(), "dra-plan.yaml") == []


def _spec(key: str, value: object) -> Callable[[Document], None]:
    return lambda document: document["spec"].update({key: value})


def _platform(key: str, value: object) -> Callable[[Document], None]:
    return lambda document: document["spec"]["platforms"][0].update({key: value})


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda document: document.update(apiVersion="v1"), "apiVersion"),
        (lambda document: document.update(kind="Pod"), "kind"),
        (lambda document: document["metadata"].update(name="dra plan"), "metadata.name"),
        (_spec("version", __version__), "version"),
        (_spec("shortDescription", "a\nb"), "shortDescription"),
        (_spec("licence", "x"), "unknown fields of spec"),
        (_spec("platforms", []), "platforms"),
        (_platform("sha256", "0" * 63), "sha256"),
        (_platform("uri", "http://example.com/a.tar.gz"), "uri"),
        (_platform("bin", ""), "bin"),
        (_platform("files", []), "files"),
        (_platform("selector", {"matchLabels": {"libc": "musl"}}), "selector"),
    ],
)
def test_the_rules_see_what_is_broken(change: Callable[[Document], None], fault: str) -> None:
    document = copy.deepcopy(made())
    change(document)
    assert faults(document, "dra-plan.yaml") == [fault]


@pytest.mark.parametrize(("system", "machine"), plugin.TARGETS)
def test_each_platform_has_one_archive(system: str, machine: str) -> None:
    (platform,) = matching(made(), system, machine)
    assert platform["uri"] == f"https://example.com/x/dra-plan_v{__version__}_{system}_{machine}.tar.gz"


def test_the_program_is_what_kubectl_looks_for() -> None:
    """krew links it as kubectl-NAME, with underscores; the program knows itself by that name."""
    name = made()["metadata"]["name"].replace("-", "_")
    assert krew.BIN == PLUGIN == f"kubectl-{name}"


def test_platforms_are_told_to_pip_and_to_pex_in_the_same_words() -> None:
    for target in plugin.TARGETS:
        for minor in plugin.MINORS:
            told = target.complete(minor)
            for platform in target.wheels():
                assert f"cp3{minor}-cp3{minor}-{platform}" in told["compatible_tags"]
            assert "py3-none-any" in told["compatible_tags"]
            assert told["marker_environment"]["python_version"] == f"3.{minor}"
