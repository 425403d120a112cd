"""Reports of `maintain`: one check per drained node, and one for the order if there is none."""

from __future__ import annotations

from dra_plan.api.inventory import Origin
from dra_plan.questions.maintain.document import MaintenanceDocument
from dra_plan.questions.maintain.text import broken_selectors, no_order, stopped
from dra_plan.text.gate import Gate, Verdict
from dra_plan.text.reports.claim_sets import Origins
from dra_plan.text.reports.content import SEARCH_ENDED, Content, Entry, Level, ReportCase, Result, RuleText, of_warnings

RULES = {
    "no-order": RuleText("The nodes cannot be drained safely", "The message says at which pod it stops, and why."),
    "selectors-broken": RuleText(
        "Selectors in use fail once all nodes are back",
        "Change the selectors before you upgrade the driver, or correct the slices in --to.",
    ),
    "undecided": RuleText(SEARCH_ENDED, "Select fewer nodes with --nodes, or go rack by rack."),
}


def content(document: MaintenanceDocument, gate: Gate, origins: Origins, *, anchor: str) -> Content:
    """Return the content of CI reports.

    The content covers every drain of the order, or the point at which the best attempt stopped, and the warnings.
    """
    checks = [ReportCase(f"node/{name}") for wave in document.waves for name in wave.nodes]
    if document.outcome != "Possible":
        checks.append(_stop(document, gate, origins))
    broken = (Entry(Level.ERROR, "selectors-broken", said) for said in broken_selectors(document))
    checks += [ReportCase("selectors", Result.FAILED, entry) for entry in broken]
    failed, notes = of_warnings(document.warnings, gate)
    return Content("maintain", (*checks, *failed), tuple(notes), RULES, anchor)


def _stop(document: MaintenanceDocument, gate: Gate, origins: Origins) -> ReportCase:
    impossible = document.outcome == "Impossible"
    broken = not impossible and gate.undecided is Verdict.UNDECIDED
    stop = document.stop
    message = no_order(document) if stop is None else f"{no_order(document)} {stopped(stop)}."
    namespace, _, name = stop.pod.partition("/") if stop is not None else ("", "", "")
    origin = origins.get(("Pod", namespace, name), Origin(""))
    entry = Entry(
        Level.ERROR,
        "no-order" if impossible else "undecided",
        message,
        source=origin.source,
        line=origin.line,
        object=f"Pod {stop.pod}" if stop is not None else "",
    )
    return ReportCase("order", Result.BROKEN if broken else Result.FAILED, entry)
