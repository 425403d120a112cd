"""The entries that the reader can select on a page, and how they mark and change the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dra_plan import shown
from dra_plan.allocator import DeviceID, View
from dra_plan.api.resource import ResourceClaim
from dra_plan.page.on_nodes import AnswerOnNode
from dra_plan.page.picture import DrawnDevice
from dra_plan.page.scene import LETTERS, Amount, Scene, SceneDevice, ScenePlace, ScenePool, Texts
from dra_plan.text import words
from dra_plan.text.devices import removed

Claims = Mapping[str, ResourceClaim]
"""Claims by NAMESPACE/NAME."""


PoolName = tuple[str, str]
"""A driver and the name of one of its pools."""


@dataclass
class PictureChange:
    """A change to a picture: new device states, by place and position, and new counter amounts, by place."""

    devices: dict[tuple[int, int], SceneDevice] = field(default_factory=dict)
    amounts: dict[int, list[Amount]] = field(default_factory=dict)
    """All amounts that the place shows, in order."""

    def plain(self, texts: Texts) -> list[Any]:
        """Return the change as data for the script."""
        devices = [
            [place, at, LETTERS[device.state], texts.at(device.detail)]
            for (place, at), device in sorted(self.devices.items())
        ]
        amounts = {str(place): [plain_amount(each, texts) for each in of] for place, of in self.amounts.items()}
        return [devices, amounts]


def plain_amount(of: Amount, texts: Texts) -> list[Any]:
    """Return a counter as data for the script: a text, the number of pips that are taken, and the percentage."""
    return [texts.at(of.said), of.taken_pips, of.percent]


class Beginning:
    """A picture in its initial state, with the places of pools, and the claims that use devices."""

    def __init__(self, scene: Scene, view: View) -> None:
        self.scene, self.view = scene, view
        self.claims: Claims = {claim.key: claim for claim in view.claims}
        self.by_pool: dict[PoolName, dict[str, ResourceClaim]] = {}
        for claim in view.claims:
            for name in _pools_of(claim):
                self.by_pool.setdefault(name, {})[claim.key] = claim
        self.places: dict[PoolName, list[tuple[int, int]]] = {}
        """The places of each pool and its indices in them; a pool may be drawn more than once, in several states."""
        for place in scene.places:
            for number, pool in enumerate(place.pools):
                self.places.setdefault((pool.pool.driver, pool.pool.name), []).append((place.number, number))

    def held_by(self, namespace: str, pod: str) -> Iterator[str]:
        """Yield the keys of the claims that are reserved only for this pod."""
        for key, claim in self.claims.items():
            users = claim.reserved_for
            if claim.metadata.namespace == namespace and [user.name for user in users] == [pod]:
                yield key

    def differing(self, claims: Iterable[ResourceClaim]) -> dict[str, ResourceClaim | None]:
        """Return the claims whose devices differ from the initial state. A claim that is gone is mapped to None."""
        now = {claim.key: claim for claim in claims}
        gone = dict.fromkeys(key for key in self.claims.keys() - now.keys() if self.claims[key].allocation is not None)
        return {**gone, **{key: claim for key, claim in now.items() if not _same(self.claims.get(key), claim)}}


class Moments:
    """A picture that changes over time. Each method returns what changes in the picture."""

    def __init__(self, beginning: Beginning) -> None:
        self._beginning = beginning
        self._claims: dict[str, ResourceClaim | None] = {}
        self._by_pool: dict[PoolName, dict[str, ResourceClaim]] = {}
        self._drawn: dict[tuple[int, int], ScenePool] = {}
        """The changes since the beginning: claims, claims in a pool, and pools by place and index."""
        self._evicted: set[tuple[str, str]] = set()
        """The namespaces and names of evicted pods, whose claims may still hold their devices."""

    def change(self, to: Mapping[str, ResourceClaim | None], evicted: Iterable[tuple[str, str]] = ()) -> PictureChange:
        """Apply changes to claims and evictions of pods, and return what changes in the picture.

        A claim that is mapped to None loses its devices.
        """
        self._evicted.update(evicted)
        touched = dict.fromkeys(name for key, claim in to.items() for name in self._put(key, claim))
        made = PictureChange()
        for name in touched:
            for place, number in self._beginning.places.get(name, ()):
                self._redraw(made, place, number, self._by_pool[name].values())
        return made

    def become(self, claims: Iterable[ResourceClaim]) -> PictureChange:
        """Replace all claims, and return what changes in the picture."""
        now = {claim.key: claim for claim in claims}
        before: dict[str, ResourceClaim | None] = {**self._beginning.claims, **self._claims}
        gone = dict.fromkeys(key for key, claim in before.items() if key not in now and _pools_of(claim))
        return self.change({**gone, **{key: claim for key, claim in now.items() if not _same(before.get(key), claim)}})

    def devices(self, place: ScenePlace) -> Iterator[SceneDevice]:
        """Yield the devices of a place in their current state."""
        for number, pool in enumerate(place.pools):
            yield from self._drawn.get((place.number, number), pool).devices

    def _put(self, key: str, claim: ResourceClaim | None) -> Iterator[PoolName]:
        """Store the devices of a claim, and yield the pools of its previous and its new devices."""
        before = self._claims.get(key, self._beginning.claims.get(key))
        self._claims[key] = claim
        for name in dict.fromkeys((*_pools_of(before), *_pools_of(claim))):
            holding = self._by_pool.setdefault(name, dict(self._beginning.by_pool.get(name, {})))
            holding.pop(key, None)
            if claim is not None and name in _pools_of(claim):
                holding[key] = claim
            yield name

    def _redraw(self, made: PictureChange, place: int, number: int, claims: Iterable[ResourceClaim]) -> None:
        pools = self._beginning.scene.places[place].pools
        before = self._drawn.get((place, number), pools[number])
        drawn = before.pool.at(self._beginning.view, claims)
        now = ScenePool(
            drawn,
            [
                SceneDevice(old.at, drawn, self._noted(new))
                for old, new in zip(before.devices, drawn.devices, strict=True)
            ],
        )
        self._drawn[place, number] = now
        for old, new in zip(before.devices, now.devices, strict=True):
            if (old.state, old.detail) != (new.state, new.detail):
                made.devices[place, new.at] = new
        if drawn.counter_sets != before.pool.counter_sets:
            made.amounts[place] = [
                amount
                for at, pool in enumerate(pools)
                for physical in self._drawn.get((place, at), pool).physical
                for amount in physical.amounts
            ]

    def _noted(self, device: DrawnDevice) -> DrawnDevice:
        """Return the device, with its evicted pods recorded."""
        users = ((held.namespace, pod) for held in device.holders for pod in held.pods)
        gone = ["/".join(user) for user in users if user in self._evicted]
        return replace(device, note=kept_by(gone)) if gone else device


def kept_by(pods: list[str]) -> str:
    """Return the text for a device that stays allocated although these pods are evicted."""
    return f"still held, though {words.listed(pods)} {'is' if len(pods) == 1 else 'are'} evicted"


def _pools_of(claim: ResourceClaim | None) -> list[PoolName]:
    if claim is None or claim.allocation is None:
        return []
    return list(dict.fromkeys((result.driver, result.pool) for result in claim.allocation.devices.results))


def _same(before: ResourceClaim | None, now: ResourceClaim) -> bool:
    """Return whether a claim has the same devices as before, or none in both cases."""
    return before is now or (before.allocation if before is not None else None) == now.allocation


GOOD, BAD, OTHER, PLAIN = "good", "bad", "other", "plain"
"""The tones of results, which determine colours. PLAIN is for a result that is neither good nor bad."""


@dataclass
class Mark:
    """How an entry marks a place: a text with a tone, and notes on the devices there.

    `gets` contains the devices that the entry gets or, on a node that rejects the pod, those that would be suitable.
    `notes` says why other devices are not suitable. `harms` contains devices in use whose users suffer, with the effect
    on them. `others` contains devices that are not of the requested class, with the reason.
    """

    tone: str
    label: str
    message: str = ""
    gets: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    harms: dict[int, str] = field(default_factory=dict)
    others: dict[int, str] = field(default_factory=dict)
    detail: str = ""
    """The text for the node when it is open, in place of the message that it shares with other nodes."""


class MarkLists:
    """The different sets of marks on a page, each with a number."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self._known: dict[int, int] = {}

    def at(self, marks: dict[int, Mark], texts: Texts) -> int:
        """Return the number of these marks.

        The caller must keep `marks` alive, because they are compared by identity.
        """
        number = self._known.get(id(marks))
        if number is None:
            number = self._known[id(marks)] = len(self.all)
            self.all.append({str(at): _plain(mark, texts) for at, mark in marks.items()})
        return number


