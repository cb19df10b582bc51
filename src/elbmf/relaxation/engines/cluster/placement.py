"""Which worker holds which slabs.

Neighbouring slabs go together, in runs that fit the tree of `elbmf.relaxation.engines.base`: the
fewer sums are left over at the ends of a run, the fewer have to travel.
"""

from collections.abc import Iterable, Mapping
from itertools import accumulate

__all__ = ["address_book", "next_in_ring", "share_out", "tree_runs"]

# By so much the largest share may exceed an even one, for the sake of the tree.
_UNEVEN = 1.1


def tree_runs(
    count: int,
    workers: Mapping[str, int],  # Threads of the worker at each address
) -> dict[int, str]:
    """Spread slabs over workers.

    Returns
    -------
    dict of int to str
        The address for each slab. Workers beyond the slabs get none.
    """
    addresses = sorted(workers, key=lambda address: (-workers[address], address))[:count]
    threads = [workers[address] for address in addresses]
    so_far, total = list(accumulate(threads)), sum(threads)
    even = [count * own / total for own in threads]
    block = 1 << (count // max(len(addresses), 1)).bit_length()
    while True:
        # Halves are always rounded up: to even numbers, equal workers would differ by two.
        blocks = [(2 * count * each + block * total) // (2 * block * total) for each in so_far]
        ends = [min(count, block * each) for each in blocks]
        shares = [end - start for start, end in zip([0, *ends], ends, strict=False)]
        most = max(own / fair for own, fair in zip(shares, even, strict=True))
        if block == 1 or (most <= _UNEVEN and min(shares) > 0 and ends[-1] == count):
            break
        block //= 2
    homes: dict[int, str] = {}
    for address, start, end in zip(addresses, [0, *ends], ends, strict=False):
        homes.update(dict.fromkeys(range(start, end), address))
    return homes


def share_out(
    numbers: Iterable[int],
    workers: Mapping[str, int],  # Threads of the worker at each address
    homes: Mapping[int, str],  # Where all other slabs are
) -> dict[int, str]:
    """Spread slabs whose workers are gone over those that are there."""
    load = dict.fromkeys(workers, 0)
    for address in homes.values():
        if address in load:
            load[address] += 1
    placed = {}
    for number in sorted(numbers):
        placed[number] = min(load, key=lambda address: (load[address] / workers[address], address))
        load[placed[number]] += 1
    # Neighbours stay together as far as the shares allow.
    shares = sorted(placed.values())
    return dict(zip(sorted(placed), shares, strict=True))


def address_book(homes: Mapping[int, str], numbers: Iterable[int]) -> dict[str, list[int]]:
    """Group slabs by where they are."""
    book: dict[str, list[int]] = {}
    for number in sorted(numbers):
        book.setdefault(homes[number], []).append(number)
    return book


def next_in_ring(address: str, workers: Iterable[str]) -> str | None:
    """Return who keeps copies for a worker: the next one, on another machine if there is any."""
    ring = sorted(workers)
    after = [other for other in (*ring, *ring) if other != address]
    later = [other for other in after if other > address] or after
    host = address.rsplit(":", 1)[0]
    abroad = [other for other in (*later, *after) if other.rsplit(":", 1)[0] != host]
    return next(iter(abroad or later), None)
