"""What ``--keep`` and ``--keep-on-failure`` leave standing, and what they say of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.session.prepare import prepare
from nettests.session.run import Run
from nettests.session.run_options import Keep, RunOptions
from tests.cluster.api import serving
from tests.session.test_run import FLOWS, Cluster, _options


@pytest.fixture
def cluster() -> Cluster:
    """An API server that admits a namespace and a Lease, and no pod."""
    return Cluster()


@pytest.fixture
def options(cluster: Cluster, tmp_path: Path) -> Iterator[RunOptions]:
    """Options of a run against it."""
    with serving(cluster) as api:
        yield _options(api, tmp_path)


@pytest.mark.parametrize(
    ("keep", "exit_code", "stays"),
    [
        (Keep.NEVER, 1, False),
        (Keep.ALWAYS, 0, True),
        (Keep.ALWAYS, 2, True),
        (Keep.ON_FAILURE, 0, False),
        (Keep.ON_FAILURE, 2, False),
        (Keep.ON_FAILURE, 1, True),
        (Keep.ON_FAILURE, 6, True),
    ],
)
def test_objects_stay_as_tested(
    cluster: Cluster, options: RunOptions, keep: Keep, exit_code: int, *, stays: bool
) -> None:
    """Always, or when the run found something; never after Ctrl-C unless always was said."""
    run = Run(prepare(replace(options, keep=keep), FLOWS))
    check = next(one for one in run.prepared.blueprint.plan.checks if one.flow == "pod-to-pod-ip")
    run.start([check.id])
    run.finish(exit_code=exit_code, counts={})
    assert bool(cluster.namespaces) is stays
    kept = (cluster.lease or {}).get("metadata", {}).get("annotations", {})
    assert ("nettests.dev/kept" in kept) is stays
    assert (f"nettests gc --context test --run {run.run_id} --yes" in run.run_objects.kept) is stays
    assert ("kubectl --context test" in run.run_objects.kept) is stays
