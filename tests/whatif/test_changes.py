"""Edits of one field: labels, replicas, taints of devices; each the same as the manifest that says so."""

from __future__ import annotations

import html.parser
from dataclasses import replace
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from dra_plan.page.picture import DrawnDevice, DrawnPool
from dra_plan.page.scene import Scene, SceneDevice, ScenePlace, ScenePool
from dra_plan.page.still import MOST_DEVICES, MOST_PLACES, still
from dra_plan.text.columns import Paragraph, Table
from dra_plan.text.html import MOST_ROWS, fragment
from tests.build import deployment, gpus, pod, template, workload

GPU = "gpu.example.com"


def objects() -> list[dict[str, Any]]:
    shape = pod(templates={"gpu": "one"})
    return [*gpus("a", "b"), template("one"), deployment("serve", shape, 3), workload("Job", "train", shape)]


def bound(cluster: Cluster) -> dict[str, str]:
    return {one.name: one.node_name for one in cluster.schedule("deploy/serve") if one.node_name}


def test_a_label_is_as_if_the_node_had_it() -> None:
    shape = pod("p", templates={"gpu": "one"}, nodeSelector={"rack": "r1"})
    cluster = Cluster.of([*gpus("a", "b"), template("one"), shape])
    assert [one.node_name for one in cluster.schedule()] == [None]
    labelled = cluster.label("b", labels={"rack": "r1"})
    assert [one.node_name for one in labelled.schedule()] == ["b"]
    assert [one.node_name for one in labelled.label("b", labels={"rack": None}).schedule()] == [None]
    assert [one.node_name for one in cluster.schedule()] == [None], "the first cluster stays as it is"
    assert "node/b changed" in str(labelled.schedule())


@pytest.mark.parametrize("number", [0, 1, 3, 4, 9])
def test_replicas_are_as_the_manifest_says(number: int) -> None:
    made = objects()
    made[-2]["spec"]["replicas"] = number
    assert bound(Cluster.of(objects()).scale("deploy/serve", number)) == bound(Cluster.of(made))


def test_a_job_has_parallelism() -> None:
    cluster = Cluster.of(objects()).without("deploy/serve")
    assert len(cluster.scale("job/train", 3).schedule()) == 3


@pytest.mark.parametrize("taint", ["xid=79:NoSchedule", "xid:NoExecute", "example.com/sick=yes:NoSchedule"])
def test_a_taint_is_as_if_the_driver_published_it(taint: str) -> None:
    made = objects()
    key, _, rest = taint.partition(":")[0].partition("=")
    given = {"key": key, "effect": taint.rpartition(":")[2], **({"value": rest} if rest else {})}
    for each in made:
        if each["kind"] == "ResourceSlice" and each["spec"]["pool"]["name"] == "a":
            each["spec"]["devices"][0]["taints"] = [given]
    edited = Cluster.of(objects()).taint_device(f"{GPU}/a/gpu-0", taint)
    assert bound(edited) == bound(Cluster.of(made))
    assert edited.pools().to_dict()["pools"] == Cluster.of(made).pools().to_dict()["pools"]


