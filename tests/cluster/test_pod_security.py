"""The level of a namespace is what its admission says of a hostNetwork Pod that is never created."""

from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.permissions import level_of
from nettests.errors import ClusterError
from nettests.model.facts import Fact
from nettests.model.labels import ENFORCED_LEVEL_LABEL
from tests.cluster.api import Reply, Request, serving, write_kubeconfig


def level(
    tmp_path: Path, status: int, message: str = "", labels: dict[str, str] | None = None
) -> Fact[str]:
    """Return the level at a server that answers the dry run so; only with ``labels`` it shows the namespace."""

    def answer(request: Request) -> Reply:
        if request.body is None:
            if "/namespaces/" not in request.path:
                return Reply(body={"gitVersion": "v1.34.1"})
            if labels is None:
                return Reply(status=403, body={"kind": "Status", "message": "forbidden"})
            return Reply(body={"kind": "Namespace", "metadata": {"labels": labels}})
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


@pytest.mark.parametrize(
    "kind", ["exceeded quota: small, requested: pods=1", "failed quota: small"]
)
def test_what_only_a_quota_refuses_is_privileged(tmp_path: Path, kind: str) -> None:
    """Quotas are queried last, so Pod Security had let the Pod in; the label is not needed for that."""
    found = level(
        tmp_path,
        403,
        f'pods "nettests-level" is forbidden: {kind}',
        {ENFORCED_LEVEL_LABEL: "baseline"},
    )
    assert found.value == "privileged"
    assert "quota" in found.origin


TOO_SMALL = (
    'pods "nettests-level" is forbidden: minimum cpu usage per Container is 10m, but request is 1m'
)


def test_a_refusal_that_comes_before_leaves_the_label(tmp_path: Path) -> None:
    """LimitRanges are queried before Pod Security: then the namespace's label tells the level."""
    found = level(tmp_path, 403, TOO_SMALL, {ENFORCED_LEVEL_LABEL: "baseline"})
    assert found.value == "baseline"
    assert "label" in found.origin


@pytest.mark.parametrize("labels", [None, {}])
def test_another_refusal_says_nothing_of_the_level(
    tmp_path: Path, labels: dict[str, str] | None
) -> None:
    """Without a label to read it stays unknown, with the API server's words."""
    found = level(tmp_path, 403, TOO_SMALL, labels)
    assert found.value is None
    assert "minimum cpu usage" in found.origin


def test_a_namespace_that_is_not_there(tmp_path: Path) -> None:
    """The error names it."""
    with pytest.raises(ClusterError, match="no namespace staging"):
        level(tmp_path, 404, 'namespaces "staging" not found')


def test_a_namespace_that_is_terminating_is_named_at_once(tmp_path: Path) -> None:
    """Nothing can be created in it: no permission is missing, and no run begins."""
    said = (
        'pods "nettests-level" is forbidden: unable to create new content in namespace staging '
        "because it is being terminated"
    )
    with pytest.raises(ClusterError, match="staging is terminating") as failed:
        level(tmp_path, 403, said)
    assert "kubectl describe namespace staging" in (failed.value.hint or "")
