"""Applying a Job: what is missing is created, what is ours updated, and nothing of anybody else's is touched."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.cluster import Connection
from nettests.cluster.job_objects import Applied, apply, require_admitted, require_namespace
from nettests.errors import ClusterError
from nettests.job.validation import Role
from tests.cluster.api import status
from tests.cluster.batch import Held, holding
from tests.job.made import objects

JOB = "/apis/batch/v1/namespaces/nettests/jobs/nettests"
ACCOUNT = "/api/v1/namespaces/nettests/serviceaccounts/nettests"
FULL = "/apis/rbac.authorization.k8s.io/v1/clusterroles/nettests-full"
PODS = "/api/v1/namespaces/nettests/pods"
ENDED = {"conditions": [{"type": "Failed", "status": "True"}]}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[Held, Connection]]:
    """A cluster that holds what it is given."""
    with holding(tmp_path) as (held, connection, _):
        yield held, connection


def applied(connection: Connection, *, replace: bool = False, **given: object) -> dict[str, str]:
    """Apply a Job; what became of each object."""
    told: list[Applied] = []
    apply(connection, objects(**given), replace=replace, say=told.append)
    return {one.what: one.done for one in told}


def test_everything_is_created_in_order(cluster: tuple[Held, Connection]) -> None:
    """A namespace before what is in it, a role before its binding, and the Job last."""
    held, connection = cluster
    told = applied(connection)
    assert set(told.values()) == {"created"}
    assert next(iter(told)) == "Namespace nettests"
    assert list(told)[-1] == "Job nettests in nettests"
    assert len(held.objects) == len(told) == len(objects())


def test_a_second_time_nothing_changes_but_the_cron_job(cluster: tuple[Held, Connection]) -> None:
    """A CronJob is written again, because an API server adds defaults that hide whether it is the same."""
    held, connection = cluster
    applied(connection, schedule="17 2 * * *")
    cron = next(item for path, item in held.objects.items() if path.endswith("/cronjobs/nettests"))
    cron["spec"]["timeZone"] = "Etc/UTC"
    told = applied(connection, schedule="17 2 * * *")
    assert {what for what, done in told.items() if done != "unchanged"} == {"CronJob nettests in nettests"}  # fmt: skip


def test_rules_of_another_version_are_updated(cluster: tuple[Held, Connection]) -> None:
    """Where they carry our label."""
    held, connection = cluster
    applied(connection, schedule="17 2 * * *")
    held.objects[FULL]["rules"] = []
    told = applied(connection, schedule="17 2 * * *")
    assert told["ClusterRole nettests-full"] == "updated"
    assert held.objects[FULL]["rules"]


def test_a_role_that_an_administrator_applied_is_taken_as_it_is(
    cluster: tuple[Held, Connection],
) -> None:
    """The same rules without our label are the published file's; others of that name are refused, and stay."""
    held, connection = cluster
    rules = next(item["rules"] for item in objects() if item["metadata"]["name"] == "nettests-full")
    held.put(FULL, rules=rules)
    assert applied(connection)["ClusterRole nettests-full"] == "unchanged"
    held.objects[FULL]["rules"] = [{"verbs": ["*"]}]
    with pytest.raises(
        ClusterError, match="ClusterRole nettests-full exists already and is not ours"
    ):
        applied(connection, name="other")
    assert held.objects[FULL]["rules"] == [{"verbs": ["*"]}]


def test_the_account_of_others_gets_no_roles(cluster: tuple[Held, Connection]) -> None:
    """``default`` is every Pod's: a binding to it would give the roles to all of them."""
    held, connection = cluster
    held.put("/api/v1/namespaces/nettests/serviceaccounts/default", kind="ServiceAccount")
    with pytest.raises(
        ClusterError,
        match="ServiceAccount default in nettests exists already and is not ours",
    ):
        applied(connection, name="default")
    assert not [path for path in held.objects if "rolebindings" in path]


def test_a_namespace_and_a_claim_of_others_are_used(cluster: tuple[Held, Connection]) -> None:
    """Somebody may have prepared them."""
    held, connection = cluster
    held.put("/api/v1/namespaces/nettests")
    held.put("/api/v1/namespaces/nettests/persistentvolumeclaims/reports")
    told = applied(connection, claim="reports", claim_size="1Gi")
    assert told["Namespace nettests"] == told["PersistentVolumeClaim reports in nettests"] == "unchanged"  # fmt: skip


