"""Exit statuses, which are the same for all commands and formats, and error messages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from dra_plan.cli.telling import begin, owed, told_later
from dra_plan.cli.timing import TimeIsOverError
from dra_plan.errors import DraPlanError

if TYPE_CHECKING:
    from dra_plan.text.gate import D, Gate, Judge


class Exit(IntEnum):
    """The exit status of a run, which does not depend on the output format or on reports."""

    OK = 0
    DOES_NOT_FIT = 1
    USAGE = 2
    UNDECIDED = 3
    INTERNAL = 4
    INTERRUPTED = 130
    """128 + SIGINT, as in shells."""
    BROKEN_PIPE = 141
    """128 + SIGPIPE, for a reader of standard output that has exited."""


def of_document(document: D, judge: Judge[D], gate: Gate) -> Exit:
    """Return the exit status for a document. A failed verdict takes precedence over an undecided one.

    If the gate is not the default one and fails, prints a line about it to standard error.
    """
    from dra_plan.text.gate import Gate, Verdict

    verdicts = judge.all_verdicts(gate, document)
    if Verdict.FAILED in verdicts:
        if gate != Gate():
            from dra_plan.cli.printing import print_verdict
            from dra_plan.text.gate_words import failure

            said = failure(gate, judge, document)
            if said:
                print_verdict(said)
        return Exit.DOES_NOT_FIT
    return Exit.UNDECIDED if Verdict.UNDECIDED in verdicts else Exit.OK


def guarded(action: Callable[[], Exit | None]) -> Exit:
    """Run `action` and return its exit status, even if it raises an exception.

    Errors that dra-plan raises deliberately are usage errors or input errors. Any other exception is a bug.
    `SystemExit` is not caught, because the option parser uses it to end the program.
    """
    begin()
    try:
        status = action()
        sys.stdout.flush()
        _tell_stored_notes()
    except DraPlanError as error:
        if owed():
            from dra_plan.cli.printing import print_warnings

            print_warnings(owed())
        _tell_stored_notes()
        return _fail(Exit.USAGE, *error.lines)
    except BrokenPipeError:
        return _broken_pipe()
    except OSError as error:
        if error.filename is not None:  # an input or output file; other code never lets this error come this far
            return _internal(error)
        _discard_output()
        return _fail(Exit.USAGE, f"cannot write the output: {error.strerror}")
    except KeyboardInterrupt:
        return _fail(Exit.INTERRUPTED, "interrupted")
    except TimeIsOverError as over:
        return _fail(Exit.UNDECIDED, f"no result within {over.seconds:g} s (--timeout)")
    except Exception as error:
        return _internal(error)
    return status or Exit.OK


def _tell_stored_notes() -> None:
    if notes := told_later():
        from dra_plan.cli.printing import print_notes

        print_notes(notes)


def _broken_pipe() -> Exit:
    _discard_output()
    return Exit.BROKEN_PIPE


def _discard_output() -> None:
    """Redirect standard output, because the interpreter flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(status: Exit, *lines: str) -> Exit:
    from dra_plan.cli.printing import print_error

    print_error(*lines)
    return status


def _internal(error: Exception) -> Exit:
    import platform
    import traceback

    from dra_plan import __version__, shown

    # `platform.platform()` starts a process for this, which may fail on a machine that is short of memory.
    system = " ".join((platform.system(), platform.release(), platform.machine()))
    for part in traceback.format_exception(error):
        ours = part.startswith(("  File ", "\n"))  # a frame, or the text between two errors; the rest is a message
        print(shown.lines(part.removesuffix("\n")) if ours else shown.line(part.rstrip("\n")), file=sys.stderr)
    print(
        f"\nerror: this is a defect in dra-plan, not in your input ({type(error).__name__}).\n"
        "Report it to the maintainers of your copy of dra-plan, with the text above, the command, the manifests\n"
        "(or the smallest part of them that shows it), and these versions:\n"
        f"dra-plan {__version__}, Python {platform.python_version()}, {system}",
        file=sys.stderr,
    )
    return Exit.INTERNAL
