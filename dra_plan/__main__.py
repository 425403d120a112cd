"""The entry point of `python -m dra_plan`."""

from dra_plan.main import run

if __name__ == "__main__":
    run()
