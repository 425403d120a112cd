"""What pages say of a fleet of 1,000 nodes against what the documents say: more than 2,000 facts, none differs."""

from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.fleet import fleet
from dra_plan import Cluster
from tests.browser.conftest import Open, settled
from tests.browser.test_tiles import AWAY, NODES, _cluster, _html
from tests.build import bare_pod, template

OPENED = 60
"""Nodes whose devices are read, box by box."""
READ = """async (names) => {
  const read = [];
  for (const name of names) {
    const followed = new Promise(done => addEventListener('hashchange', done, { once: true }));
    location.hash = '#node/' + name;
    await followed;
    for (const box of document.querySelectorAll('#node .dev')) {
      const text = (part) => box.querySelector(part).textContent;
      read.push([name, text('.n'), text('.s'), text('.d')]);
    }
  }
  return read;
}"""
WORDS = {"Available": "free", "Allocated": "in use"}


def _tiles(page: Any) -> dict[str, str]:
    """What each tile says, by node."""
    found = "[...document.querySelectorAll('.tile')].map(t => [t.hash.slice(6), t.getAttribute('aria-label')])"
    return dict(settled(page).evaluate(found))


def _names() -> list[str]:
    return [f"worker-{at * NODES // OPENED:05}" for at in range(OPENED)]


def _pools() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for pool in _cluster().pools().to_dict()["pools"]:
        found.setdefault(pool["poolName"], []).append(pool)
    return found


def _differing(facts: Iterator[tuple[Any, Any]], least: int) -> list[Any]:
    """The facts that are another on the page than in the document."""
    read = list(facts)
    assert len(read) >= least
    return [(page, document) for page, document in read if page != document]


def test_pools(opens: Open) -> None:
    """3,000 facts of tiles: what is free, and what keeps pods away; 1,440 of boxes: state and holder."""
    page = opens(_html("pools")).page
    pools, tiles, holders = _pools(), _tiles(page), _holders()

    def facts() -> Iterator[tuple[Any, Any]]:
        for name, said in tiles.items():
            parts = said.split("; ")
            for pool in pools[name]:
                free = sum(device["state"] == "Available" for device in pool["devices"])
                total = len(pool["devices"])
                model = next((device["model"] for device in pool["devices"] if device.get("model")), pool["driver"])
                yield f"{free} of {total} {model} free" in parts[2], True
            away = {AWAY[0]: ["cordoned"], AWAY[1]: ["taint dedicated=ml:NoSchedule"]}.get(name, [])
            yield parts[3:], away
        for name, device, state, detail in page.evaluate(READ, _names()):
            [of] = [each for pool in pools[name] for each in pool["devices"] if each["name"] == device]
            yield state, WORDS[of["state"]]
            yield detail, holders.get((name, device), "")

    assert _differing(facts(), 4_400) == []


def _holders() -> dict[tuple[str, str], str]:
    """By pool and device the claim that has it, with its pod."""
    found = {}
    for claim in _cluster().inventory.claims:
        if claim.status is not None and claim.status.allocation is not None:
            pods = " and ".join(user.name for user in claim.status.reserved_for)
            for result in claim.status.allocation.devices.results:
                found[result.pool, result.device] = f"by claim {claim.key} (pod {pods})"
    return found


def test_explain(opens: Open) -> None:
    """A fact of each node: whether it fits; and of the devices of 60 nodes which of them the claim would get."""
    [one] = _cluster().explain().to_dict()["claimSets"]
    [plan] = _cluster().allocate().to_dict()["claimSets"]
    gets = {
        node["name"]: {
            result["device"] for claim in node["claims"] for result in claim["allocation"]["devices"]["results"]
        }
        for node in plan["nodes"]
        if node["name"] in plan["fittingNodes"]
    }
    page = opens(_html()).page
    tiles = _tiles(page)

    def facts() -> Iterator[tuple[Any, Any]]:
        for name, said in tiles.items():
            yield said.split("; ")[1] == "fits", name in one["fittingNodes"]
        for name, device, state, _ in page.evaluate(READ, _names()):
            yield state == "would get", device in gets.get(name, ())

    assert _differing(facts(), 1_700) == []


@pytest.mark.parametrize("pods", [120])
def test_schedule(pods: int, opens: Open) -> None:
    """Of each pod its outcome and node; at the last step, which devices of their nodes are taken."""
    items = fleet(200)["items"]
    wanted = next(item["spec"] for item in items if item["kind"] == "ResourceClaim" and "status" not in item)
    [request, *others] = wanted["devices"]["requests"]
    rest = {key: value for key, value in wanted["devices"].items() if key != "requests"}
    made = [bare_pod(f"p-{at}", templates={"devices": "two"}) for at in range(pods)]
    cluster = Cluster.of([*items, template("two", request, *others, **rest), *made])
    answer = cluster.schedule()
    document = answer.to_dict()
    page = opens(cluster.page(answer)).page
    listed = page.evaluate(
        "[...document.querySelectorAll('.pick')].map(p => ['.name', '.word', '.line']"
        ".map(part => (p.querySelector(part) || { textContent: '' }).textContent))"
    )
    of = {f"pod/{pod['namespace']}/{pod['name']}": pod for pod in document["pods"]}
    taken: dict[str, set[str]] = {}
    for claim in document["claims"]:
        for result in (claim.get("allocation") or {"devices": {"results": []}})["devices"]["results"]:
            taken.setdefault(result["pool"], set()).add(result["device"])
    page.locator("#time").fill(page.get_attribute("#time", "max"))
    names = [name for name in taken if name.startswith("worker-")][:OPENED]

    def facts() -> Iterator[tuple[Any, Any]]:
        for name, word, line in listed:
            yield word, of[name]["outcome"]
            yield line.removeprefix("on ") if of[name]["nodeName"] else "", of[name]["nodeName"] or ""
        for name, device, state, _ in page.evaluate(READ, names):
            if device in taken[name]:
                yield state in ("in use", "gets"), True

    assert _differing(facts(), 2 * pods + 100) == []
