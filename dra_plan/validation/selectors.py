"""Rules of the API server about selectors, taints and tolerations (DRA12x, DRA131, DRA137, DRA138, DRA154).

CEL selectors are compiled, and their cost is estimated, by the rules for new expressions. `matching` evaluates
selectors on the devices in the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dra_plan.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_plan.api.go_text import label_key_problems, label_value_problems
from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import DeviceSelector, DeviceTaint, DeviceTaintSelector, DeviceToleration
from dra_plan.api.selectors import is_int64
from dra_plan.cel import compile_selector
from dra_plan.cel.cost import COST_LIMIT
from dra_plan.cel.lexer import CelCompileError
from dra_plan.explanation.hints import of_text
from dra_plan.explanation.selectors import Publications
from dra_plan.releases import Target

from . import names
from .formats import EXISTS_WITH_VALUE, count, nearest, shown
from .limits import SELECTORS, at_most
from .rule import Problem, refused, warning

NO_CEL = refused(
    "DRA120",
    "selector without an expression",
    "CEL is the only kind of selector. The API server rejects an entry without a CEL expression.",
    "Write `- cel: {expression: ...}`.",
)
DOES_NOT_COMPILE = refused(
    "DRA121",
    "selector that does not compile",
    (
        "When the object is written, the API server compiles every expression with the functions that the "
        "release allows in new expressions. The API server rejects the object if an expression does not "
        "compile."
    ),
    "Correct the expression.",
)
TOO_COSTLY = refused(
    "DRA122",
    "selector whose estimated cost is over the limit",
    "The API server estimates the worst-case cost from the limits of the API, not from the existing devices.",
    "Put cheap conditions first, and avoid nested comprehensions and regular expressions.",
)
_NO_BOUND = 2**64 - 1
"""The estimate for everything beyond the range."""
RULES = (NO_CEL, DOES_NOT_COMPILE, TOO_COSTLY)


def check(path: FieldPath, selectors: Sequence[DeviceSelector], target: Target) -> Iterator[Problem]:
    """Check the CEL selectors of a class or a request."""
    yield from at_most(path, selectors, SELECTORS, "selector")
    for index, selector in enumerate(selectors):
        at = (*path, index, "cel")
        if selector.cel is None:
            yield NO_CEL.at(at, "missing")
        elif not selector.cel.expression:
            yield NO_CEL.at((*at, "expression"), "missing or empty")
        else:
            yield from expression((*at, "expression"), selector.cel.expression, target)


def expression(path: FieldPath, text: str, target: Target) -> Iterator[Problem]:
    """Check a CEL expression."""
    try:
        selector = compile_selector(text, kubernetes_version=target.version, feature_gates=target.gates, rules="new")
        cost = selector.max_cost
    except CelCompileError as failure:
        message = _without_excerpts(str(failure))
        yield replace(DOES_NOT_COMPILE.at(path, message), offset=failure.offset, expression=text)
        return
    if cost > COST_LIMIT:
        shown = "unlimited" if cost >= _NO_BOUND else str(cost)
        yield TOO_COSTLY.at(path, f"the estimated cost is {shown}; at most {COST_LIMIT} is allowed")


def hinted(problem: Problem, published: Publications, target: Target) -> Problem:
    """Return the problem with the expression that was probably meant, if its own expression does not compile."""
    if problem.rule is not DOES_NOT_COMPILE or not problem.expression:
        return problem

    def compiles(text: str) -> bool:
        try:
            compile_selector(text, kubernetes_version=target.version, feature_gates=target.gates, rules="new")
        except CelCompileError:
            return False
        return True

    hint = of_text(problem.expression, published, compiles)
    if hint is None:
        return problem
    offset = problem.offset if hint.offset is None else hint.offset
    message = f"{'; '.join(hint.said)}; the API server says: {problem.message}"
    return replace(problem, message=message, suggestion=hint.expression, offset=offset)


def _without_excerpts(text: str) -> str:
    """Return the compiler's errors on one line, without the lines of the expression that it repeats."""
    return "; ".join(line.strip() for line in text.split("\n") if not line.startswith(" |"))


