"""Whether an expression may be a selector: parsing, types, validators and planning in the order Kubernetes has them."""

from .ast import Expr
from .checked import Checked
from .deep import with_room
from .environment import Environment
from .errors import CelCompileError
from .folding import folded
from .infer import Inferred, infer
from .parse import parse
from .source import ExpressionText, Issue
from .types import BOOL
from .validators import validate
from .values import EvaluationError


def check(expression: str, environment: Environment) -> Checked:
    """Return the expression with its types, or raise CelCompileError with the text that Kubernetes gives.

    Expressions that are too long, do not parse, do not check, break a validator (homogeneous literals, durations,
    timestamps, regular expressions, format strings), have another type than bool or an attribute's, or contain a
    constant conversion that fails, are errors.
    """
    most = environment.most_bytes
    if most is not None and len(expression.encode(errors="surrogatepass")) > most:
        raise CelCompileError(f"Too long: may not be more than {most} bytes")
    return with_room(lambda: _check(expression, environment))


def _check(expression: str, environment: Environment) -> Checked:
    root = _parsed(expression, environment)
    inferred = infer(root, environment)
    _refuse(expression, inferred.issues)
    checked = _checked(expression, inferred)
    _refuse(expression, validate(checked))
    result = checked.result_type
    if result not in (BOOL, environment.result_type):
        raise CelCompileError(f"must evaluate to bool or the unknown type, not {result}")
    try:
        return folded(checked)
    except EvaluationError as error:
        raise CelCompileError(f"program instantiation failed: {error}") from None


def _parsed(expression: str, environment: Environment) -> Expr:
    root, issues = parse(expression, environment.macros)
    _refuse(expression, issues)
    assert root is not None  # without issues there is an expression
    return root


def _refuse(expression: str, issues: list[Issue]) -> None:
    if issues:
        text = ExpressionText(expression)
        error = CelCompileError(f"compilation failed: {text.display(issues)}")
        first, *others = text.display_lines(issues)
        error.lines = (f"compilation failed: {first}", *others)
        error.offset = min((issue.offset for issue in issues if issue.offset is not None), default=None)
        raise error


def _checked(expression: str, inferred: Inferred) -> Checked:
    return Checked(expression, inferred.root, inferred.types, inferred.overloads, inferred.idents)
