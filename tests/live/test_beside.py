"""Kinds that are listed by name because they may reject or hold back pods, and are not simulated."""

from __future__ import annotations

import json

from dra_plan import Cluster
from dra_plan.live import snapshot

from .replay import Answers, InProcess

HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
HOOK = {
    "metadata": {"name": "guard", "labels": {"team": "x"}},
    "webhooks": [{"name": "a.b.c", "clientConfig": {"caBundle": "c2VjcmV0", "url": "https://inside"}}],
}


def test_names_are_kept_and_nothing_else() -> None:
    found = snapshot.read(
        InProcess(Answers(lists={HOOKS: [HOOK], POLICIES: [{"metadata": {"name": "p"}, "spec": {}}]}))
    )
    kept = [each for each in map(json.loads, found.objects) if each["apiVersion"] == "admissionregistration.k8s.io/v1"]
    assert kept == [
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}}
        for kind, name in (("ValidatingWebhookConfiguration", "guard"), ("ValidatingAdmissionPolicy", "p"))
    ]
    said = [each.message for each in Cluster.load([], snapshot=found).schedule(settle=True).document.warnings]
    assert any("1 ValidatingAdmissionPolicy, 1 ValidatingWebhookConfiguration" in message for message in said)


def test_what_may_not_be_listed_is_noted_and_what_is_not_served_is_not() -> None:
    refused = {each.resource for each in snapshot.read(InProcess(Answers(), "noslices")).info.not_listed}
    assert "validatingwebhookconfigurations.admissionregistration.k8s.io" in refused
    assert not any(
        "admissionregistration" in each.resource or "kueue" in each.resource
        for each in snapshot.read(InProcess(Answers())).info.not_listed
    )