def test_a_job_that_is_there_is_not_replaced_by_accident(cluster: tuple[Held, Connection]) -> None:
    """One that runs never; one that has ended where somebody says so."""
    held, connection = cluster
    applied(connection)
    with pytest.raises(ClusterError, match="exists already and has not ended"):
        applied(connection, replace=True)
    held.objects[JOB]["status"] = ENDED
    with pytest.raises(ClusterError, match="has ended") as refused:
        applied(connection)
    assert "--replace" in refused.value.hint
    before = held.objects[JOB]["metadata"]["uid"]
    assert applied(connection, replace=True)["Job nettests in nettests"] == "replaced"
    assert held.objects[JOB]["metadata"]["uid"] != before
    assert held.api is not None
    (deletion,) = [one for one in held.api.requests if one.method == "DELETE"]
    assert deletion.body == {"propagationPolicy": "Background", "preconditions": {"uid": before}}


def test_a_role_that_may_not_be_given_names_who_may(cluster: tuple[Held, Connection]) -> None:
    """RBAC refuses rights that whoever applies has not; what was created before is named."""
    held, connection = cluster
    path = FULL.rpartition("/")[0]
    said = 'user "me" is attempting to grant RBAC permissions not currently held'
    held.refused["POST", path] = status(403, "Forbidden", said)
    with pytest.raises(ClusterError, match="not currently held") as refused:
        applied(connection)
    assert "ClusterRole nettests-discovery was refused" in refused.value.message
    assert "created before it: Namespace nettests, ServiceAccount nettests in nettests" in refused.value.message  # fmt: skip
    assert "administrator" in refused.value.hint


def test_what_an_administrator_has_prepared_is_taken(cluster: tuple[Held, Connection]) -> None:
    """Who may create Jobs alone applies one, where identity and roles are there as they are rendered."""
    held, connection = cluster
    applied(connection)
    del held.objects[JOB]
    said = status(403, "Forbidden", "only an administrator creates these")
    for path in list(held.objects):
        held.refused["POST", path.rpartition("/")[0]] = said
    told = applied(connection)
    assert told.pop("Job nettests in nettests") == "created"
    assert set(told.values()) == {"unchanged"}
    held.objects[FULL]["rules"] = []
    held.refused["PUT", FULL] = said
    del held.objects[JOB]
    with pytest.raises(ClusterError, match="only an administrator") as refused:
        applied(connection)
    assert "ClusterRole nettests-full was refused" in refused.value.message


def test_a_namespace_that_went_away_is_named(cluster: tuple[Held, Connection]) -> None:
    """Between the first look and the objects in it."""
    held, connection = cluster
    held.refused["POST", ACCOUNT.rpartition("/")[0]] = status(404, "NotFound", 'namespaces "nettests" not found')  # fmt: skip
    with pytest.raises(
        ClusterError, match="ServiceAccount nettests in nettests was refused"
    ) as refused:
        applied(connection)
    assert "kubectl create namespace nettests" in refused.value.hint


def test_the_namespace_of_the_namespaced_role_has_to_be_there(
    cluster: tuple[Held, Connection],
) -> None:
    """Nothing is created where it is missing; who may not look goes on."""
    held, connection = cluster
    with pytest.raises(ClusterError, match="there is no namespace staging"):
        require_namespace(connection, "staging")
    held.refused["GET", "/api/v1/namespaces/staging"] = status(403, "Forbidden", "no")
    require_namespace(connection, "staging")
    assert "Namespace" not in {item["kind"] for item in objects(role=Role.NAMESPACED)}


@pytest.mark.parametrize(
    ("said", "passes"),
    [
        ('pods "nettests-try-x" is forbidden: violates PodSecurity "restricted:latest"', False),
        ('pods "nettests-try-x" is forbidden: exceeded quota: compute', False),
        ('pods is forbidden: User "me" cannot create resource "pods" in API group ""', True),
    ],
)
def test_the_pod_is_tried_out_before_the_job(
    cluster: tuple[Held, Connection], said: str, passes: bool
) -> None:
    """What its namespace refuses is said now; who may make Jobs and no Pods has nothing to try."""
    held, connection = cluster
    held.refused["POST", PODS] = status(403, "Forbidden", said)
    template = objects()[-1]["spec"]["template"]
    if passes:
        require_admitted(connection, "nettests", template)
        return
    with pytest.raises(ClusterError, match="would be refused in namespace nettests") as refused:
        require_admitted(connection, "nettests", template)
    assert said.partition(": ")[2] in refused.value.message


def test_trying_a_pod_out_stores_nothing(cluster: tuple[Held, Connection]) -> None:
    """It is a dry run of the very template."""
    held, connection = cluster
    require_admitted(connection, "nettests", objects()[-1]["spec"]["template"])
    assert held.objects == {}
    assert held.api is not None
    assert "dryRun=All" in held.api.requests[-1].path
    assert held.api.requests[-1].body["spec"] == objects()[-1]["spec"]["template"]["spec"]
