"""On how many recorded selectors cel-python gives kube-scheduler's answer; behind decision 8.

    python benchmarks/cel_answers.py                                  the recordings that the project carries
    python benchmarks/cel_answers.py --functions                      with Kubernetes' functions lent to cel-python
    python benchmarks/cel_answers.py FILE.jsonl.gz ...                others

A selector agrees when it is rejected where the scheduler rejects it, and otherwise matches, does not match or fails on
each device as the scheduler says. cel-python checks no types, so that most of what the scheduler rejects it could only
notice when it evaluates: "late" counts those as agreeing too that fail on every device. It has no costs, so none are
compared; a selector that the scheduler stops because of its cost would have to fail.

The device is typed as well as cel-python can: strings, ints, bools and lists are its own types, an unknown domain is an
empty map. Versions and quantities are our values, as it has none. With `--functions` it has our implementations of
Kubernetes' functions and of cel-go's extensions, registered under their names; macros can't be registered.
"""

import argparse
import contextlib
import gzip
import io
import json
import logging
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import celpy
from celpy import celtypes

from dra_plan.api import quantity, semver
from dra_plan.cel.library import LIBRARIES
from dra_plan.cel.library.overload import matching
from dra_plan.cel.values import EvaluationError, Fatal, begin_work

CARRIED = [Path(__file__).parents[1] / "tests/conformance" / f"{name}.jsonl.gz" for name in ("cel", "cel_cost")]
SECONDS = 3
"""Processor time for one selector; what takes longer has no answer. The scheduler stops them within milliseconds."""
MEMORY = 4 << 30
"""Bytes that the process may have; a selector that would take more has no answer."""
OWN = frozenset(("size", "type", "dyn", "bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"))
OWN |= {"contains", "endsWith", "startsWith", "matches"}
"""What cel-python has itself."""


class Domains(celtypes.MapType):
    """A map of maps that is empty where a domain is unknown."""

    def __missing__(self, key: Any) -> celtypes.MapType:
        return celtypes.MapType()


def typed(value: Any) -> Any:
    """An attribute's value as cel-python's own type, where it has one."""
    if isinstance(value, list):
        return celtypes.ListType([typed(part) for part in value])
    return celpy.json_to_cel(value) if isinstance(value, str | bool | int) else value


def attribute(found: dict[str, Any]) -> Any:
    """The value that is set; one that is none makes the selector fail, as in the scheduler."""
    ((kind, value),) = found.items()
    if kind in ("version", "versions"):
        return semver.parse(value) if kind == "version" else celtypes.ListType([semver.parse(text) for text in value])
    return typed(value)


def domains(entries: dict[str, Any], driver: str, convert: Callable[[Any], Any]) -> Domains:
    """The map by domain and id; names without a domain are the driver's."""
    found = Domains()
    for name, entry in sorted(entries.items(), key=lambda item: "/" in item[0]):
        domain, slash, identifier = name.partition("/")
        if not slash:
            domain, identifier = driver, name
        inner = found.setdefault(celtypes.StringType(domain), celtypes.MapType())
        inner[celtypes.StringType(identifier)] = convert(entry)
    return found


def activation(case: dict[str, Any], device: dict[str, Any]) -> dict[str, Any]:
    """The variable `device`."""
    fields = {
        "driver": celtypes.StringType(case["driver"]),
        "attributes": domains(device.get("attributes") or {}, case["driver"], attribute),
        "capacity": domains(
            device.get("capacity") or {}, case["driver"], lambda entry: quantity.parse(str(entry["value"]))
        ),
        "allowMultipleAllocations": celtypes.BoolType(bool(case.get("allowMultipleAllocations"))),
    }
    return {"device": celtypes.MapType({celtypes.StringType(name): value for name, value in fields.items()})}


def lent() -> dict[str, Callable[..., Any]]:
    """Our implementations by the functions' names."""
    found: dict[str, list[Any]] = {}
    for library in LIBRARIES:
        for name, overloads in library.functions.items():
            if name not in OWN and name.isidentifier():
                found.setdefault(name, []).extend(overload for overload in overloads if overload.function)
    return {name: _lent(overloads) for name, overloads in found.items() if overloads}


def _plain(value: Any) -> Any:
    """cel-python's value as ours."""
    for kind, plain in ((celtypes.BoolType, bool), (celtypes.IntType, int), (celtypes.StringType, str)):
        if isinstance(value, kind):
            return plain(value)
    if isinstance(value, celtypes.DoubleType):
        return float(value)
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _lent(overloads: list[Any]) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        begin_work()
        values = [_plain(argument) for argument in arguments]
        implementation = matching(overloads, values)
        if implementation is None:
            return celpy.CELEvalError("no such overload")
        try:
            return typed(implementation(*values))
        except (EvaluationError, Fatal) as error:
            return celpy.CELEvalError(str(error))

    return function


def _late(*_: object) -> NoReturn:
    raise TimeoutError


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """At most SECONDS, and nothing printed."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def answer(case: dict[str, Any], functions: dict[str, Callable[..., Any]]) -> str | list[bool | None]:
    """ "refused", or for each device whether it matches, None for an error."""
    environment = celpy.Environment()
    try:
        program = environment.program(environment.compile(case["expression"]), functions=functions)
    except (TimeoutError, MemoryError):
        raise
    except Exception:  # every kind of rejection counts
        return "refused"
    answers: list[bool | None] = []
    for device in case["devices"]:
        try:
            result = program.evaluate(activation(case, device))
        except (TimeoutError, MemoryError):
            raise
        except Exception:  # and every kind of error
            answers.append(None)
            continue
        answers.append(bool(result) if isinstance(result, celtypes.BoolType | bool) else None)
    return answers


def verdict(case: dict[str, Any], functions: dict[str, Callable[..., Any]]) -> str:
    """agrees, late, or in what it differs."""
    expected = case["expected"]
    try:
        with limited():
            found = answer(case, functions)
    except TimeoutError:
        return "takes too long"
    except MemoryError:
        return "takes too much memory"
    if "compileError" in expected:
        if found == "refused":
            return "agrees"
        return "late" if all(result is None for result in found) else "answers what the scheduler rejects"
    if found == "refused":
        return "rejects what the scheduler takes"
    wanted = [None if "error" in result else result["match"] for result in expected["results"]]
    if found == wanted:
        return "agrees"
    wrong = any(None not in pair and pair[0] != pair[1] for pair in zip(found, wanted, strict=True))
    if wrong:
        return "another match"
    missing = any(got is None and want is not None for got, want in zip(found, wanted, strict=True))
    return "fails where the scheduler answers" if missing else "answers where the scheduler fails"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--functions", action="store_true", help="lend it Kubernetes' functions")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    functions = lent() if options.functions else {}
    for file in options.files or CARRIED:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            cases = [json.loads(line) for line in lines]
        counts: dict[str, int] = {}
        for case in cases:
            found = verdict(case, functions)
            counts[found] = counts.get(found, 0) + 1
        agree, late = counts.pop("agrees", 0), counts.pop("late", 0)
        rest = ", ".join(f"{count} {what}" for what, count in sorted(counts.items(), key=lambda item: -item[1]))
        print(f"{file.name}: {agree} of {len(cases)} agree, {agree + late} with late rejections; {rest}")


if __name__ == "__main__":
    main()
