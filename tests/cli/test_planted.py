"""Secrets planted in every text of every object that discovery reads: no command that shows a cluster repeats one."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from click.testing import CliRunner

from nettests.cli import main
from nettests.cluster.connection import ApiError
from scripts.sample_readings.served import Served
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig
from tests.fuzz.test_shapes import CLUSTER

SHAPES = (
    *("password={}", "https://me:{}@host.test/x", "Authorization: Bearer {}", "--token={}"),
    *("glpat-{}", "DB_PW={}", '{{"client_secret": "{}"}}'),
)
COMMANDS = (["discover"], ["discover", "--json"], ["preflight"], ["preflight", "--json"], ["plan"])
NAMES = frozenset({"name", "namespace"})
"""What an API server holds to the grammar of names: it has no room for a secret of these shapes."""


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the texts of an object stand."""
    if isinstance(value, str):
        yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # fmt: skip
    for key, item in inner:
        if key not in NAMES:
            yield from places(item, (*place, key))


PLACES = tuple(places(CLUSTER))


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
        if address.path == "/version":
            return Reply(body={"gitVersion": "v1.33.5"})
        if request.method == "POST":
            allowed = {**(request.body or {}), "status": {"allowed": True}}
            return Reply(status=201, body=allowed)
        try:
            return Reply(body=served.get(address.path))
        except ApiError:
            items = served.items(address.path, **dict(parse_qsl(address.query)))
            return Reply(body={"metadata": {"resourceVersion": "1"}, "items": items})

    return answer


@pytest.mark.parametrize("turn", range(len(SHAPES)))
def test_no_text_of_an_object_is_shown_with_a_secret(tmp_path: Path, turn: int) -> None:
    """Annotations, labels, taints, variables, images, versions, states, ConfigMaps: each with each shape."""
    cluster, planted = sown(turn, behind=turn % 2 == 0)
    assert len(planted) > 100
    with serving(answering(cluster)) as api:
        file = write_kubeconfig(tmp_path / "config", api.url)
        for command in COMMANDS:
            shown = CliRunner().invoke(main, [*command, f"--kubeconfig={file}"]).output
            assert [where for secret, where in planted.items() if secret in shown] == [], command


def test_a_refusal_is_shown_without_the_secret_that_it_repeats(tmp_path: Path) -> None:
    """An admission webhook or an API server words it."""
    refused = status(403, "Forbidden", "webhook said: password=hunter2-planted")
    with serving(lambda _: refused) as api:
        file = write_kubeconfig(tmp_path / "config", api.url)
        for command in (*COMMANDS, ["gc"], ["images", "--digests"]):
            shown = CliRunner().invoke(main, [*command, f"--kubeconfig={file}"]).output
            assert "webhook said" in shown, command
            assert "hunter2" not in shown, command
