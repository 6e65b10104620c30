"""``nettests job`` and ``archive`` as people call them, against a cluster of the test's own."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
import yaml
from click.testing import CliRunner, Result

from nettests.cli import main
from nettests.job.archive import pack, read_archive, spelled_archive, unpack
from tests.cluster.batch import Held, holding
from tests.job.made import pod

IMAGE = "--image=registry.example/nettests:0.1.0"
PLACE = "/apis/batch/v1/namespaces/nettests"
POD = "/api/v1/namespaces/nettests/pods/nettests-x7k2p"
RUN = "20261125-021700-ab12"
FILES = {PurePosixPath("results.json"): b"{}", PurePosixPath("junit.xml"): b"<testsuites/>"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[Held, str]]:
    """A cluster, and the option that names it."""
    with holding(tmp_path) as (held, _, file):
        held.put("/api/v1/namespaces/nettests")
        yield held, f"--kubeconfig={file}"


def called(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def rendered(*words: str) -> list[dict[str, object]]:
    done = called("job", "render", IMAGE, *words)
    assert done.exit_code == 0, done.output
    return list(yaml.safe_load_all(done.output))


def ended(held: Held, code: int, log: str) -> None:
    """Let the Job have ended so."""
    one = pod({"terminated": {"exitCode": code, "reason": "Error" if code else "Completed"}})
    one["metadata"]["ownerReferences"] = [{"uid": held.objects[f"{PLACE}/jobs/nettests"]["metadata"]["uid"]}]  # fmt: skip
    held.objects[POD], held.logs[POD] = one, log


def test_render_prints_what_kubectl_takes() -> None:
    """YAML documents in the order of creation; profile and baseline are in a ConfigMap as they were read."""
    kinds = [item["kind"] for item in rendered()]
    assert (kinds[0], kinds[-1]) == ("Namespace", "Job")
    assert rendered("--schedule", "17 2 * * *")[-1]["kind"] == "CronJob"


def test_a_profile_is_mounted_as_it_is(tmp_path: Path) -> None:
    """One that no run would read is refused now, with its own error."""
    file = tmp_path / "p.yaml"
    file.write_text(
        "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\nexternalVantage: none\n"
    )
    config = next(
        item for item in rendered(f"--cluster-profile={file}") if item["kind"] == "ConfigMap"
    )
    assert config["data"] == {"cluster-profile.yaml": file.read_text()}
    file.write_text(
        "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\nexternalVantge: none\n"
    )
    done = called("job", "render", IMAGE, f"--cluster-profile={file}")
    assert (done.exit_code, "externalVantage" in done.output) == (4, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--", "--flw=x"], 2, "No such option"),
        (["--", "--fail-on=everything"], 2, "is not one of"),
        (["--", "--webhook=https://hooks.example/s3cr3tword"], 4, "--webhook-secret"),
        (["--", "--kubeconfig=x"], 4, "ServiceAccount"),
        (["--", "--lab"], 4, "the cluster that it stands in"),
        (["--", "--namespace=x"], 4, "--role=namespaced"),
        (["--", "--suite=mine"], 4, "--suite names files that the image does not hold"),
        (["--role=admin"], 2, "is not one of"),
        (["--deadline=tomorrow"], 2, "is not a duration"),
        (["--name=" + "a" * 64], 4, "has 64 characters"),
        (["--baseline=nowhere.yaml"], 4, "cannot be read"),
    ],
)
def test_a_slip_shows_before_anything_is_created(words: list[str], code: int, said: str) -> None:
    """Of a Job's options and of its run's, with what to say instead; a secret is not repeated."""
    done = called("job", "render", IMAGE, *words)
    assert done.exit_code == code, done.output
    assert said in done.output
    assert "s3cr3t" not in done.output
    assert "kind:" not in done.output


def test_a_job_is_applied_followed_and_fetched(cluster: tuple[Held, str], tmp_path: Path) -> None:
    """Its log and exit code are the run's; its folder lies below ``--to`` as if it had run here."""
    held, which = cluster
    done = called("job", "apply", IMAGE, which)
    assert done.exit_code == 0, done.output
    assert "Job nettests in nettests: created" in done.output
    assert "nettests job logs nettests --namespace nettests --follow" in done.output
    ended(held, 6, f"deploy\n\x1b[31mred\n{spelled_archive(pack(RUN, FILES))}\n")
    for more in ([], ["--follow"]):
        shown = called("job", "logs", "nettests", which, *more)
        assert shown.exit_code == 6
        assert shown.output.splitlines() == ["deploy", "␛[31mred"]
    got = called("job", "fetch", "nettests", which, f"--to={tmp_path / 'reports'}")
    assert got.exit_code == 0, got.output
    assert f"report: {tmp_path / 'reports' / RUN}" in got.output
    assert (tmp_path / "reports" / "latest" / "junit.xml").read_bytes() == b"<testsuites/>"
    again = called("job", "fetch", "nettests", which, f"--to={tmp_path / 'reports'}")
    assert (again.exit_code, "is there already" in again.output) == (4, True)


