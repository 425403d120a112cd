"""`replay -o table`, `-o wide`, `-o csv` and `-o name`: a row per sample."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from dra_plan import shown
from dra_plan.questions.replay.document import Band, FleetSample, ReplayDocument, ReplayRun
from dra_plan.text.columns import Part, Screen, Table
from dra_plan.text.formats import Format, Formats, choose, of_tables
from dra_plan.text.naming import target
from dra_plan.text.words import counted, listed

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_OF_A_UNIT = 3
"""The largest unit is used in which a time has at least this value."""

Value = Callable[[FleetSample], float]


def share(sample: FleetSample) -> float:
    """Return the percentage of devices that are allocated."""
    return 100 * sample.allocated / sample.devices if sample.devices else 0.0


def _written(value: float, digits: int = 0) -> str:
    return f"{value:,.{digits}f}"


FEW: tuple[tuple[str, Value, int, str], ...] = (
    ("BOUND", lambda one: one.bound, 0, ""),
    ("WAITING", lambda one: one.waiting, 0, ""),
    ("ALLOCATED", share, 1, "%"),
    ("FRAGMENTED", lambda one: one.fragmented, 1, ""),
    ("IDLE NODES", lambda one: one.whole_idle_nodes, 0, ""),
)
"""The columns that every table has: heading, value, number of digits, and unit."""

ALL: tuple[tuple[str, Value, int, str], ...] = (
    ("ARRIVED", lambda one: one.arrived, 0, ""),
    *FEW[:2],
    ("ENDED", lambda one: one.ended, 0, ""),
    ("EVICTED", lambda one: one.evicted, 0, ""),
    ("DEVICES", lambda one: one.devices, 0, ""),
    *FEW[2:],
    ("LARGEST WHOLE GROUP", lambda one: one.largest_whole_group, 0, ""),
)


def table(document: ReplayDocument, _screen: Screen | None) -> list[Part]:
    """Return a row for each sample of each run, with the mean and the range if there are several node orders."""
    return [samples(document, FEW), *_sentences(document), target(document)]


def wide(document: ReplayDocument, _screen: Screen | None) -> list[Part]:
    """Return the table with all columns, the allocated devices by model, and a row for each pod.

    A pod's row shows when the pod arrived, how long it waited, and when it ended.
    """
    parts: list[Part] = [samples(document, ALL)]
    models = Table(("RUN", "MODEL", "DEVICES", "ALLOCATED"), grouped=1)
    pods = Table(("RUN", "POD", "NODE", "ARRIVED", "WAITED", "ENDED", "MESSAGE"), grouped=1, flexible=(1, 6))
    for run in document.runs:
        for each in run.models:
            models.add(run.name, each.model, str(each.devices), _written(each.allocated, 1))
        for pod in run.pods:
            waited = "" if pod.bound is None else duration(pod.bound - pod.arrived)
            gone = "" if pod.ended is None else f"{duration(pod.ended)}{f', {pod.ended_by}' if pod.ended_by else ''}"
            name = f"{pod.namespace}/{pod.name}"
            pods.add(run.name, name, pod.node_name or "", duration(pod.arrived), waited, gone, pod.message)
    parts += [made for made in (models, pods) if made.rows]
    return [*parts, *_sentences(document), target(document)]


def samples(document: ReplayDocument, columns: tuple[tuple[str, Value, int, str], ...]) -> Table:
    """Return a row with these columns for each sample of each run."""
    several = len(document.runs) > 1
    made = Table((*(["RUN"] if several else []), "TIME", *(column[0] for column in columns)), grouped=int(several))
    for run in document.runs:
        for number, sample in enumerate(run.samples):
            band = run.bands[number] if run.bands else None
            cells = [_cell(sample, band, *column[1:]) for column in columns]
            made.add(*([run.name] if several else []), duration(sample.second), *cells)
    return made


def _cell(sample: FleetSample, band: Band | None, value: Value, digits: int, unit: str) -> str:
    if band is None:
        return f"{_written(value(sample), digits)}{unit}"
    least, most = _written(value(band.least), digits), _written(value(band.most), digits)
    mean = _written(value(band.mean), digits)
    return f"{mean}{unit}" if least == most else f"{mean}{unit} ({least} to {most})"


def duration(seconds: float) -> str:
    """Return a duration in a suitable unit, for example `90 s`, `45 min`, `3.5 h` or `12.0 d`."""
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= _OF_A_UNIT * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.1f}".removesuffix(".0") + " s"


def _sentences(document: ReplayDocument) -> Iterator[str]:
    for run in document.runs:
        yield _waited(run, named=len(document.runs) > 1)
        if run.unsettled:
            yield f"The simulation did not settle: {run.unsettled}."
        if run.refused:
            yield f"Not created: {listed(run.refused)}."
    found = document.comparison
    if found:
        first, second = document.runs
        orders = first.orders
        yield (
            f"Devices allocated with {second.name}, compared with {first.name}: {found.at_the_end:+.1f} percentage"
            f" points at the end{_range(f'{found.least:+.1f}', f'{found.most:+.1f}', orders)},"
            f" {found.over_time:+.1f} averaged over time"
            f"{_range(f'{found.over_time_least:+.1f}', f'{found.over_time_most:+.1f}', orders)}."
        )


def _range(least: str, most: str, orders: int) -> str:
    """Return a figure's range over the node orders, if there are several."""
    if orders == 1:
        return ""
    return f" ({least} to {most} across node orders)" if least != most else " (in every node order)"


