"""All methods on all data sets: relative loss and seconds, as a table for the docs."""

import argparse

from common import data_argument, load, machine, names
from elbmf.comparison import Comparison, Result


def cell(result: Result) -> str:
    """Relative loss and seconds, or what went wrong; a dagger where time was up."""
    if result.relative_loss is None:
        return result.status
    mark = "" if result.status == "finished" else " †"
    return f"{result.relative_loss:.3f}, {result.seconds:.3g} s{mark}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--sets", nargs="*", help="data sets, by name; all by default")
    parser.add_argument("--methods", nargs="*", help="all by default")
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--refine", action="store_true", help="also each method refined")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=10, help="seconds for each fit")
    arguments = parser.parse_args()
    print(machine())
    print(f"k = {arguments.rank}, at most {arguments.time_limit:g} s († ended then)\n")
    header = ""
    for name in arguments.sets or names(arguments.data):
        comparison = Comparison(
            load(arguments.data, name),
            arguments.rank,
            arguments.methods or "all",
            refine=arguments.refine,
            time_limit=arguments.time_limit,
            random_state=arguments.seed,
        )
        if not header:
            header = "| set | " + " | ".join(comparison.estimators) + " |"
            print(header)
            print("|---" * (len(comparison.estimators) + 1) + "|", flush=True)
        # In the order of the header.
        print(f"| {name} | " + " | ".join(map(cell, comparison)) + " |", flush=True)


if __name__ == "__main__":
    main()
