"""Known vulnerabilities of what is installed with dra-plan, asked of a public database. `make audit` runs it.

Exit status: 1 if there are any. Where the database can't be reached, or does not know a package, that is said and
is no failure, so that builds without a network pass; with `--strict` it is 3.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
FAILED, NOT_DONE = 1, 3


def ask(command: list[str]) -> dict[str, Any] | None:
    """What the audit tool found, or None if it could not find out; what it says about that goes to standard error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        print(done.stderr.strip().rpartition("\n")[2], file=sys.stderr)
        return None
    return found


def judge(found: dict[str, Any] | None, *, strict: bool) -> int:
    """Says what was found, and gives the exit status."""
    if found is None:
        print("not audited: the database of vulnerabilities can't be reached")
        return NOT_DONE if strict else 0
    dependencies = found["dependencies"]
    skipped = [each for each in dependencies if "skip_reason" in each]
    vulnerable = [(each, vulnerability) for each in dependencies for vulnerability in each.get("vulns", ())]
    for each, vulnerability in vulnerable:
        fixed = ", ".join(vulnerability["fix_versions"]) or "no version yet"
        print(f"{each['name']} {each['version']}: {vulnerability['id']}, mended in {fixed}")
    if skipped:
        print(f"not audited, as the database does not know them: {', '.join(each['name'] for each in skipped)}")
    print(
        f"{len(dependencies) - len(skipped)} of {len(dependencies)} packages audited, {len(vulnerable)} vulnerabilities"
    )
    if vulnerable:
        return FAILED
    return NOT_DONE if strict and skipped else 0


def main(arguments: list[str]) -> int:
    """Audits the locked packages that users get."""
    tool = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip", "-r", str(LOCK)]
    found = ask([*tool, "--format", "json", "--progress-spinner", "off", "--timeout", "10"])
    return judge(found, strict="--strict" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
