"""Random clusters that are hard on the search: few devices, many ways to fail, and every feature that pruning minds.

Unlike `model`, nothing here needs to be understood by an oracle, so any object goes.
"""

from __future__ import annotations

import json
import random
from typing import Any

DRIVERS = ("a.example.com", "b.example.com")
NUMA = "example.org/numa"
GROUP = "example.org/group"


def random_objects(seed: int) -> list[dict[str, Any]]:
    """One cluster with pending claims; the same for the same seed."""
    return _Maker(random.Random(seed)).objects()


def random_fleet(seed: int) -> list[dict[str, Any]]:
    """A dozen nodes of two or three kinds, which differ in what is allocated, with pending claims."""
    return _Maker(random.Random(seed)).fleet()


def crowded_objects(seed: int) -> list[dict[str, Any]]:
    """One node with a few groups of devices, and claims that each want theirs from one group."""
    return _Maker(random.Random(seed)).crowd()


def diverse_objects(seed: int) -> list[dict[str, Any]]:
    """One node with devices of few values, and claims whose requests for several devices are to differ in them."""
    return _Maker(random.Random(seed)).diverse()


def leaky_objects(seed: int) -> list[dict[str, Any]]:
    """One node with partitions, some of them tainted, and claims for more of them than there are, or nearly."""
    return _Maker(random.Random(seed)).leaky()


def packed_objects(seed: int) -> list[dict[str, Any]]:
    """One node with a few shared devices and partitions, and claims that use them up, or nearly."""
    return _Maker(random.Random(seed)).packed()


