"""Proves, without search, that nothing can be found from some moment on: rules R0 to R7 but for R3 and R5.

Each rule states a necessary condition for serving all requests before the horizon. If one fails, the walk would end
before the horizon on every path, with no error and no lasting change on the way: it may be left out.
"""

from __future__ import annotations

from .agreement import Agreement
from .diversity import Diversity
from .facts import Facts
from .hall import overdrawn
from .offers import Outlook
from .outlook import Moment, OutlookMaker
from .resources import Resources
from .stocks import Stock, find_stocks
from .stocks import overdrawn as stocks_overdrawn


class Refuter:
    """The rules for one search."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._resources = Resources(facts)
        self._outlooks = OutlookMaker(facts, self._resources)
        self._agreement = Agreement(facts, self._outlooks)
        self._diversity = Diversity(facts)
        self._stocks: list[Stock] = []
        self._stocks_up_to = -1

    def refutes(self, moment: Moment, horizon: int, *, begun: bool = False) -> bool:
        """Whether the requests from the moment to the horizon can't all be served.

        `begun`: some may have been served by now, when less of what never comes back was gone.
        """
        outlook = self._outlooks.outlook(moment, horizon)
        if outlook is None or self._overdrawn(outlook):
            return True
        narrowed = self._agreement.narrowed(outlook, moment.ledger)
        if narrowed is None or (narrowed is not outlook and self._overdrawn(narrowed)):
            return True
        if self._diversity.exhausted(narrowed, moment.ledger, None if begun else outlook):
            return True
        return stocks_overdrawn(self._stocks_for(horizon), narrowed, moment.ledger, self._facts.rules)

    def _overdrawn(self, outlook: Outlook) -> bool:
        return "R2" in self._facts.rules and overdrawn(self._outlooks.demands(outlook))

    def _stocks_for(self, horizon: int) -> list[Stock]:
        """The stocks; made anew when the horizon has moved, because more counters may be certain then."""
        if horizon != self._stocks_up_to:
            self._stocks, self._stocks_up_to = find_stocks(self._facts, self._resources), horizon
        return self._stocks