# -- node selectors ----------------------------------------------------------------------------------------------------
# DRA131, DRA154, for slices, devices and allocations. The API server (`ValidateNodeSelector`) checks each field in a
# requirement separately and lists all faults. The scheduler's parser, which stops at faults that the API server
# accepts, is in `api/selectors.py`.

NODE_SELECTOR = refused(
    "DRA131",
    "node selector that the API server rejects",
    (
        "A slice's node selector must have exactly one term, whose keys, operators and values are valid. Gt and Lt "
        "take one value. In and NotIn take one or more. For the field `metadata.name`, In and "
        "NotIn take exactly one value."
    ),
    "Write a single term. To express several terms, use several devices or slices.",
)
UNREADABLE_SELECTOR = warning(
    "DRA154",
    "node selector that fails only in the scheduler",
    (
        "The API server accepts several terms in a device's node selector, and any label value for Gt and "
        "Lt. The scheduler stops with an error if there are several terms or if the value is not an "
        "integer, and does not schedule the pod on any node."
    ),
    "Write a single term, and use integers for Gt and Lt.",
    refused_by="Scheduler",
)
NODE_SELECTOR_RULES = (NODE_SELECTOR, UNREADABLE_SELECTOR)

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = _OPERATORS[:2]


def check_node_selector(path: FieldPath, selector: NodeSelector, *, in_device: bool) -> Iterator[Problem]:
    """Check the node selector of a slice or a device."""
    terms, path = selector.node_selector_terms, (*path, "nodeSelectorTerms")
    if len(terms) != 1:
        rule = UNREADABLE_SELECTOR if terms and in_device else NODE_SELECTOR
        yield rule.at(path, f"{count(len(terms), 'term')}; exactly one is allowed")
    yield from check_terms(path, terms)


def check_terms(path: FieldPath, terms: Sequence[NodeSelectorTerm]) -> Iterator[Problem]:
    """Check the terms of a node selector."""
    for index, term in enumerate(terms):
        yield from check_term((*path, index), term)


def check_term(path: FieldPath, term: NodeSelectorTerm) -> Iterator[Problem]:
    """Check a term of a node selector."""
    for number, requirement in enumerate(term.match_expressions):
        yield from _expression((*path, "matchExpressions", number), requirement)
    for number, requirement in enumerate(term.match_fields):
        yield from _field((*path, "matchFields", number), requirement)


def _expression(path: FieldPath, requirement: NodeSelectorRequirement) -> Iterator[Problem]:
    operator, values = requirement.operator, requirement.values
    at = (*path, "values")
    if operator not in _OPERATORS:
        yield _no_operator(path, operator, _OPERATORS)
    elif operator in ("In", "NotIn") and not values:
        yield NODE_SELECTOR.at(at, f"none; {operator} needs at least one")
    elif operator in ("Exists", "DoesNotExist") and values:
        yield NODE_SELECTOR.at(at, f"{count(len(values), 'value')}; {operator} takes none")
    elif operator in ("Gt", "Lt") and len(values) != 1:
        yield NODE_SELECTOR.at(at, f"{count(len(values), 'value')}; {operator} takes exactly one")
    if label_key_problems(requirement.key):
        yield NODE_SELECTOR.at((*path, "key"), names.no_label_name(requirement.key))
    for index, value in enumerate(values):
        if label_value_problems(value):
            yield NODE_SELECTOR.at((*at, index), names.no_label_value(value))
        elif operator in ("Gt", "Lt") and not is_int64(value):
            yield UNREADABLE_SELECTOR.at((*at, index), f"{shown(value)} is not an integer, which {operator} needs")