@dataclass
class Pick:
    """An entry that the reader of the page can select.

    `line` is a short form of its result, and `marks` are its marks in each picture. If the page has a slider, `change`
    is what this step changes in the picture after the previous `step` entries (by default, all earlier ones). `moment`
    is the index in the page's `moments` that the entry shows, if any. `ways` contains the two nodes of each move.
    """

    key: str
    name: str
    tone: str
    word: str
    line: str
    marks: list[dict[int, Mark]]
    change: PictureChange | None = None
    moment: int | None = None
    each_alone: bool = False
    """Whether the marked nodes are alternatives, so that one of them is enough."""
    has_devices: bool = False
    """Whether the entry already has its devices."""
    step: int | None = None
    ways: Sequence[tuple[str, str]] = ()

    def plain(self, texts: Texts, marks: MarkLists, address: str) -> dict[str, Any]:
        """Return the entry as data for the script, with marks replaced by their numbers."""
        return {
            "key": self.key,
            "address": address,
            "name": shown.printable(self.name),
            "tone": self.tone,
            "word": shown.printable(self.word),
            "line": shown.printable(self.line),
            "marks": [marks.at(scene, texts) for scene in self.marks],
            "change": self.change.plain(texts) if self.change is not None else None,
            "moment": self.moment,
            "each_alone": self.each_alone,
            "has_devices": self.has_devices,
            "step": self.step,
            "ways": [[texts.at(one), texts.at(other), number] for (one, other), number in Counter(self.ways).items()],
        }