class _Maker:
    def __init__(self, r: random.Random) -> None:
        self.r = r
        # What a cluster has at all is drawn first, so that most cases combine a few features and some many.
        self.has = {
            name: r.random() < chance
            for name, chance in {
                "counters": 0.6,
                "taints": 0.4,
                "shared": 0.4,
                "constraints": 0.7,
                "alternatives": 0.4,
                "all": 0.3,
                "admin": 0.25,
                "missing": 0.25,
                "lists": 0.15,
                "allocated": 0.4,
                "copies": 0.5,
                "large": 0.1,
            }.items()
        }

    def objects(self) -> list[dict[str, Any]]:
        r = self.r
        nodes = [f"n{index}" for index in range(r.choice([1, 1, 2]))]
        out = [_object("v1", "Node", name, None) for name in nodes]
        out += _classes()
        slices = [piece for node in nodes for piece in self._pools(node)]
        out += slices
        for index in range(r.choice([1, 1, 2, 3])):
            out.append(_dra("ResourceClaim", f"c{index}", self._claim(), namespace="ns"))
        if self.has["allocated"]:
            out += self._allocated(slices)
        return out

    def fleet(self) -> list[dict[str, Any]]:
        r = self.r
        nodes = [f"n{index:02}" for index in range(12)]
        kinds = [self._pools("KIND") for _ in range(r.choice([1, 2, 3]))]
        out = [_object("v1", "Node", name, None) for name in nodes]
        out += _classes()
        slices = []
        for name in nodes:
            written = json.dumps(r.choice(kinds)).replace("KIND", name if r.random() < 0.9 else "n00-x")
            slices += json.loads(written)
        known = {piece["metadata"]["name"]: piece for piece in slices}
        out += known.values()
        if r.random() < 0.15:
            out += self._network(len(slices))
        for index in range(r.choice([1, 1, 2])):
            out.append(_dra("ResourceClaim", f"c{index}", self._claim(), namespace="ns"))
        return out + self._allocated(list(known.values()))

    def crowd(self) -> list[dict[str, Any]]:
        r = self.r
        # Plain devices, most of the time: what else they can be keeps claims from being counted at all.
        rare = {"all", "admin", "missing", "lists", "shared", "large"}
        self.has = {name: has and (name not in rare or r.random() < 0.15) for name, has in self.has.items()}
        out = [_object("v1", "Node", "n0", None), *_classes()]
        each, groups = r.choice([2, 3, 3, 3, 5]), r.choice([2, 2, 3])
        slices = []
        for driver in DRIVERS:
            devices = [self._device(f"d{index}", {}) for index in range(groups * (each if driver == DRIVERS[0] else 2))]
            for index, device in enumerate(devices):
                if r.random() < 0.97:
                    device["attributes"] = {**device["attributes"], GROUP: {"int": index * groups // len(devices)}}
            pool = {"name": "n0", "generation": 1, "resourceSliceCount": 1}
            spec = {"driver": driver, "nodeName": "n0", "pool": pool, "devices": devices}
            slices.append(_dra("ResourceSlice", driver[0], spec))
        claims = [self._crowded_claim(each) for _ in range(groups + r.choice([0, 1, 1]))]
        out += [_dra("ResourceClaim", f"c{index}", claim, namespace="ns") for index, claim in enumerate(claims)]
        return [*out, *slices, *(self._allocated(slices) if self.has["allocated"] else ())]

    def _crowded_claim(self, each: int) -> dict[str, Any]:
        """Some devices of each driver, all of one group."""
        r = self.r
        requests = []
        for index, driver in enumerate(DRIVERS[: r.choice([1, 2])]):
            count = each // 2 + r.choice([0, 1, 1, 1]) if index == 0 else 1
            exactly = {"deviceClassName": driver, "allocationMode": "ExactCount", "count": count}
            requests.append({"name": f"r{index}", "exactly": exactly})
        if r.random() < 0.2:
            requests.append(self._request("more"))
        constraints = [
            {"matchAttribute": GROUP, "requests": self._some(requests)} for _ in range(r.choice([1, 1, 1, 2]))
        ]
        return {"devices": {"requests": requests, "constraints": constraints}}

    def diverse(self) -> list[dict[str, Any]]:
        r = self.r
        self.has |= dict.fromkeys(("missing", "lists", "shared"), r.random() < 0.1)
        values = r.choice([2, 3, 3, 4])
        devices = [self._device(f"d{index}", {}) for index in range(r.randint(values, 9))]
        for device in devices:
            for name in (NUMA, GROUP):
                if "int" in device["attributes"].get(name, ()):
                    device["attributes"][name] = {"int": r.randrange(values)}
        claims = []
        for _ in range(r.choice([1, 1, 2])):
            requests = [self._simple(f"r{number}", r.choice([1, 1, 2, 3])) for number in range(r.randint(1, values))]
            constraints = [{"distinctAttribute": NUMA, "requests": self._some(requests)}]
            if r.random() < 0.6:
                kind = r.choice(["matchAttribute", "distinctAttribute"])
                constraints.append({kind: GROUP, "requests": self._some(requests)})
            r.shuffle(constraints)
            claims.append({"devices": {"requests": requests, "constraints": constraints}})
        return self._one_node(devices, {}, claims)

    def leaky(self) -> list[dict[str, Any]]:
        r = self.r
        self.has |= {"taints": True, "lists": False, "shared": r.random() < 0.15}
        sets = {f"s{index}": {"m": r.randint(4, 9), "c": r.randint(5, 9)} for index in range(r.choice([1, 2, 2, 3]))}
        devices = [self._device(f"{name}-{index}", {name: sets[name]}) for name in sets for index in range(5)]
        for device in devices:
            if r.random() < 0.5:
                device.pop("taints", None)
        claims = []
        for _ in range(r.choice([1, 2, 2, 3])):
            requests = [self._simple(f"r{number}", r.choice([1, 1, 2])) for number in range(r.choice([1, 2, 2]))]
            constraints = [{r.choice(["matchAttribute", "distinctAttribute"]): GROUP}] if r.random() < 0.3 else []
            claims.append({"devices": {"requests": requests, "constraints": constraints}})
        return self._one_node(devices, sets, claims)

    def packed(self) -> list[dict[str, Any]]:
        r = self.r
        self.has |= dict.fromkeys(("taints", "lists", "counters", "missing"), False)
        sets = {f"s{index}": {"m": r.randint(4, 9)} for index in range(2)} if r.random() < 0.4 else {}
        devices = [self._device(f"d{index}", {}) for index in range(r.choice([2, 2, 3]))]
        for device in devices:
            device["allowMultipleAllocations"] = True
            total = r.randint(4, 10)
            device["capacity"] = {"mem": {"value": str(total), "requestPolicy": {"default": str(r.choice([1, 2, 3]))}}}
        devices += [self._device(f"{name}-{index}", {name: sets[name]}) for name in sets for index in range(3)]
        sizes = r.sample(range(2, 7), k=2)
        claims = []
        for _ in range(r.randint(2, 5)):
            request = self._simple("r", r.choice([1, 1, 2]))
            for exactly in request.get("firstAvailable", [request.get("exactly")]):
                exactly.pop("selectors", None)
                if r.random() < 0.9:
                    exactly["capacity"] = {"requests": {"mem": str(r.choice(sizes))}}
            constraints = [{r.choice(["matchAttribute", "distinctAttribute"]): GROUP}] if r.random() < 0.2 else []
            claims.append({"devices": {"requests": [request], "constraints": constraints}})
        return self._one_node(devices, sets, claims)

    def _simple(self, name: str, count: int) -> dict[str, Any]:
        """A request, at times with alternatives, that most devices could serve."""
        r = self.r
        options = []
        for _ in range(2 if self.has["alternatives"] and r.random() < 0.3 else 1):
            exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": count}
            if r.random() < 0.4:
                exactly["selectors"] = [_cel(r.choice(["model=A", "model=A", "model=B"]))]
            if self.has["taints"] and r.random() < 0.3:
                exactly["tolerations"] = [{"operator": "Exists"}]
            options.append(exactly)
        if len(options) > 1:
            return {"name": name, "firstAvailable": [{"name": f"o{k}", **one} for k, one in enumerate(options)]}
        return {"name": name, "exactly": options[0]}

    def _one_node(
        self, devices: list[dict[str, Any]], sets: dict[str, dict[str, int]], claims: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        base = {"driver": DRIVERS[0], "nodeName": "n0"}
        pool = {"name": "n0", "generation": 1, "resourceSliceCount": 2 if sets else 1}
        slices = [_dra("ResourceSlice", "a", {**base, "pool": pool, "devices": devices})]
        if sets:
            shared = [{"name": name, "counters": _amounts(counters)} for name, counters in sets.items()]
            slices.append(_dra("ResourceSlice", "b", {**base, "pool": pool, "sharedCounters": shared}))
        out = [_object("v1", "Node", "n0", None), *_classes(), *slices]
        out += [_dra("ResourceClaim", f"c{index}", claim, namespace="ns") for index, claim in enumerate(claims)]
        return out + (self._allocated(slices) if self.has["allocated"] else [])

    def _network(self, stem: int) -> list[dict[str, Any]]:
        """A pool that all nodes, or some of them, can reach."""
        spec = {"driver": DRIVERS[0], "pool": {"name": f"net-{stem}", "generation": 1, "resourceSliceCount": 1}}
        spec |= {"devices": [self._device(f"d{index}", {}) for index in range(3)], "allNodes": True}
        return [_dra("ResourceSlice", f"net-{stem}", spec)]

    # -- devices -------------------------------------------------------------------------------------------------

    def _pools(self, node: str) -> list[dict[str, Any]]:
        r = self.r
        names = [node, node, f"{node}-x"] if r.random() < 0.3 else [f"{node}-{k}" for k in range(3)]
        drivers = [r.choice(DRIVERS), r.choice(DRIVERS), r.choice(DRIVERS)]
        pools = dict.fromkeys(list(zip(drivers, names, strict=True))[: r.choice([1, 1, 2, 2, 3])])
        return [piece for driver, name in pools for piece in self._pool(driver, name, node)]

    def _pool(self, driver: str, name: str, node: str) -> list[dict[str, Any]]:
        r = self.r
        sets = {}
        if self.has["counters"] and r.random() < 0.8:
            names = r.choice([["m"], ["m", "c"]])
            total = {counter: r.randint(2, 7) for counter in names}
            for index in range(r.choice([1, 2, 3])):
                same = self.has["copies"] or r.random() < 0.3
                sets[f"s{index}"] = dict(total) if same else {counter: r.randint(1, 6) for counter in names}
        count = r.choice([2, 3, 4, 5, 6, 8, 10])
        if self.has["copies"] and sets:
            devices = self._copies(sets, count)
        else:
            devices = [self._device(f"d{index}", sets) for index in range(count)]
        base = {"driver": driver, "nodeName": node}
        pool = {"name": name, "generation": 1, "resourceSliceCount": 2 if sets else 1}
        stem = f"{driver[0]}-{node}-{name}".replace(".", "-")
        out = [_dra("ResourceSlice", f"{stem}-0", {**base, "pool": pool, "devices": devices})]
        if sets:
            shared = [{"name": s, "counters": _amounts(counters)} for s, counters in sets.items()]
            out.append(_dra("ResourceSlice", f"{stem}-1", {**base, "pool": pool, "sharedCounters": shared}))
        return out

    def _copies(self, sets: dict[str, dict[str, int]], count: int) -> list[dict[str, Any]]:
        """The same partitions for each counter set."""
        pattern = [self._device("", {"s0": sets["s0"]}) for _ in range(max(1, count // len(sets)))]
        out = []
        for index, name in enumerate(sets):
            for position, device in enumerate(pattern):
                copy = {**device, "name": f"{name}-{position}"}
                if "consumesCounters" in device:
                    copy["consumesCounters"] = [{**device["consumesCounters"][0], "counterSet": name}]
                if self.r.random() < 0.5:
                    copy["attributes"] = {**device["attributes"], GROUP: {"int": index}}
                out.append(copy)
        return out

    def _device(self, name: str, sets: dict[str, dict[str, int]]) -> dict[str, Any]:
        r = self.r
        attributes: dict[str, Any] = {"model": {"string": r.choice("AAB")}}
        if not self.has["missing"] or r.random() < 0.8:
            attributes[NUMA] = self._value(r.choice([0, 1, 1, 2]))
        if not self.has["missing"] or r.random() < 0.9:
            attributes[GROUP] = {"int": r.randint(0, 3)}
        device: dict[str, Any] = {"name": name, "attributes": attributes}
        if sets and r.random() < 0.85:
            chosen = r.sample(sorted(sets), k=min(len(sets), r.choice([1, 1, 1, 2])))
            device["consumesCounters"] = [
                {
                    "counterSet": s,
                    "counters": _amounts({c: r.choice([0, 1, 1, 2, 2, 3, 4]) for c in sets[s] if r.random() < 0.9}),
                }
                for s in chosen
            ]
        if self.has["taints"] and r.random() < 0.35:
            device["taints"] = [{"key": "bad", "effect": r.choice(["NoSchedule", "NoExecute", "None"])}]
        if self.has["shared"] and r.random() < 0.6:
            device["allowMultipleAllocations"] = True
        if r.random() < 0.5:
            device["capacity"] = {"mem": self._capacity(bool(device.get("allowMultipleAllocations")))}
        return device

    def _value(self, number: int) -> dict[str, Any]:
        r = self.r
        if not self.has["lists"] or r.random() < 0.4:
            return {"int": number}
        return {"ints": sorted({number, r.randint(0, 2)})}

    def _capacity(self, shared: bool) -> dict[str, Any]:
        r = self.r
        total = r.randint(2, 8)
        capacity: dict[str, Any] = {"value": str(total)}
        if shared and r.random() < 0.7:
            default = r.choice([0, *range(1, total + 1), *range(1, total + 1)])
            policy: dict[str, Any] = {"default": str(default)}
            if r.random() < 0.4:
                policy["validRange"] = {"min": "1", "max": str(total), "step": "1"}
            capacity["requestPolicy"] = policy
        return capacity

    # -- claims --------------------------------------------------------------------------------------------------

    def _claim(self) -> dict[str, Any]:
        r = self.r
        requests = [self._request(f"r{index}") for index in range(r.choice([1, 2, 2, 3]))]
        constraints = []
        if self.has["constraints"]:
            for _ in range(r.choice([0, 1, 1, 2])):
                kind = r.choice(["matchAttribute", "distinctAttribute"])
                constraints.append({kind: r.choice([NUMA, GROUP]), "requests": self._some(requests)})
        return {"devices": {"requests": requests, "constraints": constraints}}

    def _some(self, requests: list[dict[str, Any]]) -> list[str]:
        """Some of the requests, or single alternatives of them; empty for all."""
        r = self.r
        if r.random() < 0.5:
            return []
        names = []
        for request in r.sample(requests, k=r.randint(1, len(requests))):
            options = request.get("firstAvailable")
            whole = not options or r.random() < 0.6
            names.append(request["name"] if whole else f"{request['name']}/{r.choice(options)['name']}")
        return names

    def _request(self, name: str) -> dict[str, Any]:
        r = self.r
        if self.has["alternatives"] and r.random() < 0.5:
            return {
                "name": name,
                "firstAvailable": [{"name": f"o{k}", **self._exactly()} for k in range(r.choice([1, 2, 2, 3]))],
            }
        exactly = self._exactly()
        if self.has["admin"] and r.random() < 0.4:
            exactly["adminAccess"] = True
        return {"name": name, "exactly": exactly}

    def _exactly(self) -> dict[str, Any]:
        r = self.r
        out: dict[str, Any] = {"deviceClassName": r.choice([*DRIVERS, "any", "any"])}
        if self.has["all"] and r.random() < 0.3:
            out["allocationMode"] = "All"
        else:
            out["allocationMode"] = "ExactCount"
            out["count"] = (
                r.choice([12, 20]) if self.has["large"] and r.random() < 0.3 else r.choice([1, 1, 1, 2, 2, 3, 4])
            )
        if r.random() < 0.4:
            out["selectors"] = [_cel(r.choice(["model=A", "model=A", "model=B", f"{GROUP}=1"]))]
        if self.has["taints"] and r.random() < 0.4:
            out["tolerations"] = [{"operator": "Exists"}]
        if r.random() < 0.3:
            out["capacity"] = {"requests": {"mem": str(r.randint(1, 4))}}
        return out

    # -- what is allocated already -------------------------------------------------------------------------------

    def _allocated(self, slices: list[dict[str, Any]]) -> list[dict[str, Any]]:
        r = self.r
        out = []
        for piece in slices:
            for device in piece["spec"].get("devices", ()):
                if r.random() < 0.12:
                    out.append(self._allocation(len(out), piece["spec"], device))
        return out

    def _allocation(self, index: int, spec: dict[str, Any], device: dict[str, Any]) -> dict[str, Any]:
        r = self.r
        result = {"request": "x", "driver": spec["driver"], "pool": spec["pool"]["name"], "device": device["name"]}
        if device.get("allowMultipleAllocations"):
            result["shareID"] = f"00000000-0000-4000-9000-{index:012d}"
            if "capacity" in device and r.random() < 0.8:
                result["consumedCapacity"] = {"mem": str(r.randint(0, 3))}
        claim = _dra("ResourceClaim", f"held-{index}", {"devices": {"requests": []}}, namespace="ns")
        return {**claim, "status": {"allocation": {"devices": {"results": [result]}}}}


def _classes() -> list[dict[str, Any]]:
    """A class for each driver, and one for all devices."""
    classes = [_dra("DeviceClass", driver, {"selectors": [_cel(f"driver={driver}")]}) for driver in DRIVERS]
    return [*classes, _dra("DeviceClass", "any", {})]


def _amounts(counters: dict[str, int]) -> dict[str, Any]:
    return {name: {"value": str(value)} for name, value in counters.items()}


def _cel(expression: str) -> dict[str, Any]:
    return {"cel": {"expression": expression}}


def _dra(kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    return _object("resource.k8s.io/v1", kind, name, spec, namespace)


def _object(api: str, kind: str, name: str, spec: dict[str, Any] | None, namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **({"spec": spec} if spec is not None else {})}
