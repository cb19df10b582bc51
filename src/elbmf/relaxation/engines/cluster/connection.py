"""The connection to a cluster: who is there, what they are asked, and whether they answer."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from elbmf.errors import ClusterError
from elbmf.relaxation.engines.cluster.holder import Failure

__all__ = ["Connection"]

_LOG = logging.getLogger(__name__)

# Seconds until it is asked whether a worker that does not answer is still there.
_PATIENCE = 2.0

# Seconds that are waited for workers where there are none, or that do nothing for want of memory.
_WAIT = 30.0


@dataclass
class Connection:
    """Asks workers, and never waits for one that is gone."""

    client: Any  # The connection as Dask has it
    _advice: Callable[[], str]  # Returns what to do where the memory of workers is too small
    _had: bool = False  # Whether there were ever any workers

    def present(self, *, wait: bool = False) -> dict[str, int]:
        """Return the threads of the workers that are there; of some, if waiting helps.

        Raises
        ------
        ClusterError
            If the scheduler is gone, or no worker comes.
        """
        until = time.monotonic() + _WAIT
        while True:
            workers: dict[str, int] = {}
            if self.client.status == "running":
                try:
                    workers = dict(self.client.nthreads())
                except Exception as error:
                    _LOG.info("no answer from the scheduler: %s", error)
            if self.client.status != "running":
                raise ClusterError(
                    "The connection to the scheduler was lost, and with it the fit. Start the "
                    "scheduler and the workers again, and fit again."
                )
            self._had = self._had or bool(workers)
            if workers or not wait:
                return workers
            if time.monotonic() > until:
                why = (
                    f" Those that were there are gone; as a rule, they run out of memory. "
                    f"{self._advice()}"
                )
                raise ClusterError(
                    f"The cluster has no workers, and none came within {_WAIT:.0f} seconds. Start "
                    "some, e.g. with: dask worker SCHEDULER_ADDRESS." + (why if self._had else "")
                )
            time.sleep(0.2)

    def answer(
        self,
        call: Any,  # What is to be answered; None if it could not even be asked
        *addresses: str,
    ) -> Any:
        """Wait for an answer; None if one of the workers it depends on is gone.

        Raises
        ------
        Exception
            What went wrong there, if it is not that slabs were missing.
        """
        since = time.monotonic()
        while call is not None:
            try:
                answer = call.result(timeout=_PATIENCE)
            except TimeoutError:
                if not set(addresses) <= self.present().keys():
                    return None
                if not self._paused(addresses):
                    since = time.monotonic()
                elif time.monotonic() > since + _WAIT:
                    raise ClusterError(
                        f"Worker {', '.join(addresses)} has done nothing for {_WAIT:.0f} seconds, "
                        f"because its memory is full. {self._advice()}"
                    ) from None
                continue
            except Exception as error:
                # What goes wrong in an order comes as an answer; this is about the way to it.
                _LOG.info("no answer from %s: %s", ", ".join(addresses), error)
                self.present()
                return None
            if isinstance(answer, Failure):
                if answer.out_of_step:
                    return None
                self._explain(answer, addresses)
            return answer
        return None

    def _paused(self, addresses: tuple[str, ...]) -> bool:
        """Tell whether one of some workers does nothing, because its memory is full."""
        try:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
        except TypeError:  # older versions tell of all of them at once
            workers = self.client.scheduler_info()["workers"]
        return any(workers.get(each, {}).get("status") == "paused" for each in addresses)

    def asked(self, holder: Any, method: str, address: str, *arguments: Any) -> Any:
        """Call a method of what a worker holds, and wait for the answer as `answer` does."""
        return self.answer(self.call(holder, method, *arguments), address)

    def call(self, holder: Any, method: str, *arguments: Any) -> Any:
        """Call a method of what a worker holds; None if it is known already that it is gone."""
        try:
            return getattr(holder, method)(*arguments)
        except RuntimeError:
            return None

    def give_up(self, tasks: list[Any]) -> None:
        """Want the results of some tasks no more, so that they can be asked of others."""
        try:
            self.client.cancel(tasks, force=True)
        except Exception as error:
            _LOG.info("tasks could not be cancelled: %s", error)
            self.present()

    def finished(self, task: Any, *addresses: str) -> bool:
        """Wait for a task whose result stays where it is; False if it or a worker is lost."""
        from distributed import wait

        while True:
            try:
                wait(task, timeout=_PATIENCE)
            except TimeoutError:
                if set(addresses) <= self.present().keys():
                    continue
                return False
            return bool(task.status == "finished")

    def submit(
        self, address: str, function: Callable[..., Any], *arguments: Any, **how: Any
    ) -> Any:
        """Have one worker, and no other, call a function; return the future."""
        return self.client.submit(
            function,
            *arguments,
            workers=[address],
            allow_other_workers=False,
            pure=False,
            **how,
        )

    def _explain(self, failure: Failure, addresses: tuple[str, ...]) -> None:
        if failure.error is None or isinstance(failure.error, MemoryError):
            what = "out of memory" if failure.error else failure.text.strip().splitlines()[-1]
            raise ClusterError(
                f"Worker {', '.join(addresses)}: {what}. {self._advice()}"
            ) from failure.error
        raise failure.error
