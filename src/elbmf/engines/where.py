"""What a user says of where the slabs are to live."""

from dataclasses import dataclass

__all__ = ["Where"]


@dataclass(frozen=True)
class Where:
    """Where slabs may live, and what may visit them.

    Parameters
    ----------
    n_jobs : int, optional
        Threads. All cores by default.
    device : str, optional
        A device of torch. By default there is none: our own kernels on the processor.
    """

    n_jobs: int | None = None
    device: str | None = None
