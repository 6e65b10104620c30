"""Recorded answers of kube-apiserver 1.36.2 and its kubelets, row by row."""

from collections import Counter

import pytest

from tests.lab.apiserver.conftest import TOKEN, Running
from tests.lab.apiserver.replay import Cluster, Replay, rows

MAY_DEVIATE = {
    74: "kube-proxy's health port: kube-system",
    83: "needs a shell",
    86: "needs a shell",
    93: "needs a shell",
    96: "attach",
}
NOT_OFFERED = {98: "a port-forward by SPDY inside WebSocket (LIMITS.txt)"}
LEAST_SHARE = 0.9


@pytest.mark.usefixtures("pods_run")
async def test_every_recorded_row_is_answered_as_recorded(running: Running) -> None:
    """Statuses, reasons, messages and shapes are those of the real server, but for the listed rows."""
    transcript = {line: row for line, row in rows("api.jsonl").items() if line not in NOT_OFFERED}
    replay = Replay(Cluster(base_url=running.url, token=TOKEN, tls=running.client_tls))
    await replay.run(transcript)
    unexpected = {
        line: replay.differences[line] for line in replay.differences if line not in MAY_DEVIATE
    }
    assert not unexpected, "\n".join(f"{line}: {why}" for line, why in unexpected.items())
    total = Counter(row["kind"] for row in transcript.values())
    deviating = Counter(transcript[line]["kind"] for line in replay.differences)
    shares = {kind: 1 - deviating[kind] / count for kind, count in total.items()}
    assert min(shares.values()) >= LEAST_SHARE, shares
