"""The fields of KubeSchedulerConfiguration, with those of the arguments of Kubernetes' own plugins.

kube-scheduler reads its configuration strictly: a field that it does not know ends it before it starts. Here stand the
fields of v1 in any of the releases 1.34 to 1.36, whether or not the simulation has a use for them; what their values
may be does not belong here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dra_plan.api.meta import FieldPath

from . import pluginnames


def _fields(*plain: str, **below: Any) -> dict[str, Any]:
    """Field names, each with the fields below it, of one object or of each in a list; None: not looked into."""
    return {**dict.fromkeys(plain), **below}


_PLUGIN_SET = _fields(enabled=_fields("name", "weight"), disabled=_fields("name", "weight"))
_POINTS = (
    *("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit"),
    *("preBind", "bind", "postBind", "multiPoint", "placementGenerate", "placementScore"),
)
_PROFILE = _fields(
    *("schedulerName", "percentageOfNodesToScore"),
    plugins=dict.fromkeys(_POINTS, _PLUGIN_SET),
    pluginConfig=_fields("name", "args"),
)
_EXTENDER = _fields(
    *("urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "weight", "bindVerb", "enableHTTPS", "httpTimeout"),
    *("nodeCacheCapable", "ignorable"),
    tlsConfig=_fields("insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"),
    managedResources=_fields("name", "ignoredByScheduler"),
)
_LOCK = ("resourceLock", "resourceName", "resourceNamespace")
_CONFIGURATION = _fields(
    *("apiVersion", "kind", "parallelism", "percentageOfNodesToScore", "podInitialBackoffSeconds"),
    *("podMaxBackoffSeconds", "delayCacheUntilActive", "enableProfiling", "enableContentionProfiling"),
    leaderElection=_fields("leaderElect", "leaseDuration", "renewDeadline", "retryPeriod", *_LOCK),
    clientConnection=_fields("kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"),
    profiles=_PROFILE,
    extenders=_EXTENDER,
)

_REQUIREMENT = _fields("key", "operator", "values")
_TERM = _fields(matchExpressions=_REQUIREMENT, matchFields=_REQUIREMENT)
_NODE_AFFINITY = _fields(
    requiredDuringSchedulingIgnoredDuringExecution=_fields(nodeSelectorTerms=_TERM),
    preferredDuringSchedulingIgnoredDuringExecution=_fields("weight", preference=_TERM),
)
_SPREAD_CONSTRAINT = _fields(
    *("maxSkew", "topologyKey", "whenUnsatisfiable", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"),
    "matchLabelKeys",
    labelSelector=_fields("matchLabels", matchExpressions=_REQUIREMENT),
)
_RESOURCES = _fields("name", "weight")
_SHAPE = _fields("utilization", "score")
_STRATEGY = _fields("type", resources=_RESOURCES, requestedToCapacityRatio=_fields(shape=_SHAPE))
_TYPE = ("apiVersion", "kind")
_ARGUMENTS: Mapping[str, Any] = {
    pluginnames.DEFAULT_PREEMPTION: _fields(*_TYPE, "minCandidateNodesPercentage", "minCandidateNodesAbsolute"),
    pluginnames.INTER_POD_AFFINITY: _fields(*_TYPE, "hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"),
    pluginnames.FIT: _fields(*_TYPE, "ignoredResources", "ignoredResourceGroups", scoringStrategy=_STRATEGY),
    pluginnames.BALANCED_ALLOCATION: _fields(*_TYPE, resources=_RESOURCES),
    pluginnames.SPREAD: _fields(*_TYPE, "defaultingType", defaultConstraints=_SPREAD_CONSTRAINT),
    pluginnames.VOLUME_BINDING: _fields(*_TYPE, "bindTimeoutSeconds", shape=_SHAPE),
    pluginnames.NODE_AFFINITY: _fields(*_TYPE, addedAffinity=_NODE_AFFINITY),
    pluginnames.DYNAMIC_RESOURCES: _fields(*_TYPE, "filterTimeout", "bindingTimeout"),
}
"""Arguments by plugin. Those of any other plugin are the plugin's own affair, as they are for kube-scheduler."""


def unknown_fields(document: Mapping[str, Any]) -> list[FieldPath]:
    """The fields of a decoded KubeSchedulerConfiguration that kube-scheduler would refuse, in the document's order."""
    return list(_unknown(document, _CONFIGURATION, ()))


def _unknown(value: Any, fields: Mapping[str, Any] | None, path: FieldPath) -> Iterator[FieldPath]:
    if isinstance(value, list):
        for position, item in enumerate(value):
            yield from _unknown(item, fields, (*path, position))
    elif isinstance(value, Mapping) and fields is not None:
        for name, below in value.items():
            here = (*path, name)
            if name not in fields:
                yield here
            elif name == "args":
                yield from _unknown(below, _ARGUMENTS.get(str(value.get("name"))), here)
            else:
                yield from _unknown(below, fields[name], here)
