"""The table of releases: which of them answers for a version, and what each gate is in each."""

from __future__ import annotations

import pytest

from dra_plan import UsageError, releases


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("1.36", "1.36.3"),
        ("v1.36.3", "1.36.3"),
        (" 1.36.2-eks-1 ", "1.36.2"),
        ("1.35.6+k3s1", "1.35.6"),
        ("1.34", "1.34.9"),
    ],
)
def test_a_recorded_version_is_known(text: str, release: str) -> None:
    found = releases.find_release(text)
    assert (found.release, found.known) == (release, True)
    assert releases.target(text).notices == ()
    assert releases.target(text, strict_version=True).release == release


@pytest.mark.parametrize(
    ("text", "release", "asked"),
    [
        ("1.36.0", "1.36.2", "1.36.0"),
        ("v1.36.9-gke.1", "1.36.3", "1.36.9"),
        ("1.33", "1.34.9", "1.33"),
        ("1.9.11", "1.34.9", "1.9.11"),
        ("0.1", "1.34.9", "0.1"),
        ("2.0", releases.RECORDED[-1], "2.0"),
        ("1.99", releases.RECORDED[-1], "1.99"),
    ],
)
def test_of_other_versions_the_nearest_recorded_one_answers(text: str, release: str, asked: str) -> None:
    found = releases.find_release(text)
    assert (found.release, found.known) == (release, False)
    [notice] = releases.target(text).notices
    assert (notice.code, notice.message) == (
        "release-not-recorded",
        f"{asked} has no recorded outcomes; the result is for {release}",
    )
    with pytest.raises(UsageError, match=f"{asked} has no recorded outcomes; the nearest that has is {release}"):
        releases.target(text, strict_version=True)