def test_a_job_that_finds_no_node_says_which_taints_keep_it_away(
    cluster: tuple[Held, str],
) -> None:
    """Where every Linux node is a tainted control plane its Pod would be pending for hours; tolerated, it is not."""
    held, which = cluster
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    for name, system, taints in (("linux-1", "linux", [taint]), ("win-1", "windows", [])):
        held.objects[f"/api/v1/nodes/{name}"] = {
            "metadata": {"name": name, "labels": {"kubernetes.io/os": system}},
            "spec": {"taints": taints},
        }
    option = "--tolerate node-role.kubernetes.io/control-plane:NoSchedule"
    done = called("job", "apply", IMAGE, which)
    assert (done.exit_code, f"then apply it with {option}" in done.output) == (0, True)
    again = called("job", "apply", IMAGE, which, "--name=again", *option.split())
    assert (again.exit_code, "Warning" in again.output) == (0, False)


def test_what_a_log_did_not_hold_is_said(cluster: tuple[Held, str], tmp_path: Path) -> None:
    """The report is there, and what is missing has a name."""
    held, which = cluster
    called("job", "apply", IMAGE, which)
    files = {**FILES, PurePosixPath("diagnostics/x"): os.urandom(5000)}
    ended(held, 0, spelled_archive(pack(RUN, files, 2000)))
    got = called("job", "fetch", "nettests", which, f"--to={tmp_path}")
    assert "Left out, because a log does not hold it: diagnostics" in got.output


def test_a_job_that_did_not_run_ends_with_7(cluster: tuple[Held, str], tmp_path: Path) -> None:
    """Its log and its report say why, and nothing is written."""
    held, which = cluster
    called("job", "apply", IMAGE, which)
    one = pod({"waiting": {"reason": "ErrImagePull", "message": "not found"}})
    one["metadata"]["ownerReferences"] = [{"uid": held.objects[f"{PLACE}/jobs/nettests"]["metadata"]["uid"]}]  # fmt: skip
    held.objects[POD] = one
    for words in (["logs", "nettests"], ["logs", "nettests", "-f"], ["fetch", "nettests", f"--to={tmp_path / 'r'}"]):  # fmt: skip
        done = called("job", *words, which)
        assert done.exit_code == 7, done.output
        assert "does not start: container nettests: ErrImagePull: not found" in done.output
    assert not (tmp_path / "r").exists()


def test_a_run_that_goes_on_is_not_fetched(cluster: tuple[Held, str]) -> None:
    """It is said to be running, and how to wait for it."""
    held, which = cluster
    called("job", "apply", IMAGE, which)
    one = pod({"running": {}})
    one["metadata"]["ownerReferences"] = [{"uid": held.objects[f"{PLACE}/jobs/nettests"]["metadata"]["uid"]}]  # fmt: skip
    held.objects[POD], held.logs[POD] = one, "deploy\n"
    shown = called("job", "logs", "nettests", which)
    assert (shown.exit_code, "is running" in shown.output) == (7, True)
    done = called("job", "fetch", "nettests", which)
    assert (done.exit_code, "has not ended" in done.output, "--follow" in done.output) == (7, True, True)  # fmt: skip


def test_a_cron_job_says_how_it_is_started_now(cluster: tuple[Held, str]) -> None:
    """kubectl makes a Job of it."""
    done = called("job", "apply", IMAGE, cluster[1], "--schedule", "17 2 * * *", "--name=night")
    assert "kubectl -n nettests create job night-now --from=cronjob/night" in done.output


def test_a_folder_is_archived(tmp_path: Path) -> None:
    """Into a file of its name, or as text; what is no run is said."""
    folder = tmp_path / RUN
    folder.mkdir()
    (folder / "results.json").write_text("{}")
    file = tmp_path / "x.tar.gz"
    assert called("archive", str(folder), f"--to={file}").output == f"archive: {file}\n"
    assert file.stat().st_mode & 0o077 == 0
    printed = called("archive", str(folder), "--to=-").output
    assert unpack(read_archive(printed)) == (RUN, {PurePosixPath("results.json"): b"{}"})
    assert called("archive", str(tmp_path / "none")).exit_code == 4
    nowhere = called("archive", str(folder), f"--to={tmp_path / 'none' / 'x'}")
    assert (nowhere.exit_code, "cannot be written" in nowhere.output) == (4, True)
