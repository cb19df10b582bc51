"""How much of everything a page holds at most, so that it opens quickly whatever the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """How much of everything there is at most.

    Parameters
    ----------
    side, cells : int
        Bins of the matrix along a side, and in all.
    rows, columns : int
        Lines that are kept: with names, ones, and the components they are in.
    name : int
        Characters of a name.
    members : int
        Members listed of a component, of rows and of columns.
    outliers : int
        Members that hardly belong, and lines outside that fit best.
    spans : int
        Stretches of a component, along rows and along columns.
    overlaps : int
        Other components that are listed for one.
    blocks, block_side : int
        Components with a grid of their own, and the bins of these along a side.
    enriched : int
        Labels, and known sets, listed for a component.
    classes : int
        Labels that are told apart.
    epochs : int
        Points of a trace.
    text : int
        Characters of a parameter, a warning or a command.
    """

    side: int = 4096
    cells: int = 1 << 20
    rows: int = 1 << 20
    columns: int = 1 << 20
    name: int = 200
    members: int = 200
    outliers: int = 12
    spans: int = 48
    overlaps: int = 24
    blocks: int = 200
    block_side: int = 64
    enriched: int = 12
    classes: int = 500
    epochs: int = 400
    text: int = 10_000

    @classmethod
    def of_components(cls, k: int) -> Limits:
        """Return limits for so many components: of very many, less is said of each."""

        def share(least: int, all_together: int, most: int) -> int:
            return max(least, min(most, all_together // max(k, 1)))

        return cls(
            members=share(20, 20_000, cls.members),
            outliers=share(4, 2_000, cls.outliers),
            spans=share(8, 5_000, cls.spans),
            overlaps=share(6, 4_000, cls.overlaps),
        )

    def halved(self, *names: str) -> Limits:
        """Return the same with half of something; never with less than one."""
        return replace(self, **{name: max(1, getattr(self, name) // 2) for name in names})