@pytest.mark.parametrize(
    "text", ["", "1", "newest", "1.", "1.x", "v", "1.36.", "\u0661.\u0663\u0666", "1.36.3.4", "1." + "9" * 5000]
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a Kubernetes version such as 1\.36 or v1\.36\.3"):
        releases.find_release(text)


def test_gates_need_only_gates_that_exist() -> None:
    for version in releases.MINORS:
        known = releases.gates_of(version)
        assert list(known) == sorted(known)
        assert all(gate.default for gate in known.values() if gate.locked)
    assert {needed for gates in releases.NEEDS.values() for needed in gates} <= set(releases.GATES)


def test_defects_begin_and_end_with_recorded_releases() -> None:
    for defect in releases.DEFECTS:
        assert list(defect.releases) == [release for release in releases.RECORDED if release in defect.releases]
        assert defect.began == defect.releases[0]
        assert defect.ended not in defect.releases
    ended = {defect.id: defect.ended for defect in releases.DEFECTS}
    assert (ended["Q4"], ended["Q5"], ended["Q21"], ended["E3"], ended["Q20"]) == ("1.36.3",) * 4 + ("1.36.2",)
    assert releases.quirks_of("1.36.2").among(["rejection_leaks_counters", "taint_rule_crashes"]) != ()
    assert releases.quirks_of("1.36.3").among(["rejection_leaks_counters", "taint_rule_crashes"]) == ()


def test_no_table_forgets_a_release() -> None:
    from dra_plan.releases import rules, versions
    from dra_plan.validation import limits, served

    assert set(versions.COVERAGE) == set(rules.VARIANTS) == set(releases.RECORDED)
    assert all(limits.limits_of(minor) for minor in releases.MINORS)
    assert all(set(each) == set(releases.MINORS) for each in served._COULD.values())
    for minor in releases.MINORS:
        assert releases.gates_of(minor)["DynamicResourceAllocation"].default


@pytest.mark.parametrize(
    ("name", "version", "told"),
    [
        ("DRAConsumableCapacit", "1.36", " (did you mean 'DRAConsumableCapacity'?)"),
        ("draConsumableCapacity", "1.36", " (did you mean 'DRAConsumableCapacity'?)"),
        ("DRAFractionalCapacityRange", "1.36", ": it is one of 1.37"),
        ("DRADeviceTaintRules", "1.34", ": it is one of 1.35 to 1.37"),
        ("WorkloadWithJob", "1.35", ": it is one of 1.36 and 1.37"),
        ("Nonsense", "1.36", ": known are DRAAdminAccess, DRAConsumableCapacity, "),
    ],
)
def test_what_is_said_of_an_unknown_gate(name: str, version: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        releases.target(version, {name: True})
    assert str(caught.value).startswith(f"unknown feature gate {name!r} in {version}{told}")


@pytest.mark.parametrize("name", ["GangScheduling", "WorkloadAwarePreemption"])
def test_gates_that_are_gone_are_unknown(name: str) -> None:
    assert name in releases.gates_of("1.36")
    with pytest.raises(UsageError, match=rf"unknown feature gate '{name}' in 1\.37"):
        releases.target("1.37", {name: True})


def test_gates_of_1_37() -> None:
    """What upstream-1.37 locks, adds and turns on."""
    known = releases.gates_of("1.37")
    locked = {name for name, gate in known.items() if gate.locked}
    assert locked == {
        "DRAAdminAccess",
        "DRAExtendedResource",
        "DRAPrioritizedList",
        "DRAResourceClaimDeviceStatus",
        "DynamicResourceAllocation",
    }
    assert releases.gate_defaults("1.37")["DRADeviceTaintRules"]
    assert releases.gate_defaults("1.37")["DRAFractionalCapacityRange"]
    assert not releases.gate_defaults("1.37")["DRAWorkloadResourceClaims"]
    told = [notice.message for notice in releases.target("1.37", {"DRAExtendedResource": False}).notices]
    assert told == ["DRAExtendedResource is locked to true in 1.37; the lock is ignored"]
    needs = {"DRAConsumableCapacity": False, "DRAFractionalCapacityRange": True}
    [notice] = releases.target("1.37", needs).notices
    assert notice.message.startswith("DRAFractionalCapacityRange has no effect without DRAConsumableCapacity, and")


def test_gates_whose_prerequisite_is_switched_off_are_told() -> None:
    """What the API server of 1.36.2 says of that set: two gates are enabled but depend on one that is not."""
    target = releases.target("1.36", {"DRAResourceClaimDeviceStatus": False})
    assert [notice.message.partition(",")[0] for notice in target.notices] == [
        "DRADeviceBindingConditions has no effect without DRAResourceClaimDeviceStatus",
        "DRAResourceClaimGranularStatusAuthorization has no effect without DRAResourceClaimDeviceStatus",
    ]
    off = {"DRADeviceBindingConditions": False, "DRAResourceClaimGranularStatusAuthorization": False}
    assert releases.target("1.36", {"DRAResourceClaimDeviceStatus": False, **off}).notices == ()
    assert releases.target("1.36").notices == ()


@pytest.mark.parametrize(
    "name",
    [
        "InPlacePodVerticalScalingSchedulerPreemption",
        "InterPodAffinityHostnameFastPath",
        "MatchLabelKeysInPodTopologySpread",
        "NodeDeclaredFeatures",
        "StorageCapacityScoring",
        "VolumeAttributesClass",
        "VolumeLimitScaling",
    ],
)
def test_every_gate_of_the_scheduler_of_1_37_is_known(name: str) -> None:
    """Those of its own table that are not simulated; the others are in the table here."""
    [notice] = releases.target("1.37", {name: False}).notices
    assert (notice.code, notice.message.split()[0]) == ("gate-not-simulated", name)


def test_gates_of_the_scheduler_are_known_by_name() -> None:
    """What they switch is not simulated, which is said; a release that does not know one rejects it."""
    [notice] = releases.target("1.36", {"SchedulerAsyncPreemption": False}).notices
    assert notice.code == "gate-not-simulated"
    assert notice.message == ("SchedulerAsyncPreemption is known but not simulated: the result is for its default")
    assert releases.target("1.36", {"GenericWorkload": True, "GangScheduling": True}).notices == ()
    with pytest.raises(UsageError, match=r"unknown feature gate 'WorkloadWithJob' in 1\.35"):
        releases.target("1.35", {"WorkloadWithJob": True})


def test_alpha_gates_that_nobody_recorded_are_told() -> None:
    for name in ("DRADerivedAttributes", "DRANodeAllocatableResources", "CompositePodGroup"):
        found = releases.target("1.37", {name: True})
        assert [notice.code for notice in found.notices] == ["gate-not-simulated"]
    assert not releases.target("1.37", {"DRANodeAllocatableResources": True}).features.node_allocatable
    assert releases.target("1.36", {"DRANodeAllocatableResources": True}).features.node_allocatable


@pytest.mark.parametrize("version", ["1.35", "1.37"])
def test_pod_groups_are_simulated_where_they_were_recorded(version: str) -> None:
    """In 1.37 GenericWorkload covers the gates that are gone; what groups do there was not recorded."""
    found = releases.target(version, {"GenericWorkload": True})
    assert not found.features.pod_groups
    [notice] = found.notices
    assert notice.code == "gate-not-simulated"
    assert notice.message.startswith("GenericWorkload is not simulated: pod groups ")
    assert releases.target("1.36", {"GenericWorkload": True}).features.pod_groups
