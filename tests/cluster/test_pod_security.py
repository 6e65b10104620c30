"""The level of a namespace is what its admission says of a hostNetwork Pod that is never created."""

from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.pod_security import level_of
from nettests.errors import ClusterError
from nettests.model.facts import Fact
from tests.cluster.api import Reply, Request, serving, write_kubeconfig


def level(tmp_path: Path, status: int, message: str = "") -> Fact[str]:
    """Return the level at a server that answers the dry run so."""

    def answer(request: Request) -> Reply:
        if request.body is None:
            return Reply(body={"gitVersion": "v1.34.1"})
        assert "dryRun=All" in request.path
        return Reply(status=status, body={"kind": "Status", "message": message})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        try:
            return level_of(connection, "staging")
        finally:
            connection.close()


@pytest.mark.parametrize("name", ["baseline", "restricted"])
def test_a_refusal_names_the_level(tmp_path: Path, name: str) -> None:
    """The words of Pod Security admission hold it, quoted as JSON quotes."""
    said = f'pods "x" is forbidden: violates PodSecurity "{name}:latest": host namespaces'
    assert level(tmp_path, 403, said).value == name


def test_what_is_let_in_is_privileged(tmp_path: Path) -> None:
    """A hostNetwork Pod passes no other level."""
    assert level(tmp_path, 201).value == "privileged"


def test_another_refusal_says_nothing_of_the_level(tmp_path: Path) -> None:
    """It stays unknown, with the API server's words."""
    found = level(tmp_path, 403, "exceeded quota: limited")
    assert found.value is None
    assert "exceeded quota: limited" in found.origin


def test_a_namespace_that_is_not_there(tmp_path: Path) -> None:
    """The error names it."""
    with pytest.raises(ClusterError, match="no namespace staging"):
        level(tmp_path, 404, 'namespaces "staging" not found')
