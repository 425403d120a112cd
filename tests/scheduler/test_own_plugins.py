"""Own plugins: the example of docs/plugins.md, as a package's entry point and through the Python API."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from dra_plan.errors import UsageError
from dra_plan.manifests.load import load_objects
from dra_plan.scheduler.framework.interface import Registry
from dra_plan.scheduler.simulation import ENTRY_POINTS
from tests.build import node, placed, pod
from tests.scheduler.reading import message, plan, where

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "scheduler-plugin"
RACK, TEAM = "example.com/rack", "example.com/team"


@pytest.fixture
def installed(monkeypatch):
    """The example as if it were installed."""
    import tomllib

    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    [(name, value)] = project["entry-points"][ENTRY_POINTS].items()
    entry = importlib.metadata.EntryPoint(name, value, ENTRY_POINTS)

    def entry_points(*, group: str):
        return [entry] if group == ENTRY_POINTS else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    monkeypatch.syspath_prepend(str(EXAMPLE))
    yield
    sys.modules.pop("rack_limit", None)


@pytest.fixture
def config():
    [document] = load_objects([str(EXAMPLE / "config.yaml")])
    return document


def cluster(pods: int) -> list[dict]:
    racks = [node(name, labels={RACK: rack}) for name, rack in (("a1", "a"), ("a2", "a"), ("b1", "b"))]
    return [*racks, node("loose"), *(pod(f"p{i}", labels={TEAM: "red"}) for i in range(pods))]


def test_an_installed_plugin_takes_part(installed, config):
    document = plan(cluster(5), config=config)
    placed_on = where(document)
    racks = sorted(name[0] for name in placed_on.values() if name)
    assert racks == ["a", "a", "b", "b"]
    assert message(document, "p4").startswith(
        "0/4 nodes are available: 1 node(s) stood in no rack, 3 rack(s) held enough pods of the team."
    )


def test_pods_without_a_team_do_not_concern_it(installed, config):
    assert where(plan([node("loose"), pod("p")], config=config))["p"] == "loose"


def test_its_hint_wakes_the_pods_it_rejected(installed, config):
    red, blue = {TEAM: "red"}, {TEAM: "blue"}
    old = [placed(f"old{i}", "a1", labels=red) for i in range(2)] + [placed("other", "a1", labels=blue)]
    base = [node("a1", labels={RACK: "a"}), pod("p", labels=red)]
    waiting = plan([*base, *old], config=config, then=[[*base, *old[:2]]], trace=True)
    assert where(waiting)["p"] is None
    assert waiting["trace"]["wakes"] == []
    woken = plan([*base, *old], config=config, then=[[*base, *old[1:]]], trace=True)
    assert where(woken)["p"] == "a1"
    [wake] = woken["trace"]["wakes"]
    assert (wake["event"], wake["object"], wake["plugin"]) == ("AssignedPodDelete", "default/old0", "RackLimit")


def test_it_is_not_loaded_unless_a_configuration_names_it(monkeypatch):
    def entry_points(*, group: str):
        raise AssertionError(f"{group} was looked at")

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert where(plan([node("a"), pod("p")]))["p"] == "a"


def test_through_the_python_api(monkeypatch, config):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import rack_limit

    plugins = Registry()
    plugins.register("RackLimit", rack_limit.make)
    assert where(plan(cluster(1), config=config, plugins=plugins))["p0"] in ("a1", "a2", "b1")
    config["profiles"][0]["pluginConfig"][0]["args"]["limit"] = "many"
    with pytest.raises(UsageError, match="RackLimit: limit must be a positive number, not 'many'"):
        plan(cluster(1), config=config, plugins=plugins)
    sys.modules.pop("rack_limit", None)


def test_a_plugin_of_the_tree_is_not_replaced():
    plugins = Registry()
    plugins.register("NodeName", lambda _args, _handle: None)
    with pytest.raises(UsageError, match="a plugin named NodeName already exists"):
        plan([node("a")], plugins=plugins)


def test_the_page_shows_the_example_as_it_is():
    page = (ROOT / "docs" / "plugins.md").read_text()
    assert (EXAMPLE / "rack_limit.py").read_text() in page
    assert (EXAMPLE / "config.yaml").read_text() in page
