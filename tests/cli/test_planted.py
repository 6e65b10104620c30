"""Secrets planted in every text of every object that discovery reads: no command that shows a cluster repeats one."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from click.testing import CliRunner

from nettests.cli import main
from nettests.cluster.connection import ApiError
from nettests.model.labels import CREATED, EXPIRES, OWNER_LABEL, RUN_LABEL
from scripts.sample_readings.served import Served
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig
from tests.fuzz.test_shapes import CLUSTER

SHAPES = (
    *("password={}", "https://me:{}@host.test/x", "Authorization: Bearer {}", "--token={}"),
    *("glpat-{}", "DB_PW={}", '{{"client_secret": "{}"}}'),
)
COMMANDS = (["discover"], ["discover", "--json"], ["preflight"], ["preflight", "--json"], ["plan"])
CHECK = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
EVERY = (
    *COMMANDS,
    *(["plan", "--json"], ["images"], ["images", "--json"], ["images", "--digests"], ["render"]),
    *(["gc"], ["gc", "--json"], ["explain", CHECK], ["forecast", "--to", "kubernetes=1.35"]),
    *(["list", "checks"], ["diagnose"], ["calibrate"], ["trace", CHECK]),
)
"""Every command that reads a cluster and creates nothing in it, or refuses to."""
NASTY = "x\x1b]0;owned\x07\x9b2J\u202e\u061c[red]:boom:\nNothing blocks a run."
OBEYED = frozenset("\x1b\x07\x9b\u202e\u061c")
NAMES = frozenset({"name", "namespace"})
"""What an API server holds to the grammar of names: it has no room for a secret of these shapes."""
CLOSED = frozenset({"kubernetes.io/os", "operatingSystem", "type", "status"})
"""Words of closed sets, by which a node is one that can be used: without them every command ends early."""
LEFT = {
    "metadata": {
        "name": "nettests-r1",
        "uid": "u1",
        "labels": {RUN_LABEL: "r1", OWNER_LABEL: "me"},
        "annotations": {CREATED: "2026-11-21T14:00:00Z", EXPIRES: "2026-11-21T20:00:00Z"},
        "deletionTimestamp": "2026-11-21T15:00:00Z",
    }
}


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the texts of an object stand."""
    if isinstance(value, str):
        yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # fmt: skip
    for key, item in inner:
        if key not in NAMES | CLOSED:
            yield from places(item, (*place, key))


PLACES = tuple(places(CLUSTER))


def hostile(*, behind: bool) -> dict[str, Any]:
    """Return the cluster with an attack on terminals behind each text, or instead of it."""
    cluster = deepcopy(CLUSTER)
    for *above, last in PLACES:
        holder = cluster
        for key in above:
            holder = holder[key]
        holder[last] = f"{holder[last]}{NASTY}" if behind else NASTY
    left = deepcopy(LEFT)
    left["metadata"]["labels"] = {RUN_LABEL: f"r1{NASTY}", OWNER_LABEL: NASTY}
    return cluster | {"namespaces": [left], "gitVersion": f"v1.33.5+{NASTY}"}


def sown(turn: int, *, behind: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the cluster with a secret in each place, behind the text there or instead of it, and the secrets."""
    cluster, planted = deepcopy(CLUSTER), {}
    for number, (*above, last) in enumerate(PLACES):
        holder = cluster
        for key in above:
            holder = holder[key]
        secret = f"Pl4nt{number:04}zK9qWxY7bNmT3r"
        shaped = SHAPES[(number + turn) % len(SHAPES)].format(secret)
        holder[last] = f"{holder[last]} {shaped}" if behind else shaped
        planted[secret] = ".".join(map(str, (*above, last))) + f": {shaped}"
    return cluster, planted


def answering(cluster: dict[str, Any]) -> Callable[[Request], Reply]:
    """Return an API server that holds these objects."""
    served = Served(cluster)

    def answer(request: Request) -> Reply:
        address = urlsplit(request.path)
        if address.path == "/api/v1/namespaces":
            return Reply(body={"metadata": {}, "items": cluster.get("namespaces", [])})
        if address.path == "/version":
            return Reply(body={"gitVersion": cluster.get("gitVersion", "v1.33.5")})
        if request.method == "POST":
            allowed = {**(request.body or {}), "status": {"allowed": True}}
            return Reply(status=201, body=allowed)
        with suppress(ApiError):
            return Reply(body=served.get(address.path))
        with suppress(ApiError):
            items = served.items(address.path, **dict(parse_qsl(address.query)))
            return Reply(body={"metadata": {"resourceVersion": "1"}, "items": items})
        if "labelSelector" in address.query:
            return Reply(body={"metadata": {}, "items": []})
        return status(404, "NotFound", "no such collection")

    return answer


@pytest.mark.parametrize("turn", range(len(SHAPES)))
def test_no_text_of_an_object_is_shown_with_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    """Annotations, labels, taints, variables, images, versions, states, ConfigMaps: each with each shape."""
    monkeypatch.chdir(tmp_path)
    cluster, planted = sown(turn, behind=turn % 2 == 0)
    assert len(planted) > 100
    with serving(answering(cluster)) as api:
        file = write_kubeconfig(tmp_path / "config", api.url)
        for command in EVERY if turn < 2 else COMMANDS:
            shown = CliRunner().invoke(main, [*command, f"--kubeconfig={file}"]).output
            assert [where for secret, where in planted.items() if secret in shown] == [], command
            assert "no Linux or Windows node" not in shown, command
    for path in tmp_path.rglob("*"):
        written = path.read_text() if path.is_file() else ""
        assert [where for secret, where in planted.items() if secret in written] == [], path


def test_a_refusal_is_shown_without_the_secret_that_it_repeats(tmp_path: Path) -> None:
    """An admission webhook or an API server words it."""
    refused = status(403, "Forbidden", "webhook said: password=hunter2-planted")
    with serving(lambda _: refused) as api:
        file = write_kubeconfig(tmp_path / "config", api.url)
        for command in (*COMMANDS, ["gc"], ["images", "--digests"]):
            shown = CliRunner().invoke(main, [*command, f"--kubeconfig={file}"]).output
            assert "webhook said" in shown, command
            assert "hunter2" not in shown, command


@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_no_text_of_an_object_is_obeyed_by_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], behind: bool
) -> None:
    """Control characters, escape sequences and reordering are named, and no line is forged."""
    monkeypatch.chdir(tmp_path)  # some write a report
    with serving(answering(hostile(behind=behind))) as api:
        file = write_kubeconfig(tmp_path / "config", api.url)
        done = CliRunner().invoke(main, [*words, f"--kubeconfig={file}"])
    assert not OBEYED & set(done.output)
    assert not [line for line in done.output.splitlines() if line.startswith("Nothing blocks")]
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert "no Linux or Windows node" not in done.output
    assert "Usage:" not in done.output
