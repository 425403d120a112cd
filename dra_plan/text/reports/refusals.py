"""Objects that the API server rejects, as failed checks of a report."""

from __future__ import annotations

from dra_plan.documents.refusals import Refusals
from dra_plan.text.reports.content import Entry, Level, ReportCase, Result, RuleText

CODE = "refused"


RULE = RuleText("The API server rejects an object", "dra-plan validate says what is wrong with it, and how to fix it.")


def checks(refusals: Refusals) -> list[ReportCase]:
    """Return a check for each finding about a rejected object, named after the code and the object."""
    return [
        ReportCase(
            f"{one.code} {one.object}",
            Result.FAILED,
            Entry(
                Level.ERROR,
                CODE,
                f"{one.code}: {': '.join(part for part in (one.field, one.message) if part)}",
                source=one.file,
                line=one.line,
                object=one.object,
                details=one.fix,
            ),
        )
        for one in refusals or ()
    ]
