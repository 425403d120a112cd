"""What can be picked on a page, how it marks the picture, and how the picture differs at other moments."""

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
"""By NAMESPACE/NAME."""


PoolName = tuple[str, str]
"""Driver and pool."""


@dataclass
class PictureChange:
    """What is another than before: devices by place and position, and amounts of counters by place."""

    devices: dict[tuple[int, int], SceneDevice] = field(default_factory=dict)
    amounts: dict[int, list[Amount]] = field(default_factory=dict)
    """All that a place shows as amounts, in its order."""

    def plain(self, texts: Texts) -> list[Any]:
        """What the script needs."""
        devices = [
            [place, at, LETTERS[device.state], texts.at(device.detail)]
            for (place, at), device in sorted(self.devices.items())
        ]
        amounts = {str(place): [plain_amount(each, texts) for each in of] for place, of in self.amounts.items()}
        return [devices, amounts]


def plain_amount(of: Amount, texts: Texts) -> list[Any]:
    """What is left of a counter, in words, the pips that are taken, and the share."""
    return [texts.at(of.said), of.taken_pips, of.percent]


class Beginning:
    """A picture, where its pools are drawn, and who has devices in the beginning."""

    def __init__(self, scene: Scene, view: View) -> None:
        self.scene, self.view = scene, view
        self.claims: Claims = {claim.key: claim for claim in view.claims}
        self.by_pool: dict[PoolName, dict[str, ResourceClaim]] = {}
        for claim in view.claims:
            for name in _pools_of(claim):
                self.by_pool.setdefault(name, {})[claim.key] = claim
        self.places: dict[PoolName, list[tuple[int, int]]] = {}
        """The places and the numbers of the pool in them: it may be drawn more than once, in several states."""
        for place in scene.places:
            for number, pool in enumerate(place.pools):
                self.places.setdefault((pool.pool.driver, pool.pool.name), []).append((place.number, number))

    def held_by(self, namespace: str, pod: str) -> Iterator[str]:
        """The claims that nobody but the pod has."""
        for key, claim in self.claims.items():
            users = claim.status.reserved_for if claim.status is not None else []
            if claim.metadata.namespace == namespace and [user.name for user in users] == [pod]:
                yield key

    def differing(self, claims: Iterable[ResourceClaim]) -> dict[str, ResourceClaim | None]:
        """Those of `claims` that have other devices than in the beginning; None for those that are gone with theirs."""
        now = {claim.key: claim for claim in claims}
        gone = dict.fromkeys(key for key in self.claims.keys() - now.keys() if self.claims[key].allocation is not None)
        return {**gone, **{key: claim for key, claim in now.items() if not _same(self.claims.get(key), claim)}}


class Moments:
    """A picture that goes on: each time it is asked, it tells what is another than it was the time before."""

    def __init__(self, beginning: Beginning) -> None:
        self._beginning = beginning
        self._claims: dict[str, ResourceClaim | None] = {}
        self._by_pool: dict[PoolName, dict[str, ResourceClaim]] = {}
        self._drawn: dict[tuple[int, int], ScenePool] = {}
        """What has changed since the beginning: claims, those of a pool, and pools by place and number."""
        self._evicted: set[tuple[str, str]] = set()
        """Namespace and name of pods that are evicted, whose claims may keep their devices."""

    def change(self, to: Mapping[str, ResourceClaim | None], evicted: Iterable[tuple[str, str]] = ()) -> PictureChange:
        """These claims are now as given, None for one that has no devices any more; these pods are evicted from now."""
        self._evicted.update(evicted)
        touched = dict.fromkeys(name for key, claim in to.items() for name in self._put(key, claim))
        made = PictureChange()
        for name in touched:
            for place, number in self._beginning.places.get(name, ()):
                self._redraw(made, place, number, self._by_pool[name].values())
        return made

    def become(self, claims: Iterable[ResourceClaim]) -> PictureChange:
        """From now these are all the claims that there are."""
        now = {claim.key: claim for claim in claims}
        before: dict[str, ResourceClaim | None] = {**self._beginning.claims, **self._claims}
        gone = dict.fromkeys(key for key, claim in before.items() if key not in now and _pools_of(claim))
        return self.change({**gone, **{key: claim for key, claim in now.items() if not _same(before.get(key), claim)}})

    def devices(self, place: ScenePlace) -> Iterator[SceneDevice]:
        """The devices of a place as they are now."""
        for number, pool in enumerate(place.pools):
            yield from self._drawn.get((place.number, number), pool).devices

    def _put(self, key: str, claim: ResourceClaim | None) -> Iterator[PoolName]:
        """Keeps what a claim has; the pools that it had devices of, or has."""
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
        """The device, with those of its pods that are evicted."""
        users = ((held.namespace, pod) for held in device.holders for pod in held.pods)
        gone = ["/".join(user) for user in users if user in self._evicted]
        return replace(device, note=kept_by(gone)) if gone else device


def kept_by(pods: list[str]) -> str:
    """What is said of a device whose pods are evicted, while the claim keeps it."""
    return f"still held, though {words.listed(pods)} {'is' if len(pods) == 1 else 'are'} evicted"


