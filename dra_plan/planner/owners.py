"""The owners that a question names: how names are read, which objects they refer to, and what state these are in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from dra_plan import claims
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice, ObjectKey
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.quantity import QuantityError, make, parse
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index, owner_of, template_spec
from dra_plan.claims.owners import DEPLOYMENT, controller_names, deployment_of, ended, is_over, is_waiting
from dra_plan.claims.pod_claims import PodClaimError, claim_name
from dra_plan.claims.sets import ClaimSet, Expansion, Owner, joined
from dra_plan.documents.base import ClaimName, ObjectName, claim_allocation
from dra_plan.documents.claim_sets import AskedResource, PlannedClaim, UnplannedOwner
from dra_plan.errors import UsageError
from dra_plan.manifests import kinds
from dra_plan.near import misspelt, nearest
from dra_plan.planner.question import Question
from dra_plan.planner.waiting_containers import waiting_containers
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import class_names
from dra_plan.scheduler.cluster.pod_requests import exact_requests
from dra_plan.wording import listed

CLAIM, POD, NODE = "ResourceClaim", "Pod", "Node"

EXTENDED_RESOURCES = "DRAExtendedResource"
"""The feature gate for extended resources provided by device classes."""


_OWNERS = ("pods", "workloads", "claims")
"""The attributes of the inventory that contain objects that a user can name."""


_MOST_PODS = 3
"""The number of pods that a message names if their owner is missing from the input."""


class UnknownOwnerError(UsageError):
    """The error raised if no object has a given name."""


class OwnerName(NamedTuple):
    """One way to read a name.

    `kind` and `namespace` are in lower case, and "" if the name does not contain them.
    """

    kind: str
    namespace: str
    name: str


class Known:
    """The objects of an input that a user can name."""

    def __init__(self, inventory: Inventory, made: Collection[ObjectKey] = ()) -> None:
        """Collect the objects. `made` are claims that are not in the input but would be created for its pods."""
        self._inventory, self._made, self._pods = inventory, made, inventory.pods
        self.empty = "".join(f"; {notice.message}" for notice in inventory.notices if notice.code == "file-empty")
        self.nodes = {node.metadata.name.lower(): node.metadata.name for node in inventory.nodes}
        self._kinds = {
            form: kind.lower()
            for kind in {workload.kind for workload in inventory.workloads}
            for form in (kind.lower(), f"{kind.lower()}s", f"{kind.lower()}es")
        }

    @property
    def _objects(self) -> Iterator[Pod | AnyWorkload | ResourceClaim]:
        return chain(self._inventory.pods, self._inventory.workloads, self._inventory.claims)

    @cached_property
    def keys(self) -> list[ObjectKey]:
        """The keys of the objects, in input order."""
        return list(dict.fromkeys([*map(_key, self._objects), *self._made]))

    def named(self, names: Container[str]) -> list[ObjectKey]:
        """Return the keys of the objects with these names, in input order. The names must be in lower case."""
        found = (_key(each) for each in self._objects if each.metadata.name.lower() in names)
        made = (key for key in self._made if key[2].lower() in names)
        return list(dict.fromkeys(chain(found, made)))

    def kind(self, word: str) -> str:
        """Return the kind, in lower case, for a word that kubectl accepts, or "" if the word is unknown.

        kubectl accepts the name of a kind, its plural and its short names.
        """
        found = kinds.named(word)
        if found is not None:
            return found.name.lower()
        return self._kinds.get(word.lower().partition(".")[0], "")

    def pending(self, namespace: str | None) -> list[str]:
        """Return the pods without a node as pod/NAME, optionally only those in a namespace."""
        wanted = (namespace or "").lower()
        pods = (
            pod for pod in self._inventory.pods if is_waiting(pod) and wanted in ("", pod.metadata.namespace.lower())
        )
        return [f"pod/{pod.metadata.name}" for pod in pods]

    def pods_of(self, reading: OwnerName, namespace: str | None) -> list[Pod]:
        """Return the pods whose controller or Deployment has this name, even if the controller is not in the input."""
        wanted = reading.namespace or (namespace or "").lower()
        return [
            pod
            for pod in self._pods
            if wanted in ("", pod.metadata.namespace.lower())
            and any(
                name.lower() == reading.name and reading.kind in ("", kind.lower())
                for kind, name in controller_names(pod.metadata)
            )
        ]


def split(given: Iterable[str], known: Known) -> Iterator[tuple[str, list[OwnerName]]]:
    """Yield each argument with the ways to read it, the most likely one first.

    `po x y` names the pods x and y. `x`, `pod/x`, `NAMESPACE/x` and `pod/NAMESPACE/x` each name one object.
    """
    words = [word for text in given for word in text.split() or [text]]
    kind = ""
    if len(words) > 1 and "/" not in words[1]:
        kind = known.kind(words[0])
    for word in words[1:] if kind else words:
        yield (f"{words[0]}/{word}" if kind and "/" not in word else word), list(_readings(word, kind, known))


def _readings(word: str, kind: str, known: Known) -> Iterator[OwnerName]:
    parts = word.lower().split("/")
    if not all(parts):
        return
    if len(parts) == 1:
        yield OwnerName(kind, "", parts[0])
    elif len(parts) == 2:
        if known.kind(parts[0]):
            yield OwnerName(known.kind(parts[0]), "", parts[1])
        yield OwnerName("", parts[0], parts[1])
    elif len(parts) == 3 and known.kind(parts[0]):
        yield OwnerName(known.kind(parts[0]), parts[1], parts[2])


def find(given: Iterable[str], known: Known, namespace: str | None) -> list[ObjectKey]:
    """Return the keys of the named objects in input order, without duplicates.

    `namespace` applies to names without a namespace; without it, such names refer to all namespaces. Raises
    UnknownOwnerError if no object has one of the names. The message suggests the same name in another namespace, or a
    similar name.
    """
    asked = list(split(given, known))
    there = known.named({reading.name for _, readings in asked for reading in readings})
    by_name: dict[str, list[ObjectKey]] = defaultdict(list)
    for key in there:
        by_name[key[2].lower()].append(key)
    found: set[ObjectKey] = set()
    unknown: list[str] = []
    for text, readings in asked:
        here = next((keys for each in readings if (keys := _matching(each, by_name[each.name], namespace))), [])
        found.update(here)
        if not here:
            named = by_name[readings[0].name] if readings else []
            unknown.append(_unknown(text, readings, named, known, namespace))
    if unknown:
        raise UnknownOwnerError.of_lines(unknown)
    return [key for key in there if key in found]


def _matching(reading: OwnerName, named: Iterable[ObjectKey], namespace: str | None) -> list[ObjectKey]:
    wanted = reading.namespace or (namespace or "").lower()
    return [key for key in named if reading.kind in ("", key[0].lower()) and wanted in ("", key[1].lower())]


def _unknown(
    text: str, readings: Sequence[OwnerName], named: Sequence[ObjectKey], known: Known, namespace: str | None
) -> str:
    if not readings:
        return f"{text!r} is not a name: expected NAME, KIND/NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME"
    reading = readings[0]
    what = f"{reading.kind or 'file, pod, workload or claim'} is named {reading.name!r}"
    where = reading.namespace or namespace
    told = f"no {what}" + (f" in namespace {where}" if where else "")
    if reading.kind == NODE.lower() and reading.name in known.nodes:
        return f"{text}: expected a pod, workload or claim; to choose the node, use --node {known.nodes[reading.name]}"
    if (kind := kinds.named(reading.kind)) is not None and kind.holder not in _OWNERS:
        return f"{text}: expected a pod, workload or claim"
    if not reading.kind and known.kind(reading.name):
        waiting = known.pending(where)
        names = f" ({listed(waiting)})" if waiting else ""
        return f"{text!r} is a kind, not a name: leave out the kind to ask about everything that is pending{names}"
    if pods := known.pods_of(reading, namespace):
        return f"{told}, but {_pods_told(pods)}"
    if named:
        there = ", ".join(map(_form, named[:3]))
        return f"{told}; there is {there}"
    near = _near(text, reading, known, namespace)
    return told + (f" (did you mean {near}?)" if near else "") + known.empty


def _pods_told(pods: Sequence[Pod]) -> str:
    """Return the part of a message about a missing owner's existing pods.

    The message names one of the pods, or the waiting pods.
    """
    waiting = [f"pod/{pod.metadata.name}" for pod in pods if is_waiting(pod)]
    number = len(pods)
    told = f"{number} pod{'' if number == 1 else 's'} that it controls {'is' if number == 1 else 'are'} in the input"
    if not waiting:
        return f"{told}: name {'it' if number == 1 else 'one of them'} instead, pod/{pods[0].metadata.name}"
    more = f" and {len(waiting) - _MOST_PODS} more" if len(waiting) > _MOST_PODS else ""
    return f"{told}; not scheduled: {', '.join(waiting[:_MOST_PODS])}{more}"


def _near(text: str, reading: OwnerName, known: Known, namespace: str | None) -> str:
    """Return a similar name that exists. It includes its kind and namespace if they differ from the requested ones."""
    wanted = reading.namespace or (namespace or "").lower()
    fitting = [
        name for kind, where, name in known.keys if reading.kind in ("", kind.lower()) and wanted in ("", where.lower())
    ]
    if near := nearest(reading.name, fitting):
        return repr(_as_given(text, near))
    near = nearest(reading.name, (key[2] for key in known.keys))
    return next((_form(key) for key in known.keys if key[2] == near), "")


def _key(of: Pod | AnyWorkload | ResourceClaim) -> ObjectKey:
    return of.kind, of.metadata.namespace, of.metadata.name


def _form(key: ObjectKey) -> str:
    kind, namespace, name = key
    return f"{kind.lower()}/{name} in namespace {namespace}"


def _as_given(text: str, name: str) -> str:
    before, slash, _ = text.rpartition("/")
    return f"{before}{slash}{name}"


class ChosenSets(Struct, frozen=True):
    """The claim sets to plan, and the named owners for which there is nothing to plan."""

    expansion: Expansion
    unplanned: tuple[UnplannedOwner, ...] = ()


def choose_sets(inventory: Inventory, target: Target, question: Question) -> ChosenSets:
    """Return the claim sets of the named owners or, if none are named, those that `-n` and `-l` select.

    A named pod or workload is planned even if it has a controller. A named claim is planned together with its users. If
    `together` is set, all claims form one set. Raises UsageError for names that no object has.
    """
    if not question.owners and question.names_groups:
        return ChosenSets(Expansion([], []))
    if not question.owners:
        return ChosenSets(
            claims.expand(
                inventory,
                namespace=question.namespace,
                selector=question.selector,
                together=question.together,
                group_claims=target.features.group_claims,
            )
        )
    _check_choice(question)
    index = Index(inventory)
    states = OwnerStates(index, target)
    group_claims = target.features.group_claims
    named = _named(inventory, index, states, question, group_claims=group_claims)
    unplanned = {key: state for key in named if (state := states.of(key)) is not None}
    planned = frozenset(named) - unplanned.keys()
    expansion = claims.expand(inventory, named=planned, group_claims=group_claims, index=index)
    if question.together:
        expansion = Expansion([joined(expansion.sets)], expansion.notices)
    return ChosenSets(expansion, tuple(unplanned.values()))


def chosen_pods(inventory: Inventory, target: Target, question: Question) -> PodChoice | None:
    """Return a choice of the named pods and the pods of the named workloads, or None if no names are given.

    Raises UsageError for names that no object has.
    """
    if not question.owners:
        return None
    _check_choice(question)
    index = Index(inventory)
    states, group_claims = OwnerStates(index, target), target.features.group_claims
    return PodChoice(index, frozenset(_named(inventory, index, states, question, group_claims=group_claims)))


class PodChoice:
    """A choice of named pods and workloads. It includes pods that are created later for these workloads."""

    def __init__(self, index: Index, named: frozenset[ObjectKey]) -> None:
        self._index, self._named = index, named

    def __call__(self, pod: Pod) -> bool:
        """Return whether the user named the pod or a workload that controls it."""
        return any(map(self._is_named, (pod, *self._index.owners.above(pod.metadata))))

    def _is_named(self, obj: Pod | AnyWorkload) -> bool:
        metadata = obj.metadata
        names = ((obj.kind, metadata.name), (DEPLOYMENT, deployment_of(metadata)))
        return any((kind, metadata.namespace, name) in self._named for kind, name in names)

    def has_claim(self, namespace: str, name: str) -> bool:
        """Return whether the user named the claim."""
        return (CLAIM, namespace, name) in self._named


def _check_choice(question: Question) -> None:
    if question.selector is not None:
        raise UsageError("names and a label selector (-l) cannot be combined")


def _named(
    inventory: Inventory, index: Index, states: OwnerStates, question: Question, *, group_claims: bool
) -> list[ObjectKey]:
    """Return the objects to which the names refer.

    For a pending claim, return its users if one of these can be planned.
    """
    waiting = [owner_of(pod) for pod in inventory.pods if is_waiting(pod)]
    working = [owner_of(workload) for workload in inventory.workloads if not is_over(workload)]
    expanded = claims.expand(inventory, named={*waiting, *working}, group_claims=group_claims, index=index).sets
    made = {(CLAIM, c.metadata.namespace, c.metadata.name): one for one in expanded for c in one.claims}
    found: dict[ObjectKey, None] = {}
    for key in find(question.owners, Known(inventory, made), question.namespace):
        users = _users(key, index, made) if key[0] == CLAIM else []
        users = [user for user in users if states.of(user) is None]
        found.update(dict.fromkeys(users if users and states.of(key) is None else [key]))
    return list(found)


def _users(claim: ObjectKey, index: Index, made: dict[ObjectKey, ClaimSet]) -> list[Owner]:
    _, namespace, name = claim
    owner = made[claim].owner if claim in made else None
    return list(index.used_claims.get((namespace, name), ())) or ([owner] if owner is not None else [])


_BINARY = ("memory", "ephemeral-storage", "hugepages-")


_NANO = -9


class OwnerStates:
    """The reasons why named owners have nothing to plan, for example because a pod already has a node."""

    def __init__(self, index: Index, target: Target) -> None:
        self._index, self._target = index, target
        inventory = index.inventory
        self._owners = {_key(found): found for found in (*inventory.workloads, *inventory.pods)}

    def of(self, key: ObjectKey) -> UnplannedOwner | None:
        """Return why there is nothing to plan for the object, or None if some of its claims still need devices."""
        kind, namespace, name = key
        if kind == CLAIM:
            claim = self._index.claim(namespace, name)
            return self._of_claim(claim) if claim is not None else None
        found = self._owners.get(key)
        if isinstance(found, Pod):
            return self._of_pod(found)
        return self._of_workload(found) if found is not None else None

    def _of_pod(self, pod: Pod) -> UnplannedOwner | None:
        owner = _name(pod.kind, pod.metadata)
        if ended(pod):
            return UnplannedOwner(owner=owner, state="Finished", phase=pod.status.phase, node_name=pod.spec.node_name)
        if pod.metadata.deletion_timestamp:
            return _deleting(owner, pod.metadata, node_name=pod.spec.node_name)
        if pod.spec.node_name:
            return self._bound(pod, owner)
        if pod.spec.resource_claims:
            return None
        return UnplannedOwner(owner=owner, state="WithoutClaims", asks=list(self._asks(pod)))

    def _bound(self, pod: Pod, owner: ObjectName) -> UnplannedOwner:
        found = list(self._claims(pod))
        return UnplannedOwner(
            owner=owner,
            state="Bound",
            node_name=pod.spec.node_name,
            claims=[_allocated(claim) for _, claim in found if claim is not None and claim.allocation is not None],
            pending_claims=[_claim(claim) for _, claim in found if claim is not None and claim.allocation is None],
            missing_claims=[entry for entry, claim in found if claim is None],
            asks=[] if pod.spec.resource_claims else list(self._asks(pod)),
            waiting=list(waiting_containers(pod)),
        )

    def _claims(self, pod: Pod) -> Iterator[tuple[str, ResourceClaim | None]]:
        """Yield the pod's entries that need a claim, with the claims, including the claim for extended resources."""
        namespace = pod.metadata.namespace
        for entry in pod.spec.resource_claims:
            try:
                name = claim_name(pod, entry)
            except PodClaimError:
                yield entry.name, self._index.generated_claims.of(pod, entry.name)
                continue
            if name is not None:
                yield entry.name, self._index.claim(namespace, name)
        special = pod.status.extended_resource_claim_status
        if special is not None and special.resource_claim_name:
            yield special.resource_claim_name, self._index.claim(namespace, special.resource_claim_name)

    def _of_workload(self, workload: AnyWorkload) -> UnplannedOwner | None:
        owner = _name(workload.kind, workload.metadata)
        if workload.metadata.deletion_timestamp:
            return _deleting(owner, workload.metadata)
        if is_over(workload):
            return UnplannedOwner(owner=owner, state="Finished")
        spec = template_spec(workload)
        if spec.resource_claims:
            return None
        return UnplannedOwner(owner=owner, state="WithoutClaims", asks=list(self._asks(Pod(spec=spec))))

    def _of_claim(self, claim: ResourceClaim) -> UnplannedOwner | None:
        owner = _name(claim.kind, claim.metadata)
        if claim.metadata.deletion_timestamp:
            return _deleting(owner, claim.metadata)
        if claim.allocation is None:
            return None
        namespace = claim.metadata.namespace
        reserved = claim.reserved_for
        users = [ObjectName(kind=_kind(who.resource), namespace=namespace, name=who.name) for who in reserved]
        return UnplannedOwner(owner=owner, state="Allocated", claims=[_allocated(claim)], used_by=users)

    def _asks(self, pod: Pod) -> Iterator[AskedResource]:
        """Yield the amounts that the pod requests from its node, by name; nothing if a quantity can't be read."""
        try:
            requests = exact_requests(pod)
        except QuantityError:
            return
        for name, nano in sorted(requests.items()):
            if nano > 0:
                served, offering = self._classes.get(name, ""), self._offering.get(name, {})
                nodes = sum(offering.values())
                gated = self._gated_classes.get(name, "")
                near = misspelt(name, self._classes) if "/" in name and not served and not nodes else None
                yield AskedResource(
                    name=name,
                    amount=make(nano, _NANO, "BinarySI" if name.startswith(_BINARY) else "DecimalSI").text,
                    device_class=served,
                    nodes=nodes,
                    near=near or "",
                    near_class=self._classes[near] if near is not None else "",
                    gate=EXTENDED_RESOURCES if gated else "",
                    gated_class=gated,
                    emptied=[] if nodes else list(offering),
                )

    @cached_property
    def _classes(self) -> Mapping[str, str]:
        """Return the device class that serves each extended resource; empty if the feature gate is off."""
        return self._naming if self._target.features.extended_resources else {}

    @cached_property
    def _gated_classes(self) -> Mapping[str, str]:
        """Return the device class that would serve each extended resource, if only the feature gate is off."""
        return self._naming if self._target.gates.get(EXTENDED_RESOURCES) is False else {}

    @cached_property
    def _naming(self) -> Mapping[str, str]:
        lost = self._target.quirks.losing_class_loses_implicit_name
        return class_names(self._index.inventory.classes, loser_loses_implicit=lost)

    @cached_property
    def _offering(self) -> dict[str, dict[str, bool]]:
        """Return, by resource, whether each node that advertises it has some."""
        found: dict[str, dict[str, bool]] = {}
        for node in self._index.inventory.nodes:
            for name, amount in node.status.allocatable.items():
                try:
                    found.setdefault(name, {})[node.metadata.name] = parse(amount).sign > 0
                except QuantityError:
                    continue
        return found


