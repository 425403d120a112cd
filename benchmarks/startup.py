"""Start-up time: `dra-plan --version`, `--help` and the quickstart beside a three-line typer program's `--help`.

    python benchmarks/startup.py

Best of N runs in seconds of processor time; other work on the machine only adds. Targets: `--version` and `--help` at
most 0.05 s more than the typer program, the quickstart at most 0.45 s.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("CHECKOUT", Path(__file__).parents[1]))
RUNS = 15
TYPER = "import typer\ndef main(name: str) -> None: print(name)\ntyper.run(main)\n"


def best(*arguments: str) -> float:
    """Seconds of processor time of the quickest run of the interpreter with these arguments."""
    times = []
    for _ in range(RUNS):
        process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, arguments
        times.append(used.ru_utime + used.ru_stime)
    return min(times)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "three_lines.py"
        program.write_text(TYPER)
        rows = {
            "bare interpreter": best("-c", "pass"),
            "three-line typer program --help": best(str(program), "--help"),
            "dra-plan --version": best("-m", "dra_plan", "--version"),
            "dra-plan --help": best("-m", "dra_plan", "--help"),
            "dra-plan allocate fixtures/quickstart": best("-m", "dra_plan", "allocate", "fixtures/quickstart"),
        }
    for name, seconds in rows.items():
        print(f"{name:40} {seconds:.3f} s")


if __name__ == "__main__":
    main()
