"""The matrix as one HTML file, which needs no network and no script: faults down, flows across. Pure."""

import base64
import hashlib
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from nettests.lab.selftest import sentences
from nettests.lab.selftest.matrix import BUDGET, Matrix

_MOST = 12


def render(matrix: Matrix) -> str:
    """Return the page."""
    environment = _environment()
    style = _source("selftest.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    turned = {flow for row in matrix.ran for flow, _, _ in row.turned}
    return environment.get_template("selftest.html.j2").render(
        matrix=matrix,
        flows=[flow for flow in matrix.flows if flow in turned],
        style=Markup(style),  # noqa: S704 - shipped with the package
        policy=f"default-src 'none'; style-src 'sha256-{digest}'",
        most=_MOST,
        budget=BUDGET,
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nettests.lab.selftest"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        headline=sentences.headline,
        counted=sentences.counted,
        reasons=sentences.reasons,
        state=sentences.state,
        word=sentences.word,
        judged_again=sentences.judged_again,
        left_open=sentences.left_open,
        times=sentences.times,
    )
    return environment


@lru_cache(maxsize=1)
def _source(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
