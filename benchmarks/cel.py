"""Selectors on 1,000 distinct devices: µs per evaluation and ms per compilation, cel-python's runner beside them.

    python benchmarks/cel.py

`matches` is what the allocator calls, `evaluate` counts costs too. "First" is a selector that was just compiled, on
devices that it never saw; "again" is the same selector on the same devices, where it may remember results by what it
reads. "New devices" adds the look that every device gets once, whatever the number of selectors. Processor time, the
best of five rounds. Targets: 2 µs for `device.driver == "x"`, 5 µs for a quantity and a version comparison, 5 ms to
compile. cel-python's compiled runner beside it, on values made for it in advance.
"""

import contextlib
import io
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import msgspec

from dra_plan.api.resource import Device
from dra_plan.cel import Selector, compile_selector
from dra_plan.cel import selector as selector_module
from dra_plan.cel.lexer import CelRuntimeError

DRIVER = "gpu.example.com"
ROUNDS = 5
DEVICES = 1000
A = f'device.attributes["{DRIVER}"]'
EXPRESSIONS = {
    "driver": f'device.driver == "{DRIVER}"',
    "attribute": f'{A}.model == "A100" && {A}.index < 500',
    "quantity and version": (
        f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("20Gi")) && '
        f'{A}.driverVersion.isGreaterThan(semver("1.5.0"))'
    ),
    "cel.bind": f'cel.bind(a, {A}, a.model == "A100" && has(a.numa) && a.numa == 1)',
    "regular expression": f'{A}.uuid.matches("^GPU-[0-9]*7$")',
    "comprehension": f'["A100", "H100"].exists(m, {A}.model == m)',
    "missing attribute": f'{A}.nope == 1 || device.driver == "{DRIVER}"',
    "arithmetic": f'device.capacity["{DRIVER}"].memory.sub(quantity("1Gi")).isGreaterThan(quantity("20Gi"))',
}


def devices() -> list[dict[str, Any]]:
    """Devices with ten attributes and two capacities each."""
    choose = random.Random(1)
    return [
        {
            "name": f"gpu-{index}",
            "attributes": {
                "model": {"string": choose.choice(["A100", "H100", "L40S"])},
                "index": {"int": index},
                "ecc": {"bool": choose.random() < 0.5},
                "driverVersion": {"version": f"{choose.randint(1, 3)}.{choose.randint(0, 9)}.{index}"},
                "uuid": {"string": f"GPU-{index}"},
                "numa": {"int": index % 4},
                "arch": {"string": "hopper"},
                "resource.kubernetes.io/pcieRoot": {"string": f"pci{index:04x}"},
                "vendor.example.org/link": {"string": "nvlink"},
                "vendor.example.org/slot": {"int": index},
            },
            "capacity": {
                "memory": {"value": f"{choose.randint(1, 80)}Gi"},
                "cores": {"value": str(choose.randint(1, 200))},
            },
        }
        for index in range(DEVICES)
    ]


def best(work: Callable[[], object]) -> float:
    """Seconds of the quickest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def cel_python(expression: str, found: list[dict[str, Any]]) -> float | None:
    """µs per evaluation with cel-python's compiled runner; None for an expression that it does not take."""
    import celpy
    from celpy import celtypes

    values = [
        {
            "device": celpy.json_to_cel(
                {
                    "driver": DRIVER,
                    "attributes": {
                        DRIVER: {
                            name: next(iter(value.values()))
                            for name, value in device["attributes"].items()
                            if "/" not in name
                        }
                    },
                }
            )
        }
        for device in found
    ]
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            environment = celpy.Environment(runner_class=celpy.CompiledRunner)
            program = environment.program(environment.compile(expression))
            assert isinstance(program.evaluate(values[0]), celtypes.BoolType | bool)
        return best(lambda: [program.evaluate(value) for value in values]) * 1e6 / len(values)
    except Exception:  # whatever it can't do, it is not what is measured here
        return None


class Figures(NamedTuple):
    """µs per call on 1,000 devices."""

    matches_first: float
    matches_again: float
    evaluate_first: float
    evaluate_again: float
    new_devices: float


def per_call(work: Callable[[], object]) -> float:
    """µs per device, once."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e6 / DEVICES


def fresh(expression: str) -> Selector:
    """The selector compiled anew, with nothing remembered; warm, as a device was seen by it before."""
    selector_module._compiled.cache_clear()
    selector = compile_selector(expression)
    with contextlib.suppress(CelRuntimeError):
        selector.evaluate({"attributes": {}, "capacity": {}}, driver="other.example.com")
    return selector


def _match_all(selector: Selector, found: list[Device]) -> None:
    for device in found:
        selector.matches(device, DRIVER)


def _evaluate_all(selector: Selector, found: list[Device]) -> None:
    for device in found:
        selector.evaluate(device, driver=DRIVER)


def measured(expression: str, raw: list[dict[str, Any]]) -> Figures:
    """The quickest of five rounds, for each figure."""
    known = [msgspec.convert(device, Device) for device in raw]
    any_selector = compile_selector("true")
    for device in known:
        any_selector.matches(device, DRIVER)
    rounds = []
    for _ in range(ROUNDS):
        figures = []
        for by_name in (_match_all, _evaluate_all):
            selector = fresh(expression)
            figures += [per_call(partial(by_name, selector, known)) for _ in ("first", "again")]
        selector = fresh(expression)
        new = [msgspec.convert(device, Device) for device in raw]
        figures.append(per_call(partial(_match_all, selector, new)))
        rounds.append(figures)
    return Figures(*(min(column) for column in zip(*rounds, strict=True)))


def compile_time(expression: str) -> float:
    """ms to compile, the quickest of five."""
    times = []
    for _ in range(ROUNDS):
        selector_module._compiled.cache_clear()
        start = time.process_time()
        compile_selector(expression)
        times.append(time.process_time() - start)
    return min(times) * 1e3


def main() -> None:
    raw = devices()
    compile_selector('"x".matches("y")')  # loads the library for regular expressions
    print("µs per evaluation, ms per compilation")
    heads = ("matches first", "again", "evaluate first", "again", "new devices", "compile", "cel-python")
    print(f"{'':24}" + "".join(f"{head:>16}" for head in heads))
    for name, expression in EXPRESSIONS.items():
        figures = [*measured(expression, raw), compile_time(expression)]
        other = cel_python(expression, raw)
        row = "".join(f"{figure:16.2f}" for figure in figures)
        print(f"{name:24}{row}{'refused' if other is None else f'{other:.1f}':>16}")


if __name__ == "__main__":
    main()
