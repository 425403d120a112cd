"""`explain`: ResourceClaimTemplates for changes of pods: one of the namespace with the same spec, or else a new one."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import structs

from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaimSpec, ResourceClaimTemplate, ResourceClaimTemplateSpec
from dra_plan.documents.suggestions import ObjectPatch, PatchOperation
from dra_plan.explanation.suggest import patches
from dra_plan.questions.explain.spec_edits import plain


def same_template(
    inventory: Inventory, namespace: str, spec: ResourceClaimSpec, *, any_name: bool = False
) -> ResourceClaimTemplate | None:
    """Return the first template of the namespace that has this spec. With `any_name`, its request has any name."""
    wanted = _nameless(spec) if any_name else spec
    there = (one for one in inventory.templates if one.metadata.namespace == namespace)
    same = (one for one in there if (_nameless(one.spec.spec) if any_name else one.spec.spec) == wanted)
    return min(same, key=lambda one: one.metadata.name, default=None)


def _nameless(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    """Return the spec without the name of its only request. If it has several, their names stay."""
    requests = spec.devices.requests
    if len(requests) != 1:
        return spec
    devices = structs.replace(spec.devices, requests=[structs.replace(requests[0], name="")])
    return structs.replace(spec, devices=devices)


def new_template(
    inventory: Inventory, namespace: str, name: str, spec: ResourceClaimSpec, end: str = ""
) -> ResourceClaimTemplate:
    """Return a new template with this spec. If the namespace has one with the name, the name gets the `end`."""
    taken = [one.metadata.name for one in inventory.templates if one.metadata.namespace == namespace]
    metadata = ObjectMeta(name=free_name(f"{name}{end}" if name in taken else name, taken), namespace=namespace)
    return ResourceClaimTemplate(metadata=metadata, spec=ResourceClaimTemplateSpec(spec=spec))


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, or the first one with a number that is not taken."""
    numbered = (f"{name}-{at}" for at in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one not in taken)


def created(template: ResourceClaimTemplate) -> ObjectPatch:
    """Return the patch that creates the template."""
    about = template.metadata
    manifest = {
        "apiVersion": template.api_version,
        "kind": template.kind,
        "metadata": {"name": about.name, "namespace": about.namespace},
        "spec": {"spec": plain(template.spec.spec)},
    }
    key = (template.kind, about.namespace, about.name)
    return patches.of_object(key, template.api_version, [PatchOperation(op="add", path="", value=manifest)])