def test_a_taint_of_the_same_key_and_effect_is_replaced() -> None:
    name = f"{GPU}/a/gpu-0"
    cluster = Cluster.of(objects()).taint_device(name, "x=1:None").taint_device(name, "x=2:None")
    taints = cluster.inventory.slices[0].spec.devices[0].taints
    assert [(taint.key, taint.value) for taint in taints] == [("x", "2")]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda of: of.label("c", labels={"x": "y"}), "c"),
        (lambda of: of.label("a", labels={"x y": "y"}), "label x y=y: "),
        (lambda of: of.label("a", labels={"x": "y z"}), "label x=y z: "),
        (lambda of: of.scale("deploy/serv", 2), "unknown Deployment 'serv' (did you mean 'serve'?)"),
        (lambda of: of.scale("serve", 2), "is not KIND/NAME"),
        (lambda of: of.scale("deploy/serve", -1), "-1"),
        (lambda of: of.scale("node/a", 1), "a Node has no replicas"),
        (lambda of: of.taint_device(f"{GPU}/a/gpu-9", "x:NoSchedule"), "unknown device 'gpu.example.com/a/gpu-9'"),
        (lambda of: of.taint_device("gpu-0", "x:NoSchedule"), "is not DRIVER/POOL/DEVICE"),
        (lambda of: of.taint_device(f"{GPU}/a/gpu-0", "x"), "'x' is not KEY=VALUE:EFFECT"),
        (lambda of: of.taint_device(f"{GPU}/a/gpu-0", "x:Nope"), "one of NoSchedule, NoExecute, None"),
        (lambda of: of.taint_device(f"{GPU}/a/gpu-0", "a b=c:None"), "is not KEY=VALUE:EFFECT"),
    ],
)
def test_what_can_not_be_is_refused(edit: Any, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        edit(Cluster.of(objects()))
    assert said in str(refused.value)


def test_devices_of_a_pod_need_no_join() -> None:
    plan = Cluster.of(objects()).schedule("deploy/serve")
    found = [plan.devices(one) for one in plan]
    assert [len(names) for names in found] == [1, 1, 1]
    assert sorted(names[0] for names in found) == sorted({name for names in found for name in names})
    assert all(names[0].startswith(f"{GPU}/{one.node_name}/") for one, names in zip(plan, found, strict=True))
    with pytest.raises(UsageError):
        plan.devices("default/nobody")


class Tags(html.parser.HTMLParser):
    """The texts of cells, and every tag that there is."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(text: str) -> Tags:
    found = Tags()
    found.feed(text)
    return found


@pytest.mark.parametrize(
    "ask",
    [
        lambda of: of.allocate(),
        lambda of: of.schedule(),
        lambda of: of.pools(),
        lambda of: of.capacity(),
        lambda of: of.place(),
        lambda of: of.grow(like="a"),
        lambda of: of.diff(of.drain("a")),
        lambda of: of.drain_each(),
        lambda of: of.explain(),
        lambda of: of.validate(),
    ],
)
def test_a_notebook_shows_every_word_of_an_answer(ask: Any) -> None:
    answer = ask(Cluster.of(objects()))
    found = read(replace(answer, drawn=None)._repr_html_())
    assert found.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td", "p", "pre"}
    assert set(str(answer).split()) == set(" ".join(found.texts).split())


def test_a_notebook_shows_the_picture_below_the_tables() -> None:
    cluster = Cluster.of(objects())
    names = {device.name for each in cluster.inventory.slices for device in each.spec.devices}
    for answer in (cluster.schedule(), cluster.diff(cluster.drain("a"))):
        tables, picture = read(replace(answer, drawn=None)._repr_html_()), read(answer._repr_html_())
        assert names <= set(picture.texts)
        assert picture.tags - tables.tags >= {"span"}
        assert picture.texts[: len(tables.texts)] == tables.texts
    assert "<span" not in cluster.validate()._repr_html_()


def test_a_picture_in_a_notebook_is_counted_and_no_markup() -> None:
    hostile = "<script>alert(1)</script>"
    pool = DrawnPool("d", "p", "Complete", "", (), "", (), (), None)  # type: ignore[arg-type]
    devices = [SceneDevice(at, pool, DrawnDevice(hostile, "Available")) for at in range(MOST_DEVICES + 3)]
    places = [ScenePlace(at, f"{hostile}{at}", None, [ScenePool(pool, devices)]) for at in range(MOST_PLACES + 2)]
    found = read(still([Scene(places, title=hostile)]))
    assert found.tags == {"p", "table", "tbody", "tr", "th", "td", "span"}
    assert {"and 2 more", hostile, f"{hostile}0"} <= set(found.texts)
    assert any("and 3 more" in text for text in found.texts)


def test_names_are_no_markup() -> None:
    table = Table(("<b>", "B"))
    table.add("<script>alert(1)</script>", "a&b\x1b[2J")
    found = read(fragment([table, Paragraph(["<i>"]), "<u>"]))
    assert found.tags == {"div", "table", "thead", "tbody", "tr", "th", "td", "p", "pre"}
    assert {"<script>alert(1)</script>", "<b>", "<i>", "<u>"} <= set(found.texts)
    assert "\x1b" not in "".join(found.texts)


def test_long_tables_are_counted() -> None:
    table = Table(("A",))
    for number in range(MOST_ROWS + 5):
        table.add(str(number))
    assert "and 5 more rows" in fragment([table])