def _waited(run: ReplayRun, *, named: bool) -> str:
    """Return the waiting times of pods, and the use."""
    times = run.waiting_times
    who = f"{run.name}: " if named else ""
    if times.pods and not times.longest:
        waited = f"{counted(times.pods, 'pod')} {'was' if times.pods == 1 else 'were'} scheduled without waiting"
    else:
        waited = (
            f"{counted(times.pods, 'pod')} {'was' if times.pods == 1 else 'were'} scheduled after"
            f" {duration(times.mean)} on average (median"
            f" {duration(times.median)}, 95th percentile {duration(times.percentile95)}, longest"
            f" {duration(times.longest)})"
        )
    if not times.pods:
        waited = "No pods were scheduled"
    elif run.orders > 1:
        waited = f"With nodes ordered by name, {waited}"
    band = _range(f"{100 * run.used_least:.1f}%", f"{100 * run.used_most:.1f}%", run.orders)
    return f"{who}{waited}. Averaged over time, {100 * run.used:.1f}% of all devices were allocated{band}."


def names(document: ReplayDocument) -> str:
    """Return the names of the pods that are pending at the end, one per line."""
    lines = [
        f"{pod.namespace}/{pod.name}" for pod in document.runs[0].pods if pod.node_name is None and pod.ended is None
    ]
    return "".join(f"{shown.line(line)}\n" for line in lines)


def as_csv(document: ReplayDocument) -> str:
    """Return CSV with a row for each sample of each run.

    With several node orders, a row also has the mean, minimum and maximum of each figure.
    """
    fields = [name for name in FleetSample.__struct_fields__ if name != "second"]
    ranges = any(run.bands for run in document.runs)
    header = ["run", "second", *fields]
    header += [f"{prefix}_{name}" for prefix in ("mean", "least", "most") for name in fields] if ranges else []
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(header)
    for run in document.runs:
        for number, sample in enumerate(run.samples):
            row = [_harmless(run.name), f"{sample.second:g}", *(_number(sample, name) for name in fields)]
            if ranges:
                band = run.bands[number]
                row += [_number(each, name) for each in (band.mean, band.least, band.most) for name in fields]
            writer.writerow(row)
    return written.getvalue()


def _number(sample: FleetSample, name: str) -> str:
    return f"{getattr(sample, name):.10g}"


def _harmless(text: str) -> str:
    """Return a name that spreadsheets do not read as a formula."""
    line = shown.line(text)
    return f"'{line}" if line[:1] in "=+-@" else line


FORMATS = Formats(table=table, wide=wide, name=names, others={"csv": as_csv})


def parse(option: str) -> Format[ReplayDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return choose(option, of_tables(FORMATS))
