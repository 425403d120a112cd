"""The options of all questions. Each has a Python type, and most have a command-line flag.

An option is a field of a `TypedDict`. Each question takes its options as `**options: Unpack[...]`, with a TypedDict
that derives from those in this module. A field with a `Flag` is also an option of the question's command
(`cli/declared.py`).
"""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict, TypeVar, get_args

if TYPE_CHECKING:
    from dra_plan.api.meta import LabelSelector
    from dra_plan.planner.question import Progress

Names = str | Iterable[str] | None
"""One name or several names. None or an empty iterable makes no selection."""

DEFAULTS: Mapping[str, Any] = {"quirks": "upstream", "jobs": 1, "color": "auto"}
"""The defaults of options. Other options default to False if they are bools, and to None otherwise."""


NODE_GROUP = "NAME[=NODE|FILE][,max=N,...]"
"""The syntax of `--group`."""


class Flag(NamedTuple):
    """The command-line form of an option."""

    names: str
    """The long name and the short name, separated by a space."""
    help: str
    metavar: str | None = None
    complete: str = ""
    """The values that the shell completes: a function in `cli/completing.py`, or values separated by `|`."""
    kind: Any = None
    """The type to parse, if it differs from the Python type."""
    read: Callable[[Any], Any] | None = None
    """A function that converts the parsed value to the Python value."""
    least: int | float | None = None
    hidden: bool = False


def _split(given: list[str] | None) -> list[str] | None:
    """Return the names and label selectors of an option that takes several at once."""
    from dra_plan.planner.node_choice import split_list

    return [name for names in given or () for name in split_list(names)] or given


_TRUTHS = {"true": True, "false": False, "1": True, "0": False, "t": True, "f": False}


TAINT_RULES = "DRADeviceTaintRules"
"""The feature gate of DeviceTaintRules."""


def parse_gates(options: list[str] | None) -> dict[str, bool] | None:
    """Parse feature gates such as `A=true,B=false,C`. Raises UsageError for other forms.

    A name without a value means true. The last value of a repeated name is used.
    """
    from dra_plan.errors import UsageError

    if options is None:
        return None
    gates: dict[str, bool] = {}
    for item in (part.strip() for option in options for part in option.split(",")):
        if not item:
            continue
        name, equals, value = item.partition("=")
        truth = _TRUTHS.get(value.strip().lower()) if equals else True
        if truth is None or not name.strip():
            raise UsageError(f"--feature-gates: {item!r} is not NAME=true or NAME=false")
        gates[name.strip()] = truth
    return gates


class GateOptions(TypedDict, total=False):
    """The options that change the defaults of a release."""

    kubernetes_version: Annotated[
        str | None,
        Flag(
            "--kubernetes-version",
            (
                "The Kubernetes release to simulate. Defaults to the release of the cluster in the "
                "input, or 1.36 if the input does not show it."
            ),
            metavar="VERSION",
            complete="versions",
        ),
    ]
    feature_gates: Annotated[
        Mapping[str, bool] | None,
        Flag(
            "--feature-gates",
            "Turn these feature gates on or off. All other feature gates keep the release's defaults.",
            metavar="A,B=false",
            complete="gates",
            kind=list[str] | None,
            read=parse_gates,
        ),
    ]


class QuirkOptions(GateOptions, total=False):
    """The options that switch the defects of a release on or off."""

    quirks: Annotated[
        str,
        Flag(
            "--quirks",
            "Reproduce the release's known bugs (upstream), or behave as the API documentation specifies (fixed).",
            metavar="upstream|fixed",
            complete="upstream|fixed",
        ),
    ]


class ReleaseOptions(QuirkOptions, total=False):
    """The options that select the release to simulate."""

    strict_version: Annotated[
        bool,
        Flag(
            "--strict-version",
            "Exit with status 2 if dra-plan has no recorded data for the Kubernetes version, instead of using the "
            "nearest recorded version.",
        ),
    ]


class InNamespace(TypedDict, total=False):
    """The options that select a namespace."""

    namespace: Annotated[
        str | None,
        Flag("--namespace -n", "Use only objects in this namespace.", metavar="NAME", complete="namespaces"),
    ]


def _served(options: list[str] | None) -> Mapping[str, bool]:
    from dra_plan.validation.served import parse

    return parse(options)


class ServedVersions(TypedDict, total=False):
    """The options that describe the API server."""

    runtime_config: Annotated[
        Mapping[str, bool] | None,
        Flag(
            "--runtime-config",
            (
                "Assume that the API server serves these API versions in addition to the stable ones, as "
                "with kube-apiserver's --runtime-config."
            ),
            metavar="GROUP/VERSION=true,...",
            kind=list[str] | None,
            read=_served,
        ),
    ]


class Chosen(InNamespace, total=False):
    """The options that select pods, workloads and claims by their properties, not by their names."""

    selector: Annotated[
        str | LabelSelector | None,
        Flag(
            "--selector -l",
            "Use only objects whose labels match, for example a=b,c!=d,e in (f,g).",
            metavar="LABELS",
            kind=str | None,
        ),
    ]


