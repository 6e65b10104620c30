"""Recorded admission of Windows pods: what ``os.name`` forbids, and HostProcess rules."""

from collections.abc import Callable
from typing import Any

from tests.lab.apiserver.admission import ROWS, Json, answers, differences
from tests.lab.apiserver.conftest import TOKEN, Running
from tests.lab.apiserver.replay import Cluster


async def _answers(running: Running) -> dict[int, tuple[int, Json]]:
    return await answers(Cluster(base_url=running.url, token=TOKEN, tls=running.client_tls))


def test_every_recorded_windows_pod_is_admitted_or_refused_as_recorded(
    api: Callable[..., Any],
) -> None:
    """Status, message, causes and the defaulted spec equal those of the real server."""
    assert differences(api(_answers)) == {}


def test_a_dry_run_stores_nothing(api: Callable[..., Any]) -> None:
    """``dryRun=All`` answers as a real creation would and leaves no pod behind."""

    async def run(running: Running) -> int:
        await _answers(running)
        return len(running.store.records("pods"))

    assert api(run) == 0


def test_the_comparison_can_fail() -> None:
    """A changed message of a refusal and a changed default of an admitted pod are noticed."""
    recorded = {line: (row["status"], row["response"]) for line, row in ROWS.items()}
    assert differences(recorded) == {}
    refused = next(line for line, row in ROWS.items() if row["status"] == 422)
    admitted = next(line for line, row in ROWS.items() if row["status"] == 201)
    status, response = recorded[refused]
    recorded[refused] = (status, {**response, "message": response["message"] + "x"})
    status, response = recorded[admitted]
    spec = {**response["spec"], "restartPolicy": "Never"}
    recorded[admitted] = (status, {**response, "spec": spec})
    assert set(differences(recorded)) == {refused, admitted}
