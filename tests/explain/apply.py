"""Applies suggested changes to plain Kubernetes objects, as a user would; shares no code with what suggests them."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator
from typing import Any

Objects = list[dict[str, Any]]


def applied(objects: Objects, changes: list[dict[str, Any]]) -> Objects:
    """The objects with all changes made."""
    changed = copy.deepcopy(objects)
    for change in changes:
        _APPLY[change["code"]](changed, change)
    return changed


def find(objects: Objects, kind: str, name: str) -> dict[str, Any]:
    return next(o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name)


def asked(objects: Objects, change: dict[str, Any]) -> dict[str, Any]:
    """The request, or alternative, that a change is about: the part with count, selectors and so on."""
    claim = find(objects, "ResourceClaim", change["claim"]["name"])
    name, _, alternative = change["request"].partition("/")
    request = next(r for r in claim["spec"]["devices"]["requests"] if r["name"] == name)
    if not alternative:
        return request["exactly"]
    return next(option for option in request["firstAvailable"] if option["name"] == alternative)


def tolerate(objects: Objects, change: dict[str, Any]) -> None:
    asked(objects, change).setdefault("tolerations", []).append(change["toleration"])


def delete_rule(objects: Objects, change: dict[str, Any]) -> None:
    objects.remove(find(objects, "DeviceTaintRule", change["rule"]))


def count(objects: Objects, change: dict[str, Any]) -> None:
    asked(objects, change).update(allocationMode="ExactCount", count=change["to"])


def capacity(objects: Objects, change: dict[str, Any]) -> None:
    amounts = {change["capacity"]: change["to"], **change.get("also", {})}
    asked(objects, change).setdefault("capacity", {}).setdefault("requests", {}).update(amounts)


def rename_capacity(objects: Objects, change: dict[str, Any]) -> None:
    requests = asked(objects, change)["capacity"]["requests"]
    amount = requests.pop(change["capacity"])
    if "to" in change:
        requests[change["to"]] = amount


def selector(objects: Objects, change: dict[str, Any]) -> None:
    if "class" in change:
        selectors = find(objects, "DeviceClass", change["class"])["spec"]["selectors"]
    else:
        selectors = asked(objects, change)["selectors"]
    if change["replacement"] is None:
        del selectors[change["selector"]]
    else:
        selectors[change["selector"]] = {"cel": {"expression": change["replacement"]}}


def drop_constraint(objects: Objects, change: dict[str, Any]) -> None:
    del find(objects, "ResourceClaim", change["claim"]["name"])["spec"]["devices"]["constraints"][change["constraint"]]


def drop_request(objects: Objects, change: dict[str, Any]) -> None:
    devices = find(objects, "ResourceClaim", change["claim"]["name"])["spec"]["devices"]
    devices["requests"] = [r for r in devices["requests"] if r["name"] != change["request"]]
    names = {request["name"] for request in devices["requests"]}
    for field in ("constraints", "config"):
        devices[field] = list(of_requests(devices.get(field) or (), names))


def of_requests(entries: Iterable[dict[str, Any]], names: Collection[str]) -> Iterator[dict[str, Any]]:
    """Constraints or configuration without the requests that are gone: the API server rejects a name that is not there.

    An entry that listed only such requests goes, as an empty list means all.
    """
    for entry in entries:
        listed = entry.get("requests") or []
        left = [one for one in listed if one.partition("/")[0] in names]
        if left or not listed:
            yield {**entry, "requests": left}


def release(objects: Objects, change: dict[str, Any]) -> None:
    objects.remove(find(objects, "ResourceClaim", change["release"]["name"]))


def delete_pods(objects: Objects, change: dict[str, Any]) -> None:
    """Without the pods, what was reserved for them, and claims that nothing uses any more."""
    names = [tuple(key.split("/")) for key in change["pods"]]
    for namespace, name in names:
        objects.remove(
            next(
                o
                for o in objects
                if o["kind"] == "Pod" and (o["metadata"].get("namespace"), o["metadata"]["name"]) == (namespace, name)
            )
        )
    for one in [o for o in objects if o["kind"] == "ResourceClaim"]:
        status, users = one.get("status", {}), one.get("status", {}).get("reservedFor", [])
        left = [user for user in users if (one["metadata"].get("namespace"), user["name"]) not in names]
        if len(left) < len(users):
            status["reservedFor"] = left
            if not left:
                status.pop("allocation", None)


def add_alternative(objects: Objects, change: dict[str, Any]) -> None:
    claim = find(objects, "ResourceClaim", change["claim"]["name"])
    request = next(r for r in claim["spec"]["devices"]["requests"] if r["name"] == change["request"])
    new = {"name": "one-more", "deviceClassName": change["class"], "allocationMode": "ExactCount"}
    request["firstAvailable"].append({**new, "count": change["count"]})


def change_class(objects: Objects, change: dict[str, Any]) -> None:
    asked(objects, change)["deviceClassName"] = change["to"]


def label(objects: Objects, change: dict[str, Any]) -> None:
    for item in objects:
        if item["kind"] == "Node":
            item["metadata"].setdefault("labels", {}).update(change["labels"])


def uncordon(objects: Objects, change: dict[str, Any]) -> None:
    spec = find(objects, "Node", change["uncordon"])["spec"]
    del spec["unschedulable"]
    spec["taints"] = [each for each in spec.get("taints", ()) if "unschedulable" not in each["key"]]


def tolerate_node(objects: Objects, change: dict[str, Any]) -> None:
    """By every pod, and by the pods of every workload."""
    taint = change["taint"]
    toleration = {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
    for item in objects:
        if item["kind"] == "Pod":
            item["spec"].setdefault("tolerations", []).append(toleration)
        elif "template" in item.get("spec", {}):
            item["spec"]["template"]["spec"].setdefault("tolerations", []).append(toleration)


def correct_toleration(objects: Objects, change: dict[str, Any]) -> None:
    """In every pod, and in the pods of every workload."""
    for item in objects:
        spec = item["spec"]["template"]["spec"] if "template" in item.get("spec", {}) else item.get("spec", {})
        for one in spec.get("tolerations", ()) if item["kind"] != "Node" else ():
            if one.get(change["field"], "") == change["from"] and one["key"].lower() == change["taint"]["key"].lower():
                one[change["field"]] = change["to"]


def remove_taint(objects: Objects, change: dict[str, Any]) -> None:
    spec = find(objects, "Node", change["tainted"])["spec"]
    spec["taints"] = [each for each in spec["taints"] if each["key"] != change["taint"]["key"]]


def complete(objects: Objects, change: dict[str, Any]) -> None:
    for item in objects:
        if item["kind"] == "ResourceSlice" and item["spec"]["pool"]["name"] == change["pool"]["pool"]:
            item["spec"]["pool"]["resourceSliceCount"] = change["seen"]


def pod_specs(objects: Objects) -> list[dict[str, Any]]:
    """The specs of all pods and pod templates that do not have their node."""
    owners = [item for item in objects if item["kind"] == "Pod" and "nodeName" not in item["spec"]]
    made = [item["spec"]["template"] for item in objects if "template" in item.get("spec", {})]
    return [item["spec"] for item in (*owners, *made)]


def node_selector(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        if spec.get("nodeSelector", {}).get(change["label"]) == change["from"]:
            del spec["nodeSelector"][change["label"]]
            spec["nodeSelector"][change.get("toLabel") or change["label"]] = change["to"]


def node_requirements(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        spec.get("nodeSelector", {}).pop(change["label"], None)
        required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        for term in required["nodeSelectorTerms"]:
            others = [
                one for one in term["matchExpressions"] if (one["key"], one["operator"]) != (change["label"], "In")
            ]
            merged = {"key": change["label"], "operator": "In", "values": change["values"]}
            term["matchExpressions"] = [merged, *others]


def drop_node_requirement(objects: Objects, change: dict[str, Any]) -> None:
    """What a term without requirements matches is nothing, so the terms go if one has no other requirement."""
    gone = (change["label"], change["operator"], change.get("values", []))
    for spec in pod_specs(objects):
        if "nodeSelector" in change["places"] and spec.get("nodeSelector", {}).get(change["label"]) in gone[2]:
            del spec["nodeSelector"][change["label"]]
        affinity = spec.get("affinity", {}).get("nodeAffinity", {})
        terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
        for term in terms if "nodeAffinity" in change["places"] else ():
            kept = [o for o in term["matchExpressions"] if (o["key"], o["operator"], o.get("values", [])) != gone]
            term["matchExpressions"] = kept
            if not kept and not term.get("matchFields"):
                affinity.pop("requiredDuringSchedulingIgnoredDuringExecution", None)


def include_bound(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        for one in (each for term in required["nodeSelectorTerms"] for each in term["matchExpressions"]):
            if (one["key"], one["operator"], one["values"]) == (change["label"], change["operator"], [change["from"]]):
                one["values"] = [change["to"]]


def add_affinity_namespaces(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        near = spec.get("affinity", {}).get("podAffinity", {})
        for term in near.get("requiredDuringSchedulingIgnoredDuringExecution", ()):
            labels = term.get("labelSelector", {}).get("matchLabels", {})
            if ",".join(f"{key}={value}" for key, value in labels.items()) == change["selector"]:
                term["namespaces"] = change["namespaces"]


def lower_request(objects: Objects, change: dict[str, Any]) -> None:
    """Without the name of a container, the pod requests it as a whole."""
    for spec in pod_specs(objects):
        if not change["container"]:
            spec["resources"]["requests"][change["resource"]] = change["to"]
        for container in spec["containers"]:
            asked = container.setdefault("resources", {}).setdefault("requests", {})
            if container["name"] == change["container"] and change["resource"] in asked:
                asked[change["resource"]] = change["to"]


def drop_resource(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for container in spec["containers"]:
            if container["name"] in change["containers"]:
                for amounts in ("requests", "limits"):
                    container["resources"].get(amounts, {}).pop(change["resource"], None)


def drop_claim(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for holder in (spec, *(container.get("resources", {}) for container in spec["containers"])):
            for field in ("resourceClaims", "claims"):
                if field in holder:
                    holder[field] = [one for one in holder[field] if one["name"] != change["entry"]]


def rename_resource(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for container in spec["containers"]:
            for amounts in container["resources"].values():
                if change["resource"] in amounts:
                    amounts[change["to"]] = amounts.pop(change["resource"])


def relax_spread(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for each in spec.get("topologySpreadConstraints", ()):
            if each["topologyKey"] == change["topologyKey"]:
                each["whenUnsatisfiable"] = "ScheduleAnyway"
                each.pop("minDomains", None)


def lower_min_domains(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for each in spec.get("topologySpreadConstraints", ()):
            if each["topologyKey"] == change["topologyKey"] and each.get("minDomains") == change["from"]:
                each["minDomains"] = change["to"]


def change_topology_key(objects: Objects, change: dict[str, Any]) -> None:
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    for spec in pod_specs(objects):
        affinity = spec.get("affinity", {})
        terms = [one for near in ("podAffinity", "podAntiAffinity") for one in affinity.get(near, {}).get(field, ())]
        for each in (*spec.get("topologySpreadConstraints", ()), *terms):
            if each["topologyKey"] == change["topologyKey"]:
                each["topologyKey"] = change["toKey"]


def raise_max_skew(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for each in spec.get("topologySpreadConstraints", ()):
            if (each["topologyKey"], each["maxSkew"]) == (change["topologyKey"], change["from"]):
                each["maxSkew"] = change["to"]


def honor_taints(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for each in spec.get("topologySpreadConstraints", ()):
            if each["topologyKey"] == change["topologyKey"]:
                each["nodeTaintsPolicy"] = "Honor"


def relax_affinity(objects: Objects, change: dict[str, Any]) -> None:
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    rule = "podAntiAffinity" if change["code"] == "relax-anti-affinity" else "podAffinity"
    for spec in pod_specs(objects):
        terms = spec.get("affinity", {}).get(rule, {})
        terms[field] = [each for each in terms.get(field, ()) if each["topologyKey"] != change["topologyKey"]]


def select_pods(objects: Objects, change: dict[str, Any]) -> None:
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    rule = {"affinity": "podAffinity", "anti-affinity": "podAntiAffinity", "spread": ""}[change["rule"]]
    for spec in pod_specs(objects):
        terms = spec.get("affinity", {}).get(rule, {}).get(field, ())
        for each in terms if rule else spec.get("topologySpreadConstraints", ()):
            labels = each["labelSelector"]["matchLabels"]
            if ",".join(f"{key}={value}" for key, value in labels.items()) == change["from"]:
                each["labelSelector"]["matchLabels"] = dict(one.split("=") for one in change["to"].split(","))


def start(objects: Objects, change: dict[str, Any]) -> None:
    field = {"replicas": change["to"]} if change["code"] == "raise-replicas" else {"suspend": False}
    find(objects, change["kind"], change["name"])["spec"].update(field)


def drop_host_port(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for each in (port for container in spec["containers"] for port in container.get("ports", ())):
            if each.get("hostPort") == change["port"]:
                del each["hostPort"]


def change_host_port(objects: Objects, change: dict[str, Any]) -> None:
    for spec in pod_specs(objects):
        for each in (port for container in spec["containers"] for port in container.get("ports", ())):
            if each.get("hostPort") == change["from"]:
                each["hostPort"] = change["to"]
                if change.get("listens"):
                    each["containerPort"] = change["to"]


def lower_replicas(objects: Objects, change: dict[str, Any]) -> None:
    for item in objects:
        for field in ("replicas", "parallelism"):
            if item.get("spec", {}).get(field) == change["from"]:
                item["spec"][field] = change["to"]


def raise_quota(objects: Objects, change: dict[str, Any]) -> None:
    hard = find(objects, "ResourceQuota", change["quota"])["spec"]["hard"]
    assert hard[change["resource"]] == change["from"]
    hard[change["resource"]] = change["to"]


def serve(objects: Objects, change: dict[str, Any]) -> None:
    find(objects, "DeviceClass", change["class"])["spec"]["extendedResourceName"] = change["resource"]


def loosen_rollout(objects: Objects, change: dict[str, Any]) -> None:
    strategy = find(objects, "Deployment", change["deployment"])["spec"].setdefault("strategy", {})
    strategy.setdefault("rollingUpdate", {})["maxUnavailable"] = change["to"]


def create_template(objects: Objects, change: dict[str, Any], namespace: str, spec: dict[str, Any]) -> None:
    """Adds the template, unless the change says that it exists."""
    if change.get("exists"):
        assert find(objects, "ResourceClaimTemplate", change["template"])["metadata"]["namespace"] == namespace
        return
    metadata = {"name": change["template"], "namespace": namespace}
    made = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata}
    objects.append({**made, "spec": {"spec": copy.deepcopy(spec)}})


def raise_priority(objects: Objects, change: dict[str, Any]) -> None:
    if change.get("isNew"):
        about = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        objects.append({**about, "metadata": {"name": change["priorityClass"]}, "value": change["value"]})
    assert find(objects, "PriorityClass", change["priorityClass"])["value"] == change["value"]
    for spec in pod_specs(objects):
        if not spec.get("nodeName"):
            spec["priorityClassName"] = change["priorityClass"]
            for field in ("priority", "preemptionPolicy"):
                spec.pop(field, None)


def claim_resource(objects: Objects, change: dict[str, Any]) -> None:
    asked = {"deviceClassName": change["class"], "allocationMode": "ExactCount", "count": change["amount"]}
    create_template(objects, change, change["namespace"], {"devices": {"requests": [{"name": "r", "exactly": asked}]}})
    for pod in pod_specs(objects):
        for one in (each for each in pod["containers"] if each["name"] == change["container"]):
            found = [one["resources"].get(field, {}).pop(change["resource"], None) for field in ("requests", "limits")]
            if str(change["amount"]) in found:
                one["resources"].setdefault("claims", []).append({"name": change["entry"]})
                entry = {"name": change["entry"], "resourceClaimTemplateName": change["template"]}
                pod.setdefault("resourceClaims", []).append(entry)


def use_claim_template(objects: Objects, change: dict[str, Any]) -> None:
    spec = find(objects, "ResourceClaim", change["shared"]["name"])["spec"]
    create_template(objects, change, change["shared"]["namespace"], spec)
    for pod in pod_specs(objects):
        for entry in pod.get("resourceClaims", ()):
            if entry.get("resourceClaimName") == change["shared"]["name"]:
                del entry["resourceClaimName"]
                entry["resourceClaimTemplateName"] = change["template"]


def add_node(objects: Objects, change: dict[str, Any]) -> None:
    made = copy.deepcopy(find(objects, "Node", change["like"]))
    name = f"{change['like']}-new-1"
    labels = made["metadata"].get("labels", {})
    if "kubernetes.io/hostname" in labels:
        labels["kubernetes.io/hostname"] = name
    made["metadata"] = {"name": name, "labels": labels}
    objects.append(made)
    for published in [
        o for o in objects if o["kind"] == "ResourceSlice" and o["spec"].get("nodeName") == change["like"]
    ]:
        of_new = copy.deepcopy(published)
        of_new["metadata"]["name"] += "-new-1"
        of_new["spec"] |= {"nodeName": name, "pool": {**published["spec"]["pool"], "name": name}}
        objects.append(of_new)


def repair(objects: Objects, change: dict[str, Any]) -> None:
    status = find(objects, "Node", change["on"])["status"]
    assert status["allocatable"][change["resource"]] == change["from"]
    status["allocatable"][change["resource"]] = status["capacity"][change["resource"]]


def get_ready(objects: Objects, change: dict[str, Any]) -> None:
    spec = find(objects, "Node", change["awaited"])["spec"]
    gone = {taint["key"] for taint in change["taints"]}
    spec["taints"] = [taint for taint in spec["taints"] if taint["key"] not in gone]
    delete_pods(objects, {"pods": change.get("ends", [])})


def free_volume(objects: Objects, change: dict[str, Any]) -> None:
    """Removes the reservation, and binds the claim as the volume controller does."""
    of = find(objects, "PersistentVolume", change["volume"])
    del of["spec"]["claimRef"]
    claim = find(objects, "PersistentVolumeClaim", change["for"])
    claim["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
    claim["spec"]["volumeName"] = change["volume"]


def lower_claim_size(objects: Objects, change: dict[str, Any]) -> None:
    claims = [find(objects, "PersistentVolumeClaim", change["volumeClaim"])]
    if change.get("statefulSet"):
        claims += find(objects, "StatefulSet", change["statefulSet"])["spec"]["volumeClaimTemplates"]
    for one in claims:
        assert one["spec"]["resources"]["requests"]["storage"] == change["from"]
        one["spec"]["resources"]["requests"]["storage"] = change["to"]


_APPLY = {
    "guard-selector": selector,
    "fix-spelling": selector,
    "loosen-selector": selector,
    "loosen-class": selector,
    "drop-selector": selector,
    "tolerate-taint": tolerate,
    "free-volume": free_volume,
    "delete-taint-rule": delete_rule,
    "lower-count": count,
    "count-instead-of-all": count,
    "lower-capacity": capacity,
    "request-capacity": capacity,
    "rename-capacity": rename_capacity,
    "drop-capacity": rename_capacity,
    "drop-constraint": drop_constraint,
    "drop-request": drop_request,
    "release-claim": release,
    "change-class": change_class,
    "add-alternative": add_alternative,
    "change-value": selector,
    "label-node": label,
    "change-node-selector": node_selector,
    "use-other-nodes": node_selector,
    "merge-node-requirements": node_requirements,
    "drop-node-requirement": drop_node_requirement,
    "include-bound": include_bound,
    "add-affinity-namespaces": add_affinity_namespaces,
    "lower-request": lower_request,
    "lower-claim-size": lower_claim_size,
    "rename-resource": rename_resource,
    "drop-resource": drop_resource,
    "drop-claim": drop_claim,
    "lower-replicas": lower_replicas,
    "change-topology-key": change_topology_key,
    "honor-taints": honor_taints,
    "lower-min-domains": lower_min_domains,
    "relax-spread": relax_spread,
    "relax-affinity": relax_affinity,
    "relax-anti-affinity": relax_affinity,
    "correct-pod-selector": select_pods,
    "narrow-pod-selector": select_pods,
    "raise-max-skew": raise_max_skew,
    "raise-replicas": start,
    "resume-job": start,
    "change-host-port": change_host_port,
    "drop-host-port": drop_host_port,
    "loosen-rollout": loosen_rollout,
    "use-claim-template": use_claim_template,
    "serve-resource": serve,
    "raise-priority": raise_priority,
    "claim-resource": claim_resource,
    "uncordon-node": uncordon,
    "await-node": get_ready,
    "add-node": add_node,
    "raise-quota": raise_quota,
    "correct-toleration": correct_toleration,
    "tolerate-node-taint": tolerate_node,
    "remove-node-taint": remove_taint,
    "await-pods": delete_pods,
    "repair-devices": repair,
    "force-delete-pods": delete_pods,
    "restart-pods": delete_pods,
    "remove-pods": delete_pods,
    "wait-for-slice": complete,
}
"""Every code but enable-gate, which changes no object."""