def _plain(mark: Mark, texts: Texts) -> list[Any]:
    said = (mark.gets, mark.notes, mark.harms, mark.others)
    by_device = [{str(at): texts.at(text) for at, text in each.items()} for each in said]
    detail = [texts.at(mark.detail)] if mark.detail else []
    return [mark.tone, texts.at(mark.label), texts.at(mark.message), *by_device, *detail]


_OUTCOMES = {
    "Fits": (GOOD, "fits"),
    "DoesNotFit": (BAD, "does not fit"),
    "NodeError": (BAD, "error"),
    "Error": (BAD, "error"),
    "Undecided": (OTHER, "undecided"),
    "Excluded": (OTHER, "not for this pod"),
}


ONLY_DEVICES = (OTHER, "only the devices fit")
"""The tone and label of a node that rejects a pod although its devices fit."""


def outcome(word: str) -> tuple[str, str]:
    """Return the tone and label for an outcome."""
    return _OUTCOMES.get(word, (OTHER, word))


def marks(answers: Mapping[str, AnswerOnNode], scene: Scene) -> dict[int, Mark]:
    """Return the marks for a claim set's results on the nodes.

    A pool that several nodes share is marked with the first result that fits.
    """
    made: dict[int, Mark] = {}
    shared: dict[int, Mark] = {}
    for name, answer in answers.items():
        place = scene.by_node.get(name)
        if place is None:
            continue
        tone, label = outcome(answer.outcome)
        message = answer.message or (words.phrase(answer.reason) if answer.reason is not None else "")
        mark = made[place.number] = Mark(tone, label, message)
        if answer.outcome == "Excluded" and answer.gets:
            mark.tone, mark.label = ONLY_DEVICES
            mark.message, mark.detail = "", message
        for device, request in answer.gets:
            at = _found(scene, device)
            if at is None or (at[0] is not place and answer.outcome != "Fits"):
                continue
            where, position = at
            if where is place:
                mark.gets[position] = f"request {request}"
            else:
                there = shared.setdefault(where.number, Mark(GOOD, f"used from {name}"))
                if there.label == f"used from {name}":
                    there.gets[position] = f"request {request}"
        _note(answer, scene, place, mark, shared)
    return {**made, **shared}


def _note(answer: AnswerOnNode, scene: Scene, place: ScenePlace, mark: Mark, shared: dict[int, Mark]) -> None:
    requests = {(each.claim, each.request) for each in answer.refused}
    told: dict[DeviceID, list[str]] = {}
    of_class: set[DeviceID] = set()
    for each in answer.refused:
        said = _why(each.check) if len(requests) == 1 else f"{each.request}: {_why(each.check)}"
        for device in each.devices:
            told.setdefault(device, []).append(said)
            if each.check.code != "selector-false" or not each.check.class_:
                of_class.add(device)
    if answer.outcome == "Fits":
        return
    for device, reasons in told.items():
        at = _found(scene, device)
        if at is None or len(reasons) < len(requests):
            continue
        where, position = at
        there = mark if where is place else shared.setdefault(where.number, Mark(OTHER, ""))
        notes = there.notes if device in of_class else there.others
        notes.setdefault(position, "; ".join(dict.fromkeys(reasons)))


def _why(check: Any) -> str:
    if check.code == "selector-false":
        return f"{words.selector(check.selector, check.class_)} is false"
    return removed(check)


def _found(scene: Scene, device: DeviceID) -> tuple[ScenePlace, int] | None:
    found = scene.by_device.get(str(device))
    return None if not found else (scene.home[id(found[0])], found[0].at)