def _deleting(owner: ObjectName, metadata: ObjectMeta, *, node_name: str = "") -> UnplannedOwner:
    return UnplannedOwner(owner=owner, state="Deleting", node_name=node_name, finalizers=metadata.finalizers or [])


def notice(of: UnplannedOwner) -> Notice:
    """Return the warning that the owner is not planned."""
    name = f"{of.owner.kind} {of.owner.namespace}/{of.owner.name}"
    return Notice("not-planned", f"nothing to plan: {_SAID[of.state](of)}", name)


_SAID: dict[str, Callable[[UnplannedOwner], str]] = {
    "Bound": lambda of: f"it already runs on {of.node_name} (`explain` lists its devices)",
    "Finished": lambda of: f"it has finished{f' ({of.phase})' if of.phase else ''}",
    "Deleting": lambda _of: "it is being deleted",
    "Allocated": lambda _of: "it already has its devices (`explain` lists them)",
    "WithoutClaims": lambda _of: "it has no claims (`explain` says what it requests instead)",
}


def _name(kind: str, metadata: ObjectMeta) -> ObjectName:
    return ObjectName(kind=kind, namespace=metadata.namespace, name=metadata.name)


def _claim(claim: ResourceClaim) -> ClaimName:
    return ClaimName(namespace=claim.metadata.namespace, name=claim.metadata.name)


