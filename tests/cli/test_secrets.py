"""What a command prints and writes before a run begins repeats no credential, whoever words it."""

import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from nettests.cli import main
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig

TOKEN = "plain words without a key"
"""Of no shape: known because the kubeconfig holds it."""
PASSWORD, RELAYS_PASSWORD = "proxy words", "relay words"
PROFILE = """
apiVersion: nettests.dev/v1alpha1
kind: ClusterProfile
externalTarget: {address: 192.0.2.1, name: x.test, tcpPort: 80, udpPort: 53}
externalVantage: proxy
externalProxy: "http://me:proxy words@127.0.0.1:3128"
externalUDPProxy: "socks5://me:relay words@127.0.0.1:1080"
"""


def answer(request: Request) -> Reply:
    """Refuse everything, and tell who sent it."""
    return status(
        403,
        "Forbidden",
        f"{request.headers['authorization']} may not, nor {PASSWORD} or {RELAYS_PASSWORD}",
    )


def test_a_cluster_that_repeats_the_token_cannot_have_it_told(tmp_path: Path) -> None:
    """A run that could not start: the error on the terminal and all documents are without credentials."""
    profile = tmp_path / "profile.yaml"
    profile.write_text(PROFILE)
    with serving(answer) as api:
        kubeconfig = write_kubeconfig(tmp_path / "k", api.url, token=TOKEN)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "nettests", "run", f"--kubeconfig={kubeconfig}"),
                *(f"--cluster-profile={profile}", f"--report-dir={tmp_path / 'reports'}"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert api.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    printed = done.stdout + done.stderr
    assert "may not, nor [redacted] or [redacted]" in printed
    documents = [path for path in (tmp_path / "reports").rglob("*") if path.is_file()]
    assert len(documents) == 5
    for text in (printed, *(path.read_text() for path in documents)):
        assert TOKEN not in text
        assert PASSWORD not in text
        assert RELAYS_PASSWORD not in text
        assert "may not" in text


SAMPLE = Path(__file__).parents[2] / "reports/sample/journal.jsonl"


def test_a_run_judged_again_repeats_no_secret_of_its_journal(tmp_path: Path) -> None:
    """A journal that somebody else wrote, secrets included: neither the terminal nor a document shows them."""
    source = tmp_path / "run"
    source.mkdir()
    lines = []
    for line in SAMPLE.read_text().splitlines():
        record = json.loads(line)
        if record["record"] == "raw":
            record["raw"]["error"] = "exec failed: token=hunter2-planted"
        lines.append(json.dumps(record))
    (source / "journal.jsonl").write_text("\n".join(lines) + "\n")
    shown = CliRunner().invoke(main, ["rejudge", str(source)])
    assert "token=[redacted]" in shown.output
    assert "hunter2" not in shown.output
    for path in (source / "rejudged").iterdir():
        assert "hunter2" not in path.read_text(), path.name
