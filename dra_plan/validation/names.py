"""Rules about the format and uniqueness of names, and about required texts (DRA10x). All kinds share them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from dra_plan.api.meta import FieldPath
from dra_plan.manifests.faults import TEMPLATE

from . import formats
from .formats import shown
from .rule import Problem, refused, warning
from .schema import MISSING_FIELD

BAD_NAME = refused(
    "DRA101",
    "name in the wrong format",
    "The API server rejects names that are not valid DNS names.",
    "Use lowercase letters, digits and hyphens.",
)
BAD_QUALIFIED_NAME = refused(
    "DRA102",
    "attribute or capacity name in the wrong format",
    (
        "Names of attributes and capacities must be C identifiers, so that selectors can use them after a "
        "dot. A domain and a slash may precede the identifier."
    ),
    "Use only letters, digits and underscores after the domain.",
)
NO_DOMAIN = refused(
    "DRA103",
    "constraint on an attribute without its domain",
    ("Constraints compare devices of different drivers, so the API server requires the full name of the attribute."),
    (
        "Write DOMAIN/NAME. The domain is the driver's name, unless the driver publishes the attribute "
        "under another domain."
    ),
)
NOT_UNIQUE = refused(
    "DRA104",
    "name used twice in a list of unique names",
    ("Other fields refer to an entry by its name, so the API server rejects an object that has the name twice."),
    "Rename or remove one of the entries.",
)
BAD_LABEL = refused(
    "DRA105",
    "invalid label key or value",
    (
        "The keys and values of labels, taints and tolerations must follow the label syntax, and so must finalizers, "
        "condition types and annotation keys."
    ),
    "Use only letters, digits, '-', '_' and '.'.",
)
UNREACHABLE_NAME = warning(
    "DRA153",
    "attribute or capacity name that the API server does not check",
    (
        "The API server checks neither names with more than one slash nor names in capacity requests. In "
        "these names, an invalid domain or identifier never matches anything."
    ),
    "Write an identifier, optionally preceded by DOMAIN and one slash.",
)
RULES = (BAD_NAME, BAD_QUALIFIED_NAME, NO_DOMAIN, NOT_UNIQUE, BAD_LABEL, UNREACHABLE_NAME)


def dns_label(path: FieldPath, text: str, noun: str) -> Iterator[Problem]:
    """Check that a required text is a DNS label."""
    yield from _formatted(path, text, noun, formats.is_dns_label, formats.DNS_LABEL, formats.as_dns_label)


def subdomain(path: FieldPath, text: str, noun: str) -> Iterator[Problem]:
    """Check that a required text is a DNS subdomain."""
    yield from _formatted(path, text, noun, formats.is_subdomain, formats.SUBDOMAIN, formats.as_subdomain)


def driver(path: FieldPath, text: str) -> Iterator[Problem]:
    """Check a required driver name."""
    yield from _formatted(path, text, "driver name", formats.is_driver, formats.DRIVER, formats.as_subdomain)


def pool(path: FieldPath, text: str) -> Iterator[Problem]:
    """Check a required pool name."""
    yield from _formatted(path, text, "pool name", formats.is_pool, formats.POOL, None)


def _formatted(
    path: FieldPath,
    text: str,
    noun: str,
    correct: Callable[[str], bool],
    words: str,
    mended: Callable[[str], str] | None,
) -> Iterator[Problem]:
    if not text:
        yield from required(path, text)
    elif not correct(text):
        better = mended(text) if mended and not is_template(text) else ""
        yield BAD_NAME.at(path, f"{shown(text)} is not a valid {noun}: {_why(text, words)}", better)


def is_template(text: str) -> bool:
    """Return whether the text contains a placeholder that was not rendered, such as a Helm expression."""
    return "{{" in text


def _why(text: str, words: str) -> str:
    """Return why a string does not have the form that `words` describe."""
    return TEMPLATE if is_template(text) else words


def required(path: FieldPath, text: str) -> Iterator[Problem]:
    """Check that a text is not empty. The schema rules report a field that is missing."""
    if not text:
        yield MISSING_FIELD.at(path, "missing or empty")


def qualified(path: FieldPath, text: str, noun: str, *, checked: bool = True) -> Iterator[Problem]:
    """Check the name of an attribute or capacity. `checked` says whether the API server checks names in this field."""
    if not formats.is_qualified(text):
        message = f"{shown(text)} is not a valid {noun} name: {_why(text, formats.QUALIFIED)}"
        rule = BAD_QUALIFIED_NAME if checked and text.count("/") <= 1 else UNREACHABLE_NAME
        better = "" if is_template(text) else formats.as_qualified(text)
        yield replace(rule.at(path, message, better), of_key=path[-1:] == (text,))


def fully_qualified(path: FieldPath, text: str) -> Iterator[Problem]:
    """Check that the name of an attribute is valid and has a domain."""
    if "/" in text:
        yield from qualified(path, text, "attribute")
    elif text:
        yield NO_DOMAIN.at(path, f"{shown(text)} has no domain: constraints need DOMAIN/NAME")
    else:
        yield MISSING_FIELD.at(path, "missing or empty")


def unique(entries: Iterable[tuple[FieldPath, str]], noun: str) -> Iterator[Problem]:
    """Yield a problem for each name that occurs more than once."""
    seen: set[str] = set()
    for path, name in entries:
        if name and name in seen:
            yield NOT_UNIQUE.at(path, f"{noun} {shown(name)} is listed twice")
        seen.add(name)


def label_name(path: FieldPath, text: str, read: str | None = None) -> Iterator[Problem]:
    """Check the key of a label, taint or condition. `read` is the key in the form that the API server checks."""
    if not formats.is_label_name(text if read is None else read):
        yield replace(
            BAD_LABEL.at(path, no_label_name(text)),
            of_key=path[-1:] == (text,),
        )


def no_label_name(text: str) -> str:
    """Return a message saying why the text is not a valid label key."""
    return f"{shown(text)} is not a valid label name: {_why(text, formats.LABEL_NAME)}"


def no_label_value(text: str) -> str:
    """Return a message saying why the text is not a valid label value."""
    return f"{shown(text)} is not a valid label value: {_why(text, formats.LABEL_VALUE)}"


def label_value(path: FieldPath, text: str) -> Iterator[Problem]:
    """Check the value of a label or taint."""
    if not formats.is_label_value(text):
        yield BAD_LABEL.at(path, no_label_value(text))
