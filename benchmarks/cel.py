"""Selectors on 1,000 distinct devices: µs per evaluation and ms per compilation, cel-python's runner beside them.

    python benchmarks/cel.py

Best of five rounds; other work on the machine only adds. `matches` is what the allocator calls, `evaluate` counts
costs too. Targets: 2 µs for `device.driver == "x"`, 5 µs for a quantity and a version comparison, 5 ms to compile.
"""

import random
import time
from collections.abc import Callable
from typing import Any

import msgspec

from dra_plan.api.resource import Device
from dra_plan.cel import Selector, compile_selector

DRIVER = "gpu.example.com"
ROUNDS = 5
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
        for index in range(1000)
    ]


def best(work: Callable[[], object]) -> float:
    """Seconds of the quickest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
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
        environment = celpy.Environment(runner_class=celpy.CompiledRunner)
        program = environment.program(environment.compile(expression))
        assert isinstance(program.evaluate(values[0]), celtypes.BoolType | bool)
        return best(lambda: [program.evaluate(value) for value in values]) * 1e6 / len(values)
    except Exception as error:  # whatever it can't do, it is not what is measured here
        print(f"    cel-python: {type(error).__name__}")
        return None


def measured(selector: Selector, found: list[Device]) -> tuple[float, float]:
    """µs per call of matches and of evaluate."""
    matches = best(lambda: [selector.matches(device, DRIVER) for device in found])
    evaluate = best(lambda: [selector.evaluate(device, driver=DRIVER) for device in found])
    return matches * 1e6 / len(found), evaluate * 1e6 / len(found)


def main() -> None:
    found = devices()
    decoded = [msgspec.convert(device, Device) for device in found]
    compile_selector('"x".matches("y")')  # loads the library for regular expressions
    print(f"{'':24}{'matches':>10}{'evaluate':>10}{'compile':>10}{'cel-python':>12}")
    for name, expression in EXPRESSIONS.items():
        start = time.perf_counter()
        selector = compile_selector(expression)
        compiled = time.perf_counter() - start
        matches, evaluate = measured(selector, decoded)
        other = cel_python(expression, found)
        beside = "-" if other is None else f"{other:.1f} µs"
        print(f"{name:24}{matches:7.2f} µs{evaluate:7.1f} µs{compiled * 1e3:7.1f} ms{beside:>12}")


if __name__ == "__main__":
    main()