def _pools_of(claim: ResourceClaim | None) -> list[PoolName]:
    if claim is None or claim.allocation is None:
        return []
    return list(dict.fromkeys((result.driver, result.pool) for result in claim.allocation.devices.results))


def _same(before: ResourceClaim | None, now: ResourceClaim) -> bool:
    """Whether a claim has the same devices as before, or none in both."""
    return before is now or (before.allocation if before is not None else None) == now.allocation


GOOD, BAD, OTHER = "good", "bad", "other"
"""How something ended, for its colour."""


@dataclass
class Mark:
    """What a pick says of a place: a word and its tone, more words, devices that it gets, and why others are none.

    `harms` are devices in use whose holders suffer from what is picked, with what becomes of these.
    """

    tone: str
    label: str
    message: str = ""
    gets: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    harms: dict[int, str] = field(default_factory=dict)


class MarkLists:
    """Marks of a scene by number: picks that share the same have the same number."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self._known: dict[int, int] = {}

    def at(self, marks: dict[int, Mark], texts: Texts) -> int:
        """The number of the marks, which have to live on: they are known by their identity."""
        number = self._known.get(id(marks))
        if number is None:
            number = self._known[id(marks)] = len(self.all)
            self.all.append({str(at): _plain(mark, texts) for at, mark in marks.items()})
        return number


@dataclass
class Pick:
    """Something to pick: `line` says in short how it ended. `marks` are those of each scene, by place.

    With a slider, `change` is what is another from then on, and `step` the number of picks whose changes it is shown
    after, if not those before it. `moment` is the number of the page's moment that it is shown in, if that is known.
    `ways` are the nodes that pods leave, each with the one that they go to.
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
    """Whether it gets its devices on one node instead of on another one."""
    step: int | None = None
    ways: Sequence[tuple[str, str]] = ()

    def plain(self, texts: Texts, marks: MarkLists) -> dict[str, Any]:
        """What the script needs; marks by the number of their list."""
        return {
            "key": self.key,
            "name": shown.printable(self.name),
            "tone": self.tone,
            "word": shown.printable(self.word),
            "line": shown.printable(self.line),
            "marks": [marks.at(scene, texts) for scene in self.marks],
            "change": self.change.plain(texts) if self.change is not None else None,
            "moment": self.moment,
            "each_alone": self.each_alone,
            "step": self.step,
            "ways": [[texts.at(one), texts.at(other), number] for (one, other), number in Counter(self.ways).items()],
        }


def _plain(mark: Mark, texts: Texts) -> list[Any]:
    gets = {str(at): texts.at(request) for at, request in mark.gets.items()}
    notes = {str(at): texts.at(note) for at, note in mark.notes.items()}
    harms = {str(at): texts.at(harm) for at, harm in mark.harms.items()}
    return [mark.tone, texts.at(mark.label), texts.at(mark.message), gets, notes, harms]


_OUTCOMES = {
    "Fits": (GOOD, "fits"),
    "DoesNotFit": (BAD, "does not fit"),
    "NodeError": (BAD, "error"),
    "Error": (BAD, "error"),
    "Undecided": (OTHER, "undecided"),
    "Excluded": (OTHER, "not for this pod"),
}


def outcome(word: str) -> tuple[str, str]:
    """The tone of an outcome, and its words."""
    return _OUTCOMES.get(word, (OTHER, word))


def marks(answers: Mapping[str, AnswerOnNode], scene: Scene) -> dict[int, Mark]:
    """What the answers of one claim set say of each place; of a pool that nodes share, what the first fitting one."""
    made: dict[int, Mark] = {}
    shared: dict[int, Mark] = {}
    for name, answer in answers.items():
        place = scene.by_node.get(name)
        if place is None:
            continue
        tone, label = outcome(answer.outcome)
        message = answer.message or (words.phrase(answer.reason) if answer.reason is not None else "")
        mark = made[place.number] = Mark(tone, label, message)
        for device, request in answer.gets if answer.outcome == "Fits" else ():
            at = _found(scene, device)
            if at is None:
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
    for each in answer.refused:
        said = _why(each.check) if len(requests) == 1 else f"{each.request}: {_why(each.check)}"
        for device in each.devices:
            told.setdefault(device, []).append(said)
    if answer.outcome == "Fits":
        return
    for device, reasons in told.items():
        at = _found(scene, device)
        if at is None or len(reasons) < len(requests):
            continue
        where, position = at
        notes = mark.notes if where is place else shared.setdefault(where.number, Mark(OTHER, "")).notes
        notes.setdefault(position, "; ".join(dict.fromkeys(reasons)))


def _why(check: Any) -> str:
    if check.code == "selector-false":
        return f"{words.selector(check.selector, check.class_)} is false"
    return removed(check)


def _found(scene: Scene, device: DeviceID) -> tuple[ScenePlace, int] | None:
    found = scene.by_device.get(str(device))
    return None if not found else (scene.home[id(found[0])], found[0].at)
