"""Recorded answers of a real Kubernetes 1.36.2 and its kubelets, replayed against a whole running lab.

``tests/lab/apiserver`` replays the same rows against the API server alone; here scheduler, node agents,
endpoint controller and programs are the lab's own.
"""

import asyncio
from collections import Counter

from tests.lab.apiserver import admission
from tests.lab.apiserver.replay import Cluster, Replay, rows
from tests.lab.conftest import Labs

NODES = {"n1": "linux-1", "n2": "linux-2"}

NEEDS_A_SHELL = {93: "a pipe from head to tr; the lab's sh runs lists of simple commands"}
"""Of the rows that may deviate (a shell, attach, objects of kube-system) the only one that does."""
OTHERS = {
    7: "Flannel annotates the lab's Nodes, and n1 is its control plane; the recorded cluster had neither",
    98: "the lab's port-forward speaks no SPDY inside its WebSocket, so kubectl's handshake is refused",
}
RACES = {117: "a Pod is deleted again at once: on a busy machine its container has ended meanwhile"}
"""Rows that may deviate, because of what happens beside them."""
LEAST_SHARE = 0.9


def test_a_whole_lab_answers_as_recorded(labs: Labs) -> None:
    """Statuses, reasons, messages and shapes are those of the real cluster, but for the rows listed."""
    transcript = rows("api.jsonl")
    replay = Replay(Cluster.from_kubeconfig(labs["linux"].kubeconfig, NODES))
    asyncio.run(replay.run(transcript))
    told = "\n".join(f"{line}: {why}" for line, why in replay.differences.items())
    assert replay.differences.keys() - RACES.keys() == {**NEEDS_A_SHELL, **OTHERS}.keys(), told
    total = Counter(row["kind"] for row in transcript.values())
    deviating = Counter(transcript[line]["kind"] for line in replay.differences)
    shares = {kind: 1 - deviating[kind] / count for kind, count in total.items()}
    assert min(shares.values()) >= LEAST_SHARE, shares


def test_a_whole_lab_admits_windows_pods_as_recorded(labs: Labs) -> None:
    """All 37 recorded pods are admitted or refused alike, with the same messages and defaults."""
    cluster = Cluster.from_kubeconfig(labs["linux"].kubeconfig, NODES)
    assert admission.differences(asyncio.run(admission.answers(cluster))) == {}
    assert len(admission.ROWS) == 37