def _field(path: FieldPath, requirement: NodeSelectorRequirement) -> Iterator[Problem]:
    """Check a requirement on a node field; only `metadata.name` is supported."""
    operator, values = requirement.operator, requirement.values
    if operator not in _FIELD_OPERATORS:
        yield _no_operator(path, operator, _FIELD_OPERATORS)
    elif len(values) != 1:
        yield NODE_SELECTOR.at((*path, "values"), f"{count(len(values), 'value')}; a field takes exactly one")
    if requirement.key != "metadata.name":
        yield NODE_SELECTOR.at((*path, "key"), f"{shown(requirement.key)} is not metadata.name, the only field")
        return
    for index, value in enumerate(values):
        yield from names.subdomain((*path, "values", index), value, "node name")


def _no_operator(path: FieldPath, operator: str, known: Sequence[str]) -> Problem:
    message = f"{shown(operator)} is not one of {', '.join(known)}"
    return NODE_SELECTOR.at((*path, "operator"), message, nearest(operator, known) or "")


# -- taints and tolerations --------------------------------------------------------------------------------------------
# DRA137, DRA138: taints on devices and in taint rules, and tolerations in requests.

TAINT = refused(
    "DRA137",
    "taint with an unknown effect",
    "The API server accepts only the effects None, NoSchedule and NoExecute. The effect None does not repel pods.",
    "Write None, NoSchedule or NoExecute.",
)
TOLERATION = refused(
    "DRA138",
    "toleration that the API server rejects",
    (
        "The operator must be Equal or Exists, and Exists takes no value. The effect must be a taint "
        "effect, or empty to match all effects."
    ),
    "Correct the operator, value or effect.",
)
TAINT_RULES = (TAINT, TOLERATION)

_EFFECTS = ("None", "NoSchedule", "NoExecute")


def selector(path: FieldPath, given: DeviceTaintSelector | None) -> Iterator[Problem]:
    """Check the names in the device selector of a DeviceTaintRule."""
    if given is not None and given.driver is not None:
        yield from names.driver((*path, "driver"), given.driver)
    if given is not None and given.pool is not None:
        yield from names.pool((*path, "pool"), given.pool)
    if given is not None and given.device is not None:
        yield from names.dns_label((*path, "device"), given.device, "device name")


def taint(path: FieldPath, tainted: DeviceTaint) -> Iterator[Problem]:
    """Check a device taint."""
    yield from names.required((*path, "key"), tainted.key)
    if tainted.key:
        yield from names.label_name((*path, "key"), tainted.key)
    yield from names.label_value((*path, "value"), tainted.value)
    if not tainted.effect:
        yield from names.required((*path, "effect"), "")
    elif tainted.effect not in _EFFECTS:
        message = f"{shown(tainted.effect)} is not one of {', '.join(_EFFECTS)}"
        yield TAINT.at((*path, "effect"), message, nearest(tainted.effect, _EFFECTS) or "")


def tolerations(path: FieldPath, given: Sequence[DeviceToleration]) -> Iterator[Problem]:
    """Check the tolerations of a request."""
    for index, toleration in enumerate(given):
        yield from _toleration((*path, index), toleration)


def _toleration(path: FieldPath, toleration: DeviceToleration) -> Iterator[Problem]:
    if toleration.key:
        yield from names.label_name((*path, "key"), toleration.key)
    if toleration.operator == "Exists":
        if toleration.value:
            yield TOLERATION.at((*path, "value"), EXISTS_WITH_VALUE, "operator: Equal")
    elif toleration.operator == "Equal":
        yield from names.label_value((*path, "value"), toleration.value)
    else:
        message = f"{shown(toleration.operator)} is neither Exists nor Equal"
        yield TOLERATION.at((*path, "operator"), message, nearest(toleration.operator, ("Exists", "Equal")) or "")
    if toleration.effect and toleration.effect not in _EFFECTS:
        message = f"{shown(toleration.effect)} is not one of {', '.join(_EFFECTS)}"
        yield TOLERATION.at((*path, "effect"), message, nearest(toleration.effect, _EFFECTS) or "")
