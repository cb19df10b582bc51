"""``elbmf bound``: how low the loss of a matrix can be with a number of components."""

import argparse
from collections.abc import Sequence

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import (
    add_binarize,
    add_line_weights,
    add_matrix,
    add_n_jobs,
    add_parameter,
    add_reader_options,
    weight_files,
)

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf bound data.csv -k 3                  a proven lower bound on the loss, and the best found
  elbmf bound data.csv -k 2 --time-limit 60 --json
  elbmf bound permissions.csv -k 40 --extra-weight inf

With up to three components on a small table, the bound is often as high as the best loss. Otherwise
it may be far below, but it still holds. 'elbmf cover' finds the fewest components without error."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf bound DATA -k K [options]"
    add_matrix(parser)
    add_parameter(parser, "n_components", required=True, help="components")
    add_parameter(parser, "extra_weight", default=1.0)
    add_parameter(parser, "time_limit", default=20.0, help="seconds in all (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_parameter(parser, "random_state", help="seed")
    add_n_jobs(parser)
    add_binarize(parser)
    add_line_weights(parser)
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, bound, tell."""
    from elbmf.boolean.coverage import Weights
    from elbmf.cli.reading import boolean, line_weights, read_matrix
    from elbmf.estimators.loss_bound import loss_bound
    from elbmf.estimators.proof import loss_proof
    from elbmf.utils.text import number

    table = read_matrix(args.data, args)
    A, weights = boolean(table, args.binarize, args.data), line_weights(args, table)

    def tell(at_least: int, cost: int) -> None:
        if console.shows_progress:
            console.status(f"at least {number(at_least)}, best {number(cost)}")

    found = loss_bound(
        A,
        args.n_components,
        extra_weight=args.extra_weight,
        time_limit=args.time_limit,
        n_jobs=args.n_jobs,
        random_state=args.random_state,
        tell=tell,
        **weights,
    )
    console.status("")
    if args.json:
        console.result_json(
            {
                "data": args.data,
                "weights": weight_files(args),
                "k": found.n_components,
                "at_least": found.at_least,
                "best": found.cost,
                "proved": found.proved,
                "by": found.proved_by,
            }
        )
        return 0
    best = "the best that was found"
    costs = (found.at_least, found.cost, found.n_components, args.extra_weight)
    price = Weights.of(args.extra_weight, A.shape).missed
    said = loss_proof(*costs, best, price=price, weighted=bool(weights))
    console.result(said + (f" Shown by {_HOW[found.proved_by]}." if found.at_least else ""))
    return 0


_HOW = {
    "search": "searching all factorizations",
    "blocks": "searching blocks of columns one by one, and adding up",
    "fooling sets": "fooling sets: ones no two of which fit in one component",
}
