"""The example of a web service answers."""

import importlib.util
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from pages import ROOT

from elbmf import GreConD
from elbmf.errors import InputError

pytestmark = pytest.mark.docs

fastapi = pytest.importorskip("fastapi")
pytest.importorskip("httpx")

NAMES = ["git", "ci", "staging", "ledger", "invoices"]
TABLE = pd.DataFrame(
    [[1, 1, 1, 0, 0]] * 4 + [[0, 0, 0, 1, 1]] * 3,
    index=[f"u{i}" for i in range(7)],
    columns=NAMES,
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # It would rather have another package than httpx.
        from fastapi.testclient import TestClient
    folder = tmp_path_factory.mktemp("service") / "model"
    GreConD(2).fit(TABLE).save(folder)
    place = ROOT / "examples" / "service" / "service.py"
    spec = importlib.util.spec_from_file_location("service_example", place)
    service = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELBMF_MODEL", str(folder))
        # Models of requests look up their types in the module.
        patch.setitem(sys.modules, "service_example", service)
        spec.loader.exec_module(service)
        with TestClient(service.app) as client:
            yield client


def ask(client, **rows):
    answer = client.post("/components", json={"rows": rows})
    return answer.status_code, answer.json()


def test_rows_get_their_components_by_name(client):
    rows = {
        "Ann": dict.fromkeys(NAMES, 1),
        "Bob": {"invoices": 1, "ledger": True},
        "Cy": {"git": 1, "ci": None, "staging": 1},
        "Dee": {},
    }
    status, found = ask(client, **rows)
    assert status == 200
    named = {name: [each["columns"] for each in found[name]] for name in rows}
    work, books = NAMES[:3], NAMES[3:]
    assert named == {"Ann": [work, books], "Bob": [books], "Cy": [work], "Dee": []}
    assert [each["component"] for each in found["Ann"]] == [0, 1]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"vpn": 1, "git": 1}, "'Ann' has columns that are unknown to the model: 'vpn'."),
        ({"git": 2}, "The cell 2 at row 'Ann', column 'git' must be 0, 1 or missing."),
        ({"git": 0.5}, "The cell 0.5 at row 'Ann', column 'git' must be"),
        ({"git": -1}, "The cell -1 at row 'Ann', column 'git' must be"),
        ({"git": "often"}, "valid number"),
        ([1, 0, 0, 0, 0], "dictionary"),
    ],
)
def test_what_the_model_does_not_know_is_refused_with_a_message(client, row, said):
    status, answer = ask(client, Ann=row)
    assert status == 422
    assert said in str(answer["detail"])


def test_a_request_without_rows_is_refused(client):
    assert ask(client)[0] == 422


def test_requests_at_the_same_time_do_not_disturb_each_other(client):
    rows = [dict(zip(NAMES, map(int, TABLE.iloc[i]), strict=True)) for i in range(7)] * 4
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda row: ask(client, Ann=row)[1]["Ann"], rows))
    numbers = [[each["component"] for each in answer] for answer in answers]
    assert numbers == np.repeat([0, 1], [4, 3]).reshape(-1, 1).tolist() * 4


def test_a_model_without_names_of_columns_is_refused_at_once(client, tmp_path, monkeypatch):
    GreConD(2).fit(TABLE.to_numpy()).save(tmp_path / "nameless")
    monkeypatch.setenv("ELBMF_MODEL", str(tmp_path / "nameless"))
    with pytest.raises(InputError, match="has no names of columns"), type(client)(client.app):
        pass
