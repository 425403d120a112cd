"""The verdicts on the page of `explain`: in each owner's article, and in the list of owners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.documents.claim_sets import ClaimSetSummary, UnplannedOwner
from dra_plan.documents.verdicts import TRIED, OwnerVerdict
from dra_plan.page import picks, told
from dra_plan.questions.explain.document import ExplanationDocument
from dra_plan.questions.explain.lines import unplanned_lines
from dra_plan.text import suggestions, words
from dra_plan.text.headlines import headline
from dra_plan.text.naming import named
from dra_plan.text.verdicts import UNTOLD, verdict_lines

_WORDS = {
    "WouldBind": "bound now",
    "WouldPreempt": "preempts",
    "Unschedulable": "pending",
    "Error": "error",
    "Held": "held",
    "Suspended": "suspended",
    "Refused": "refused",
    "Stuck": "stuck",
    "Bound": "has its node",
    "Finished": "finished",
    "Unknown": "not known",
    "Undecided": "undecided",
}


_GOOD = ("WouldBind", "WouldPreempt", "Bound")


_OTHER = ("Finished", "Suspended", "Undecided", "Unknown")


Verdicts = dict[tuple[str, str, str], OwnerVerdict]


def by_owner(document: ExplanationDocument) -> Verdicts:
    """Return the verdicts by kind, namespace and name.

    Verdicts on unused claims are left out, unless the API server rejects the claims.
    """
    found = document.verdicts or ()
    return {
        (one.kind, one.namespace, one.name): one
        for one in found
        if one.kind != "ResourceClaim" or one.verdict == "Refused"
    }


def of_set(verdicts: Verdicts, claim_set: ClaimSetSummary) -> OwnerVerdict | None:
    """Return the verdict on a claim set's owner or, if it has none, on its only claim; None if there is no verdict."""
    owner = claim_set.owner
    if owner is not None:
        return verdicts.get((owner.kind, owner.namespace, owner.name))
    claim = claim_set.claims[0] if len(claim_set.claims) == 1 else None
    return verdicts.get(("ResourceClaim", claim.namespace, claim.name)) if claim is not None else None


def judge(article: told.Article, verdict: OwnerVerdict, claim_set: ClaimSetSummary) -> None:
    """Insert the verdict into the article, above the text about devices."""
    article.tone, article.word, article.sentence = tone(verdict), _word(verdict), sentence(verdict)
    article.summary = [*told.lines(_below(verdict, claim_set)), *article.summary]
    if verdict.verdict in TRIED:
        article.suggestions = [(suggestions.suggestion(each), each) for each in verdict.suggestions]


def article(key: str, verdict: OwnerVerdict, unplanned: UnplannedOwner | None) -> told.Article:
    """Return the article about an owner that has no claims to plan."""
    name = named(verdict.object)
    made = told.Article(key, name, tone(verdict), _word(verdict), sentence(verdict))
    said = list(_below(verdict, None)) if verdict.verdict not in UNTOLD else []
    if unplanned is not None:
        said += unplanned_lines(unplanned, headed=False, lacking=verdict.lacking)
    made.summary = told.lines(said)
    return made


def _word(verdict: OwnerVerdict) -> str:
    return "probably pending" if verdict.depends_on_gates else _WORDS[verdict.told]


def tone(verdict: OwnerVerdict) -> str:
    """Return the tone of the verdict: good, bad or neither."""
    if verdict.depends_on_gates:
        return picks.BAD
    if verdict.told in _GOOD:
        return picks.GOOD
    return picks.OTHER if verdict.told in _OTHER else picks.BAD


def sentence(verdict: OwnerVerdict) -> str:
    """Return the verdict as a sentence, without what the article's heading already says."""
    said = headline([verdict]).removeprefix(named(verdict.object)).lstrip(": ")
    return words.capital(said.removeprefix("is Pending: "))


def _below(verdict: OwnerVerdict, claim_set: ClaimSetSummary | None) -> Iterator[str]:
    lines = verdict_lines([verdict], claim_set)
    next(lines)
    return lines


def title(verdicts: Sequence[OwnerVerdict]) -> str:
    """Return the title of the page: how many pods and workloads get no node."""
    noun = "pod" if all(one.kind == "Pod" for one in verdicts) else "workload"
    failing = [one for one in verdicts if tone(one) == picks.BAD]
    if len(verdicts) == 1:
        return headline(verdicts).removesuffix(".").removesuffix(":")
    if not failing:
        return f"{words.counted(len(verdicts), noun)}, none of them pending"
    return f"{len(failing)} of {words.counted(len(verdicts), noun)} get{'s' if len(failing) == 1 else ''} no node"
