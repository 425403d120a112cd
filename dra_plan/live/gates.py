"""Which feature gates a component says that it has: of its /metrics, or of its /flagz."""

from __future__ import annotations

import re

_METRIC = re.compile(r"^kubernetes_feature_enabled\{([^}]*)\}\s+([01])(?:\.0*)?\s*$", re.MULTILINE)
_NAME = re.compile(r'(?:^|,)\s*name="([A-Za-z0-9]+)"')
_FLAG = re.compile(r"^(?:--)?feature-gates[ :=\t]\s*(.*)$", re.MULTILINE)
_JSON_FLAG = re.compile(r'"feature-gates"\s*:\s*"([^"]*)"')
_GATE = re.compile(r":?([A-Za-z0-9]+)=(true|false)")


def of_metrics(text: str) -> dict[str, bool]:
    """The gates of a component's metrics, all that it knows; none if the text has no such metric."""
    found = {}
    for labels, value in _METRIC.findall(text):
        name = _NAME.search(labels)
        if name is not None:
            found[name[1]] = value == "1"
    return found


def of_flags(text: str) -> dict[str, bool] | None:
    """The gates that were set on the command line of a component; None if the text is no list of flags."""
    line = _JSON_FLAG.search(text) if text.lstrip().startswith("{") else _FLAG.search(text)
    if line is None:
        return None
    return {name: value == "true" for name, value in _GATE.findall(line[1])}
