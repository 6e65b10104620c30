"""Recorded admission of Windows pods: what ``os.name`` forbids, and HostProcess rules."""

from tests.lab.apiserver.admission import ROWS, Json, answers, differences
from tests.lab.apiserver.conftest import TOKEN, Running
from tests.lab.apiserver.replay import Cluster


async def _answers(running: Running) -> dict[int, tuple[int, Json]]:
    return await answers(Cluster(base_url=running.url, token=TOKEN, tls=running.client_tls))


async def test_every_recorded_windows_pod_is_admitted_or_refused_as_recorded(
    running: Running,
) -> None:
    """Status, message, causes and the defaulted spec equal those of the real server."""
    assert differences(await _answers(running)) == {}


async def test_a_dry_run_stores_nothing(running: Running) -> None:
    """``dryRun=All`` answers as a real creation would and leaves no pod behind."""
    await _answers(running)
    assert running.store.records("pods") == []


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
