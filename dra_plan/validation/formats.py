"""The formats that the API server requires for names, and some phrases that the checks share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from dra_plan import near
from dra_plan.api import go_text

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_NUMBER = r"(0|[1-9][0-9]*)"
_PRERELEASE = rf"({_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_BUILD = r"[0-9A-Za-z-]+"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?", re.ASCII
)

MAX_DOMAIN = 63
MAX_IDENTIFIER = 32

DNS_LABEL = "lowercase letters, digits and '-', at most 63, starting and ending with a letter or digit"
SUBDOMAIN = "lowercase letters, digits, '-' and '.', at most 253, each part starting and ending with a letter or digit"
POOL = "DNS subdomains separated by slashes, at most 253 characters"
DRIVER = "a DNS subdomain of at most 63 characters"
QUALIFIED = "an identifier of at most 32 letters, digits and '_', not starting with a digit, optionally after DOMAIN/"
LABEL_NAME = "at most 63 letters, digits, '-', '_' and '.', optionally after DOMAIN/"
LABEL_VALUE = "at most 63 letters, digits, '-', '_' and '.'"
NOT_POSITIVE = "is not greater than 0"


def is_dns_label(text: str) -> bool:
    """Return whether the text is an RFC 1123 label."""
    return not go_text.dns_label_problems(text)


def is_subdomain(text: str, most: int = go_text.MAX_SUBDOMAIN) -> bool:
    """Return whether the text is an RFC 1123 subdomain."""
    return len(text) <= most and not go_text.subdomain_problems(text)


def is_driver(text: str) -> bool:
    """Return whether the text is a valid driver name: a subdomain that may contain capital letters, as in CSI."""
    return not go_text.too_long(text, MAX_DOMAIN) and is_subdomain(_lower(text))


def _lower(text: str) -> str:
    """Return the text in lower case, letter by letter, as in Go."""
    return text.lower() if text.isascii() else "".join(letter.lower()[0] for letter in text)


def is_pool(text: str) -> bool:
    """Return whether the text consists of subdomains separated by slashes."""
    return len(text) <= go_text.MAX_SUBDOMAIN and all(is_subdomain(part) for part in text.split("/"))


def is_qualified(text: str) -> bool:
    """Return whether the text is a name that selectors can use for an attribute or capacity.

    Such a name is a C identifier, optionally preceded by a domain and a slash.
    """
    domain, slash, name = text.rpartition("/")
    return (not slash or is_driver(domain)) and len(name) <= MAX_IDENTIFIER and _IDENTIFIER.match(name) is not None


def is_version(text: str) -> bool:
    """Return whether the text is a semantic version. As in the API server, the numbers may have any size.

    dra-plan cannot parse every such version.
    """
    return _VERSION.fullmatch(text) is not None


def is_label_name(text: str) -> bool:
    """Return whether the text is a valid key of a label or taint."""
    return not go_text.label_key_problems(text)


def is_label_value(text: str) -> bool:
    """Return whether the text is a valid value of a label or taint. The empty string is valid."""
    return not go_text.label_value_problems(text)


def as_dns_label(text: str) -> str:
    """Return the valid DNS label that is most similar to the text, or "" if there is none."""
    made = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")
    return made if is_dns_label(made) else ""


def as_subdomain(text: str) -> str:
    """Return the valid subdomain that is most similar to the text, or "" if there is none."""
    made = re.sub(r"[^a-z0-9.-]+", "-", text.lower()).strip("-.")
    return made if is_subdomain(made) else ""


def as_qualified(text: str) -> str:
    """Return the valid qualified name that is most similar to the text, or "" if there is none."""
    domain, slash, name = text.rpartition("/")
    made = re.sub(r"[^A-Za-z0-9_]+", "_", name)
    made = f"_{made}" if made[:1].isdigit() else made
    whole = f"{domain}{slash}{made}"
    return whole if is_qualified(whole) else ""


# -- shared wordings ---------------------------------------------------------------------------------------------------

MOST_NAMED = 3

EXISTS_WITH_VALUE = "operator Exists takes no value"
"""The message for a toleration in a pod or request that has a value although its operator is Exists."""


_ALIKE = 0.7
"""The fraction of two names that must be equal, because a correction is more than a hint."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, or None if no name is similar. Case is ignored."""
    return _nearest(name, tuple(known))


@lru_cache(maxsize=4096)  # the same wrong name often occurs repeatedly in an input
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    from difflib import SequenceMatcher

    found = near.nearest(name, known)
    if found is None or SequenceMatcher(None, name.lower(), found.lower()).ratio() < _ALIKE:
        return None
    return found


def count(number: int, noun: str) -> str:
    """Return the number and the noun, such as `1 device`, `2 devices` or `2 classes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def none_of(number: int, noun: str, verb: str, whose: str = "") -> str:
    """Return the beginning of a sentence saying that something is true of none of the things.

    For example, `none of the 3 devices of WHOSE VERBs`, `neither of the 2 ...`, or `the only device ... does not VERB`.
    """
    tail = f" of {whose}" if whose else ""
    if number == 1:
        return f"the only {noun}{tail} does not {verb}"
    return f"{'neither' if number == 2 else 'none'} of the {number} {noun}s{tail} {_third(verb)}"


def _third(verb: str) -> str:
    return f"{verb}es" if verb.endswith(("ch", "sh")) else f"{verb}s"


def listed(names: Iterable[object], most: int = MOST_NAMED) -> str:
    """Return the first `most` names, followed by the number of other names if there are any."""
    texts = [str(name) for name in names]
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def shown(text: str, most: int = 60) -> str:
    """Return a value in quotes, truncated if it has more than `most` characters."""
    return f'"{text}"' if len(text) <= most else f'"{text[: most - 3]}..."'


def no_extended_resource(name: str) -> str:
    """Return the message for a text that is not a valid name of an extended resource."""
    return f"{shown(name)} is not a valid extended resource name"


def absent_of(what: str, known: Iterable[str]) -> str:
    """Return a message saying that the input lacks the object, and listing the known objects of the same kind."""
    return f"the input has no {what}; it has {listed(sorted(known))}"
