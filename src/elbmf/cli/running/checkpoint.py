"""``--checkpoint DIR`` and ``--resume``: whether to go on from where an earlier fit was."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.flags.parameters import named
from elbmf.errors import FileFormatError, InputError
from elbmf.estimators import BooleanFactorizer
from elbmf.estimators.checkpoints import (
    DamagedCheckpointError,
    OtherFitError,
    has_checkpoint,
    noted_fit,
    remove_checkpoint,
)

__all__ = ["KeptFit"]

_ANEW = (
    "Choose another folder with --checkpoint, or pass --overwrite without --resume to start anew "
    "in this one."
)


class KeptFit:
    """What the flags say of an earlier fit, looked at before the work.

    Raises where there is one, and nothing says what to do with it.
    """

    def __init__(self, estimator: BooleanFactorizer, args: argparse.Namespace) -> None:
        given = getattr(estimator, "checkpoint", None)
        self.folder = None if given is None else Path(given)
        self._estimator = estimator
        self._resumes = args.resume
        if self.folder is None:
            if args.resume:
                raise InputError("--resume needs to know from where: add --checkpoint DIR.")
            return
        if self.folder.resolve() == Path(args.output).resolve():
            raise InputError(
                f"{self.folder}: checkpoints and the result cannot be in the same folder. Choose "
                "another with --checkpoint."
            )
        self._found = has_checkpoint(self.folder)
        if self._found and not (args.resume or args.overwrite):
            raise InputError(
                f"{self.folder}: has the checkpoint of a fit. Add --resume to go on from there, "
                "choose another folder with --checkpoint, or pass --overwrite to start anew in "
                "this one."
            )

    def open(self, console: Console) -> None:
        """Take the seed of the earlier fit, or remove what is left of it."""
        if self.folder is None:
            return
        if not self._resumes:
            remove_checkpoint(self.folder)
        elif not self._found:
            console.note(f"{self.folder}: no checkpoint yet, the fit starts from the beginning")
        elif self._estimator.random_state is None:
            self._estimator.set_params(random_state=noted_fit(self.folder).get("random_state"))

    @contextmanager
    def errors_in_flags(self) -> Iterator[None]:
        """Let errors about checkpoints say what to type."""
        try:
            yield
        except OtherFitError as error:
            raise InputError(
                f"{self.folder}: has the checkpoint of another fit, with other "
                f"{named(error.differing)}. {_ANEW}"
            ) from error
        except DamagedCheckpointError as error:
            raise FileFormatError(f"{error} {_ANEW}") from error

    def close(self) -> None:
        """Remove the checkpoint, now that the result is saved."""
        if self.folder is not None:
            remove_checkpoint(self.folder)
