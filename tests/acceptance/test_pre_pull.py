"""Images on a lab as on a cluster: pulled beforehand, slowly, from a mirror, with credentials, or not at all."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.recorded import Record
from tests.acceptance.runs import HASTY, FinishedRun, run_on

pytestmark = pytest.mark.nightly

FLOW = "--flow=pod-to-pod-ip"
LOGIN = {"auths": {"private.lab.test": {"username": "puller", "password": "lab"}}}
IMPATIENT = "timing: {convergence: 8, failures: 1, stuck: 2}\n"


@pytest.fixture(scope="module")
def up() -> Iterator[UpLab]:
    with lab("mixed-builds") as running:
        yield running


@pytest.fixture(autouse=True)
def mended(up: UpLab) -> Iterator[None]:
    yield
    up.fault("clear")


def ran(run: FinishedRun) -> set[str]:
    """The verdicts of what was tested."""
    return set(run.verdicts.values()) - {"skipped"}


def test_slow_pulls_are_over_before_anything_is_probed(up: UpLab, tmp_path: Path) -> None:
    """Each image takes its time once on each node, in a stage and figures of its own."""
    up.fault("inject", "slow-pull", "--seconds=3")
    run = run_on(up, tmp_path, FLOW, "--pre-pull")
    assert run.exit_code == 0, run.printed
    pulls = run.results["pulls"]
    assert {one["problem"] for one in pulls} == {""}
    assert min(one["seconds"] for one in pulls) >= 3
    assert len({one["node"] for one in pulls}) == len(pulls) > 2
    kinds = [record["record"] for record in run.records]
    assert kinds.index("raw") > len(kinds) - 1 - kinds[::-1].index("pull")
    assert "pulled onto nodes beforehand" in (run.directory / "report.html").read_text()


def test_a_mirror_that_wants_credentials_and_is_given_them(up: UpLab, tmp_path: Path) -> None:
    """``--registry`` and the user's pull Secret bring every image; the Secret's content is nowhere."""
    up.fault("inject", "slow-pull", "--seconds=0.1")
    config = tmp_path / "config.json"
    config.write_text(json.dumps(LOGIN))
    secret = f"images: {{pullSecretFile: {config}, prePull: true}}\n"
    run = run_on(up, tmp_path, FLOW, "--registry=private.lab.test/k8s", timing=HASTY + secret)
    assert (run.exit_code, ran(run)) == (0, {"pass"}), run.printed
    images = {one["image"] for one in run.results["pulls"]}
    assert all(image.startswith("private.lab.test/k8s/e2e-test-images/agnhost") for image in images)
    assert '"lab"' not in (run.directory / "journal.jsonl").read_text()


def test_credentials_of_a_namespace_of_others(up: UpLab, tmp_path: Path) -> None:
    """With ``--namespace`` the Secret that stands there is named, used, and left."""
    up.fault("inject", "slow-pull", "--seconds=0.1")
    config = tmp_path / "config.json"
    config.write_text(json.dumps(LOGIN))
    kubectl = ["kubectl", f"--kubeconfig={up.kubeconfig}"]
    for words in (
        ["create", "namespace", "shared"],
        ["-n", "shared", "create", "secret", "generic", "mirror",
         "--type=kubernetes.io/dockerconfigjson", f"--from-file=.dockerconfigjson={config}"],
    ):  # fmt: skip
        subprocess.run([*kubectl, *words], check=True, capture_output=True)
    timing = HASTY + "images: {pullSecrets: [mirror]}\n"
    options = (FLOW, "--namespace=shared", "--registry=private.lab.test", "--pre-pull")
    run = run_on(up, tmp_path, *options, timing=timing)
    assert (run.exit_code, ran(run)) == (0, {"pass"}), run.printed
    record = Record.begin(up.kubeconfig)
    try:
        assert record.get("/api/v1/namespaces/shared/pods")["items"] == []
        assert record.get("/api/v1/namespaces/shared/secrets/mirror")["type"]
    finally:
        record.close()


def test_images_that_do_not_come_are_no_network_result(up: UpLab, tmp_path: Path) -> None:
    """Without credentials nothing is judged: each check is unknown, in the registry's words."""
    up.fault("inject", "slow-pull", "--seconds=0.1")
    options = (FLOW, "--registry=private.lab.test", "--pre-pull")
    run = run_on(up, tmp_path, *options, timing=IMPATIENT)
    assert (run.exit_code, ran(run)) == (6, {"unknown"}), run.printed
    assert all("no basic auth credentials" in one["problem"] for one in run.results["pulls"])
    messages = {one["message"] for one in run.results["checks"] if one["verdict"] == "unknown"}
    assert all("ImagePull" in message for message in messages), messages


def test_a_node_whose_build_no_image_serves(up: UpLab, tmp_path: Path) -> None:
    """It is named before the run and in it, its flows are skipped for that reason, and the rest is probed."""
    old = "--image=registry.k8s.io/e2e-test-images/agnhost:2.52"
    access = (f"--kubeconfig={up.kubeconfig}", f"--cluster-profile={up.cluster_profile}")
    told = nettests("preflight", *access, old, FLOW, "--json")
    topics = {one["topic"]: one for one in json.loads(told.stdout)["findings"]}
    assert topics["images"]["level"] == "warning"
    assert "26100" in json.dumps(topics["images"])
    listed = nettests("images", *access, old, FLOW)
    assert "is left out" in listed.stdout
    run = run_on(up, tmp_path, FLOW, old, "--pre-pull")
    assert (run.exit_code, ran(run)) == (0, {"pass"}), run.printed
    events = [one["text"] for one in run.results["events"]]
    assert any("left out" in text and "no build for Windows 26100" in text for text in events)
    skipped = [one["message"] for one in run.results["checks"] if one["verdict"] == "skipped"]
    assert any("26100" in message for message in skipped)
