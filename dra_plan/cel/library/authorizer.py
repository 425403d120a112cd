"""The authorizer library: declared for every expression, although no selector has an authorizer to call it on."""

from dra_plan.cel.ranges import STRING_FACTOR, fixed
from dra_plan.cel.types import BOOL, STRING, Type

from .overload import CallEstimate, Library, member
from .prices import Operands, estimated, size

_AUTHORIZER = Type("object", "kubernetes.authorization.Authorizer")
_PATH = Type("object", "kubernetes.authorization.PathCheck")
_GROUP = Type("object", "kubernetes.authorization.GroupCheck")
_RESOURCE = Type("object", "kubernetes.authorization.ResourceCheck")
_DECISION = Type("object", "kubernetes.authorization.Decision")

AUTHORIZER_TYPES = frozenset({_AUTHORIZER, _PATH, _GROUP, _RESOURCE, _DECISION})

_CHECKED = estimated(lambda _operands: CallEstimate(fixed(350_000)))


def _selector(operands: Operands) -> CallEstimate:
    """Parse a label or field selector: a requirement has two characters or more, and costs a list and a struct."""
    text = size(operands[1])
    return CallEstimate(fixed(10).plus(text.scaled(STRING_FACTOR)).plus(text.scaled(0.5).scaled(50)))


_SELECTED = estimated(_selector)

AUTHORIZER = Library(
    name="kubernetes authorizer",
    since=(1, 27),
    functions={
        "path": (member("authorizer_path", (_AUTHORIZER, STRING), _PATH),),
        "group": (member("authorizer_group", (_AUTHORIZER, STRING), _GROUP),),
        "serviceAccount": (member("authorizer_serviceaccount", (_AUTHORIZER, STRING, STRING), _AUTHORIZER),),
        "resource": (member("groupcheck_resource", (_GROUP, STRING), _RESOURCE),),
        "subresource": (member("resourcecheck_subresource", (_RESOURCE, STRING), _RESOURCE),),
        "namespace": (member("resourcecheck_namespace", (_RESOURCE, STRING), _RESOURCE),),
        "name": (member("resourcecheck_name", (_RESOURCE, STRING), _RESOURCE),),
        "check": (
            member("pathcheck_check", (_PATH, STRING), _DECISION, price=_CHECKED),
            member("resourcecheck_check", (_RESOURCE, STRING), _DECISION, price=_CHECKED),
        ),
        "errored": (member("decision_errored", (_DECISION,), BOOL),),
        "error": (member("decision_error", (_DECISION,), STRING),),
        "allowed": (member("decision_allowed", (_DECISION,), BOOL),),
        "reason": (member("decision_reason", (_DECISION,), STRING),),
    },
)

SELECTORS = Library(
    name="kubernetes authorizer selectors",
    since=(1, 31),
    functions={
        "fieldSelector": (member("authorizer_fieldselector", (_RESOURCE, STRING), _RESOURCE, price=_SELECTED),),
        "labelSelector": (member("authorizer_labelselector", (_RESOURCE, STRING), _RESOURCE, price=_SELECTED),),
    },
)
