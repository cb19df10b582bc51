"""Boolean factors as packed bits, in both directions, as the local search wants them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import Bools, Words, pack
from elbmf.errors import InputError
from elbmf.kernels.sets import Bits

__all__ = ["PackedFactors", "factors_from_bytes", "factors_to_bytes", "require_bits", "unpack"]


def factors_to_bytes(U: Bools, V: Bools) -> NDArray[np.uint8]:
    """Return a pair of Boolean factors as bits, U first."""
    return np.concatenate([np.packbits(U), np.packbits(V)])


def factors_from_bytes(data: NDArray[np.uint8], n: int, k: int, m: int) -> tuple[Bools, Bools]:
    """Undo `factors_to_bytes`; more bytes may follow.

    Raises
    ------
    InputError
        If there are fewer.
    """
    if data.dtype != np.uint8 or data.ndim != 1 or data.size < -(-n * k // 8) + -(-k * m // 8):
        raise InputError(f"expected the bits of factors of a {n}×{m} matrix, {k} components")
    U = np.unpackbits(data, count=n * k).view(np.bool_).reshape(n, k)
    V = np.unpackbits(data[-(-n * k // 8) :], count=k * m).view(np.bool_).reshape(k, m)
    return U, V


def unpack(words: Words, length: int) -> Bools:
    """Undo `elbmf.boolean.product.pack`: rows of words as Booleans."""
    as_bytes = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=length, bitorder="little").view(np.bool_)


def _differ(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return not np.array_equal(one, other)


def require_bits(words: Words, length: int, what: str) -> None:
    """Raise an InputError where words from a file are no packed rows of a length."""
    fitting = words.dtype == np.uint64 and words.ndim == 2
    if not fitting or _differ(pack(unpack(words, length)), words):
        raise InputError(f"{what} must be packed rows of {length} bits")


@dataclass
class PackedFactors:
    """A pair of Boolean factors and what they cost."""

    shape: tuple[int, int]  # Rows and columns of the product
    bits: Bits  # The factors, and what the local search still has to look at
    cost: int  # What the factors cost, kept up to date by the local search

    @classmethod
    def from_arrays(cls, U: Bools, V: Bools, cost: int) -> "PackedFactors":
        """Pack a pair of Boolean factors; everything is still to be looked at."""
        shape = (U.shape[0], V.shape[1])
        rows = pack(U)
        bits = Bits(
            memberships=(rows, pack(V.T)),
            component_bits=(pack(U.T), pack(V)),
            pending=(np.ones(shape[0], dtype=np.bool_), np.ones(shape[1], dtype=np.bool_)),
            stale=np.zeros((2, rows.shape[1]), dtype=np.uint64),
        )
        return cls(shape, bits, cost)

    def to_arrays(self) -> tuple[Bools, Bools]:
        """Return U and V as Boolean arrays."""
        U, V = (unpack(self.bits.component_bits[axis], self.shape[axis]) for axis in (0, 1))
        return np.ascontiguousarray(U.T), V

    def to_bytes(self) -> NDArray[np.uint8]:
        """Return all there is of the bits, one array after the other, for `from_bytes`."""
        return np.concatenate([array.reshape(-1).view(np.uint8) for array in self._arrays()])

    @classmethod
    def from_bytes(
        cls, data: NDArray[np.uint8], shape: Sequence[int], n_slots: int, cost: int
    ) -> "PackedFactors":
        """Undo `to_bytes`, also as to what is still to be looked at; more bytes may follow.

        Raises
        ------
        InputError
            If there are fewer, or they are those of no factors.
        """
        wrong = InputError(f"expected the bits of {n_slots} components, packed in both directions")
        if data.dtype != np.uint8 or data.ndim != 1 or 8 * data.size < n_slots * max(*shape, 1):
            raise wrong
        U, V = np.zeros((shape[0], n_slots), np.bool_), np.zeros((n_slots, shape[1]), np.bool_)
        factors = cls.from_arrays(U, V, cost)
        for array in factors._arrays():
            piece = data[: array.nbytes]
            if piece.size < array.nbytes or (array.dtype == np.bool_ and (piece > 1).any()):
                raise wrong
            array.reshape(-1).view(np.uint8)[:] = piece
            data = data[array.nbytes :]
        same = cls.from_arrays(*factors.to_arrays(), cost)
        if any(map(_differ, factors._arrays()[:4], same._arrays()[:4])):
            raise wrong
        return factors

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        bits = self.bits
        return (*bits.memberships, *bits.component_bits, *bits.pending, bits.stale)

    @property
    def n_slots(self) -> int:
        """Number of components."""
        return self.bits.component_bits[0].shape[0]

    @property
    def every(self) -> Words:
        """All components, packed."""
        return np.full(self.bits.stale.shape[1], ~np.uint64(0))

    def used(self) -> Bools:
        """Tell for each component whether it covers anything."""
        rows, columns = self.bits.component_bits
        return np.logical_and(rows.any(axis=1), columns.any(axis=1))