class Bounded(TypedDict, total=False):
    """The options that limit a search."""

    max_steps: Annotated[
        int | None,
        Flag(
            "--max-steps",
            "Stop the search on a node after N steps and report Undecided (default: 250,000).",
            metavar="N",
            least=1,
        ),
    ]


class Timed(TypedDict, total=False):
    """The options that limit the total time."""

    timeout: Annotated[
        float | None,
        Flag(
            "--timeout",
            (
                "Stop after this many seconds, and report everything that is still unknown as Undecided "
                "(default: no limit)."
            ),
            metavar="SECONDS",
            least=0.0,
        ),
    ]


class Ties(TypedDict, total=False):
    """The options that settle decisions that are random in a real cluster."""

    ties: Annotated[
        str | None,
        Flag(
            "--ties",
            (
                "If several nodes have the highest score, choose the first one (first, the default) or "
                "one at random (random)."
            ),
            metavar="first|random",
            complete="first|random",
        ),
    ]
    seed: Annotated[int | None, Flag("--seed", "The seed for --ties random (default: 0).", metavar="N", least=0)]


class SomeNodes(TypedDict, total=False):
    """The options that select the nodes to check."""

    nodes: Annotated[
        Names,
        Flag(
            "--node",
            "Use only the nodes with these names or labels. Can be repeated.",
            metavar="NAME,...|LABELS",
            complete="nodes",
            kind=list[str] | None,
            read=_split,
        ),
    ]


class WithoutNodes(TypedDict, total=False):
    """The options for input without Node objects."""

    infer_nodes: Annotated[
        bool,
        Flag("--infer-nodes", ("Create missing Node objects from the slices. The labels of these nodes are unknown.")),
    ]


class DevicesOnly(TypedDict, total=False):
    """The options that limit what is checked on a node."""

    devices_only: Annotated[
        bool,
        Flag("--devices-only", "Check only devices, and ignore cordons, taints, node names and node affinity."),
    ]


class Allotted(TypedDict, total=False):
    """The time limit and the progress callback of an answer without partial results (for other answers, see `Timed`).

    The command line enforces its own limit (`dra_plan/cli/timing.py`).
    """

    timeout: float | None


class Stepwise(Allotted, total=False):
    """The time limit and the progress callback of an answer that is computed in steps."""

    progress: Progress | None


class PodOptions(Chosen, WithoutNodes, Bounded, total=False):
    """The options of questions about pending pods."""


class ClaimSetOptions(Chosen, SomeNodes, DevicesOnly, WithoutNodes, Bounded, Timed, total=False):
    """The options of questions about claim sets on nodes."""

    progress: Progress | None


F = TypeVar("F", bound=Callable[..., Any])


def spelled_out(function: F) -> F:
    """Return the function with a signature that lists each option of `**options: Unpack[GROUP]`.

    The function raises TypeError for other options.
    """
    plain = inspect.signature(function)
    group = _group(function, next(p for p in plain.parameters.values() if p.kind is p.VAR_KEYWORD))
    fields = {name: str(getattr(hint, "__forward_arg__", hint)) for name, hint in group.__annotations__.items()}
    types = {name: hint.removeprefix("Annotated[").partition(", Flag(")[0].strip() for name, hint in fields.items()}
    parameters = [parameter for parameter in plain.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default(name, hint), annotation=hint)
        for name, hint in types.items()
        if name not in plain.parameters
    ]
    signature = plain.replace(parameters=parameters)
    known = {parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL}

    @functools.wraps(function)
    def call(*given: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
        return function(*given, **options)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def within_its_time(function: F) -> F:
    """Return the function with a time limit. It raises OutOfTimeError when the time in its `timeout` option is up.

    The function must have the options of `Allotted`.
    """

    @functools.wraps(function)
    def call(cluster: Any, *given: Any, **options: Any) -> Any:
        with cluster.allotted(options.pop("timeout", None), options.pop("progress", None)):
            return function(cluster, *given, **options)

    return call  # type: ignore[return-value]


def default(name: str, hint: object) -> Any:
    """Return the default of the option with this name and type."""
    return DEFAULTS.get(name, False if hint in ("bool", bool) else None)


def _group(function: Callable[..., Any], parameter: inspect.Parameter) -> type[Any]:
    """Return the TypedDict of a function's options."""
    name = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
    found: type[Any] = sys.modules[function.__module__].__dict__[name]
    return found


class _Lenient(dict[str, Any]):
    """The names of a module; `object` stands for types that are not imported at run time."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, object)


def flags(group: type[Any]) -> Iterator[tuple[str, Any, Flag]]:
    """Yield the name, Python type and flag of each option in a group that the command line offers."""
    for name, hint in group.__annotations__.items():
        if "Flag(" in str(getattr(hint, "__forward_arg__", hint)):
            names = _Lenient(vars(sys.modules[hint.__forward_module__]))
            python, flag = get_args(eval(hint.__forward_arg__, {}, names))
            yield name, python, flag
