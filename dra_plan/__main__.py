"""`python -m dra_plan`."""

from dra_plan.cli.main import run

if __name__ == "__main__":
    run()
