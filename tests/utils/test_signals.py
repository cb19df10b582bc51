"""Signals that end the program wait where it must not end."""

import signal
import threading

import pytest

from elbmf.utils.signals import ENDING, undisturbed


@pytest.fixture(autouse=True)
def heard():
    before = {number: signal.getsignal(number) for number in ENDING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_comes_at_the_end():
    done = []

    def work():
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_ignored_stays_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with undisturbed():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.raise_signal(signal.SIGINT)


def test_an_error_passes_and_other_threads_have_no_signals():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ValueError, match="wrong"), undisturbed():
        raise ValueError("wrong")
    assert signal.getsignal(signal.SIGTERM) is before
    entered = []

    def enter():
        with undisturbed():
            entered.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [before]
