"""Results of whole stories, built once: rendering does not change them."""

import pytest

from nettests.report import Results, build_results
from tests.report.scenario import QUIET, eventful, records


@pytest.fixture(scope="session")
def quiet() -> Results:
    """A run in which everything is as documented."""
    return build_results(records(QUIET))


@pytest.fixture(scope="session")
def eventful_run() -> Results:
    """A run in which every verdict occurs."""
    return build_results(records(eventful()))