def _allocated(claim: ResourceClaim) -> PlannedClaim:
    assert claim.allocation is not None
    metadata = claim.metadata
    return PlannedClaim(namespace=metadata.namespace, name=metadata.name, allocation=claim_allocation(claim.allocation))


def _kind(resource: str) -> str:
    from dra_plan.manifests import kinds

    found = kinds.named(resource)
    return found.name if found is not None else resource


_GROUP = "podgroup"


def tell_groups_apart(
    inventory: Inventory, owners: Iterable[str], namespace: str | None
) -> tuple[list[PodGroup], tuple[str, ...]]:
    """Return the named pod groups (podgroup/NAME, podgroup/NAMESPACE/NAME), and the other names.

    Raises UnknownOwnerError for a pod group that does not exist.
    """
    groups: dict[str, PodGroup] = {}
    others: list[str] = []
    for text, readings in split(owners, Known(inventory)):
        if not readings or readings[0].kind != _GROUP:
            others.append(text)
            continue
        found = _find_group(inventory.pod_groups, readings[0], namespace)
        groups |= {group.key: group for group in found}
    return list(groups.values()), tuple(others)


def _find_group(groups: Sequence[PodGroup], reading: OwnerName, namespace: str | None) -> list[PodGroup]:
    wanted = reading.namespace or (namespace or "").lower()
    found = [
        group
        for group in groups
        if group.metadata.name.lower() == reading.name and wanted in ("", group.metadata.namespace.lower())
    ]
    if not found:
        where = f" in namespace {wanted}" if wanted else ""
        near = nearest(reading.name, (group.metadata.name for group in groups))
        meant = f" (did you mean '{_GROUP}/{near}'?)" if near else ""
        raise UnknownOwnerError(f"no {_GROUP} is named {reading.name!r}{where}{meant}")
    return found
