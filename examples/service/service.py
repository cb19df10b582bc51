"""A web service that tells which components a row has.

The model is a folder that `elbmf fit` or `model.save` made, of data with names of columns::

    pip install fastapi uvicorn pandas
    ELBMF_MODEL=model uvicorn service:app

A request has rows by name, and the cells of each by the names of their columns::

    POST /components    {"rows": {"Ann": {"bread": 1, "coffee": 1, "jam": null}}}
    200                 {"Ann": [{"component": 0, "columns": ["bread", "butter", "coffee", "jam"]}]}

Cells that are not there are 0, and null stands for what is not known. What the model does not know,
and what is neither 0 nor 1, is answered with status 422 and a message.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import numpy as np
import pandas as pd
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

import elbmf
from elbmf.errors import InputError


class Rows(BaseModel):
    """What a request holds."""

    rows: Annotated[dict[str, dict[str, float | None]], Field(min_length=1)]


class Component(BaseModel):
    """A component of a row, and what is in it."""

    component: int
    columns: list[str]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the model before the first request, and the compiled code that it takes."""
    # A request has few rows. Cores are for other requests.
    folder = os.environ["ELBMF_MODEL"]
    app.state.model = elbmf.load(folder).set_params(n_jobs=1)
    if not hasattr(app.state.model, "feature_names_in_"):
        raise InputError(f"{folder}: has no names of columns. Fit data that has them.")
    elbmf.warm_up(app.state.model)
    yield


app = FastAPI(title="Components", lifespan=lifespan)


@app.exception_handler(InputError)
def refuse(request: Request, error: InputError) -> JSONResponse:
    """Tell what is wrong with the rows."""
    return JSONResponse({"detail": str(error)}, status_code=422)


@app.post("/components")
def components(given: Rows, request: Request) -> dict[str, list[Component]]:
    """Return the components of each row."""
    model = request.app.state.model
    columns = list(model.feature_names_in_)
    place = {name: at for at, name in enumerate(columns)}
    cells = np.zeros((len(given.rows), len(columns)))
    for row, (name, values) in zip(cells, given.rows.items(), strict=True):
        unknown = [column for column in values if column not in place]
        if unknown:
            names = ", ".join(map(repr, unknown[:3]))
            raise InputError(f"{name!r} has columns that are unknown to the model: {names}.")
        row[[place[column] for column in values]] = [
            np.nan if value is None else value for value in values.values()
        ]
    found = model.transform(pd.DataFrame(cells, index=list(given.rows), columns=columns))
    return {
        name: [
            Component(
                component=int(each),
                columns=model.feature_names_in_[model.components_[each]].tolist(),
            )
            for each in np.flatnonzero(row)
        ]
        for name, row in zip(given.rows, found, strict=True)
    }
