"""What happens to errors that reach the command line: each gets a message on standard error and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from dra_plan.errors import DraPlanError

from .exits import Exit


def guarded(action: Callable[[], Exit | None]) -> Exit:
    """Run `action` to its exit status, whatever it raises.

    An error that dra-plan raises on purpose is a usage or input error; any other exception is a defect of dra-plan.
    `SystemExit` passes: it is how the option parser leaves.
    """
    try:
        status = action()
        sys.stdout.flush()
    except DraPlanError as error:
        return _fail(Exit.USAGE, *error.lines)
    except BrokenPipeError:
        return _broken_pipe()
    except OSError as error:
        if error.filename is not None:  # a file that was to be read or written: nothing here lets that come so far
            return _internal(error)
        _discard_output()
        return _fail(Exit.USAGE, f"can't write the output: {error.strerror}")
    except KeyboardInterrupt:
        return _fail(Exit.INTERRUPTED, "interrupted")
    except Exception as error:
        return _internal(error)
    return status or Exit.OK


def _broken_pipe() -> Exit:
    _discard_output()
    return Exit.BROKEN_PIPE


def _discard_output() -> None:
    """The interpreter flushes standard output once more at exit; it must find a place to write to."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(status: Exit, *lines: str) -> Exit:
    from .printing import print_error

    print_error(*lines)
    return status


def _internal(error: Exception) -> Exit:
    import platform
    import traceback

    from dra_plan import __version__, shown

    # `platform.platform()` starts a process for this, which a machine short of memory may refuse
    system = " ".join((platform.system(), platform.release(), platform.machine()))
    for part in traceback.format_exception(error):
        ours = part.startswith(("  File ", "\n"))  # a frame, or the words between two errors; the rest is a message
        print(shown.lines(part.removesuffix("\n")) if ours else shown.line(part.rstrip("\n")), file=sys.stderr)
    print(
        f"\nerror: this is a defect of dra-plan, not of your input ({type(error).__name__}).\n"
        "Please report it to those from whom you have dra-plan, with the text above, the command, the manifests\n"
        "(or the smallest part of them that shows it), and these versions:\n"
        f"dra-plan {__version__}, Python {platform.python_version()}, {system}",
        file=sys.stderr,
    )
    return Exit.INTERNAL
