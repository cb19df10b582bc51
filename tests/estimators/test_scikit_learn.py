"""The checks that scikit-learn has for estimators, on the methods and the binarizers."""

import os
import pickle
import subprocess
import sys
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from elbmf.estimators import METHODS, method
from entrants import BINARIZING, quickly

ESTIMATORS = [*(quickly(method(name))(binarize=0.0) for name in METHODS), *BINARIZING]

# The checks of this name want an environment variable that must be set from the start.
ELSEWHERE = "array_api"
CHECKS = [
    pytest.param(estimator, check, id=f"{estimator}-{check.func.__name__}")
    for each in ESTIMATORS
    for estimator, check in estimator_checks_generator(each)
    if ELSEWHERE not in check.func.__name__
]
SCRIPT = f"""
import pickle, sys
from sklearn.utils.estimator_checks import estimator_checks_generator

for each in pickle.load(sys.stdin.buffer):
    for estimator, check in estimator_checks_generator(each):
        if {ELSEWHERE!r} in check.func.__name__:
            check(estimator)
            print(type(estimator).__name__)
"""


# scikit-learn fits with more components than its tiny data needs, and says so itself.
@pytest.mark.filterwarnings("ignore:n_components:UserWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.slow
def test_checks_that_need_another_process():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        input=pickle.dumps(ESTIMATORS),
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()
    names = [type(estimator).__name__ for estimator in ESTIMATORS]
    assert run.stdout.decode().split() == names
