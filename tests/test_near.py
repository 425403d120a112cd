"""Did-you-mean: which known name is told."""

import pytest

from dra_plan.near import distance, misspelt, nearest, renamed_driver
from tests.limits import at_most


@pytest.mark.parametrize(
    ("one", "other", "errors"),
    [("", "", 0), ("gpu", "gpu", 0), ("gpu", "gup", 1), ("gpu", "gpus", 1), ("gpu", "cpu", 1), ("train", "rain", 1)],
)
def test_a_typing_error_is_one_character_or_two_swapped(one: str, other: str, errors: int) -> None:
    assert distance(one, other, 3) == distance(other, one, 3) == errors


def test_beyond_the_limit_is_beyond_the_limit() -> None:
    assert distance("train", "serve", 2) == distance("abcdef", "", 2) == 3


def test_the_end_that_is_the_same_decides() -> None:
    nodes = [f"node-{number:05}" for number in range(3_000)]
    assert nearest("node-0002", nodes) == "node-00002"
    assert nearest("node-0020", nodes) == "node-00020"
    assert nearest("nod-00100", nodes) == "node-00100"


def test_fewer_errors_go_before_the_same_end() -> None:
    assert nearest("trian-a", ["train-a", "train-b", "brain-a"]) == "train-a"


def test_case_does_not_count() -> None:
    assert nearest("DRAcapacity", ["draCapacity", "other"]) == "draCapacity"


def test_a_long_beginning_is_near_too() -> None:
    assert nearest("cudaCompute", ["cudaComputeCapability", "memory"]) == "cudaComputeCapability"


@pytest.mark.parametrize("name", ["a", "ab", "train"])
def test_what_is_not_alike_is_not_told(name: str) -> None:
    assert nearest(name, ["", "c", "cd", "serve"]) is None


def test_many_names_take_little_time() -> None:
    devices = [f"gpu.example.com/node-{number:05}/gpu-{number % 8}" for number in range(40_000)]
    with at_most(3):
        assert nearest("gpu.example.com/node-0123/gpu-3", devices) == "gpu.example.com/node-00123/gpu-3"


def test_words_in_another_order() -> None:
    assert misspelt("nvidia.gpu.com", ["gpu.nvidia.com", "mig.nvidia.com"]) == "gpu.nvidia.com"
    assert misspelt("nvidia.gpu.com", ["gpu.nvidia.com", "gpu.com.nvidia"]) is None
    assert misspelt("nvidia.gpu.com", ["gpu.nvidia.com", "nvidia.gpus.com"]) == "nvidia.gpus.com"
    assert misspelt("gpu-2.example.com", ["gpu-1.example.com", "example.gpu-1.com"]) is None


def test_a_driver_keeps_the_names_of_its_vendor_and_of_its_devices() -> None:
    assert renamed_driver("gpu.resource.intel.com", ["gpu.intel.com", "qat.intel.com"]) == "gpu.intel.com"
    assert renamed_driver("gpu.dra.intel.com", ["gpu.resource.intel.com"]) == "gpu.resource.intel.com"
    assert renamed_driver("gpu.intel.com", ["intel.com", "gpu.intel.org", "xe.gpu.intel.com"]) == "xe.gpu.intel.com"
    assert renamed_driver("gpu.intel.com", ["a.gpu.intel.com", "b.gpu.intel.com"]) is None
    for other in ("compute-domain.nvidia.com", "gpu.example.com", "nvidia.com", "gpu.nvidia.com"):
        assert renamed_driver("gpu.nvidia.com", [other]) is None
