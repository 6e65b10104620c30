"""The container image: what the Dockerfile says, linted and read; built where a builder works."""

import fnmatch
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nettests.job.workload import USER
from scripts import image
from tests.packaging.environments import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
BASE = re.compile(
    r"^ARG BASE=docker\.io/library/python:3\.\d+-slim@sha256:[0-9a-f]{64}$", re.MULTILINE
)


def lint(text: str) -> subprocess.CompletedProcess[str]:
    """hadolint's word on a Dockerfile; it fetches nothing."""
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or "hadolint"
    return subprocess.run([program, "--no-color", "-"], input=text, capture_output=True, text=True, timeout=120, check=False)  # fmt: skip


def test_the_linter_finds_nothing() -> None:
    """Of Docker's practices, and of the shell in it."""
    done = lint(DOCKERFILE)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("right", "wrong", "rule"),
    [
        ("WORKDIR /tmp\n", "WORKDIR tmp\n", "DL3000"),
        ("USER 65532:65532\n", "USER root\n", "DL3002"),
        ("FROM ${BASE}\n", "FROM python\n", "DL3006"),
        ('ENTRYPOINT ["nettests"]', "ENTRYPOINT nettests", "DL3025"),
    ],
)
def test_a_mistake_is_found(right: str, wrong: str, rule: str) -> None:
    """The linter of the test above can fail."""
    assert right in DOCKERFILE
    assert rule in lint(DOCKERFILE.replace(right, wrong)).stdout


def test_the_base_is_pinned_by_digest() -> None:
    """Both stages stand on it, and no other image is in it."""
    assert BASE.search(DOCKERFILE)
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) == ["${BASE}", "${BASE}"]
    assert re.findall(r"--from=(\S+)", DOCKERFILE) == ["build"]


def test_it_runs_as_the_user_of_the_jobs_pod() -> None:
    """By number, in the last stage, and nothing after it becomes root again."""
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == [f"{USER}:{USER}"]
    assert DOCKERFILE.index("USER ") > DOCKERFILE.rindex("FROM ")


def test_libraries_are_installed_by_hash() -> None:
    """From the lock files alone: what is installed without them is the wheel that was just built."""
    installs = re.findall(r"/pip install (.+?)(?: \\)?$", DOCKERFILE, re.MULTILINE)
    assert len(installs) == 3
    for words in installs:
        assert "--require-hashes" in words or ("--no-deps" in words and "--no-index" in words)


def rules() -> list[str]:
    text = (ROOT / ".dockerignore").read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_only_what_is_copied_is_sent_to_the_builder() -> None:
    """All is left out but what the Dockerfile names; reports and environments never come near a layer."""
    assert rules()[0] == "*"
    taken = {rule[1:] for rule in rules() if rule.startswith("!")}
    copied = {
        word
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for word in line.split()[:-1]
    }
    assert taken == copied
    for path in copied:
        assert (ROOT / path).exists(), path
    left_out = [rule for rule in rules() if not rule.startswith("!")]
    for path in ("reports/x", ".git/config", ".venv/bin/python", "tests/x.py", ".env"):
        assert any(fnmatch.fnmatch(path, rule) for rule in left_out)
        assert not any(path.startswith(one) for one in taken)


def test_the_version_is_that_of_the_project() -> None:
    """It is given to the builder, and no second one stands in the Dockerfile."""
    words = image.command("docker", "registry.example/nettests:1", base="mirror/python@sha256:0")
    assert f"--build-arg=VERSION={image.version()}" in words
    assert "--build-arg=BASE=mirror/python@sha256:0" in words
    assert image.version() not in DOCKERFILE.replace("nettests:0.1.0", "")


@pytest.mark.nightly
def test_it_is_built_where_a_builder_works() -> None:
    """The image says its version, as the user of the Job, with a root file system that it cannot write to."""
    builder = image.working_builder()
    if builder is None or builder == "buildah":
        pytest.skip("neither docker nor podman works here")
    done = subprocess.run(image.command(builder, "nettests:test"), cwd=ROOT, capture_output=True, text=True, timeout=880, check=False)  # fmt: skip
    if "toomanyrequests" in done.stderr or "dial tcp" in done.stderr:
        pytest.skip("no registry is reached from here")
    assert done.returncode == 0, done.stderr
    run = [builder, "run", "--rm", "--read-only", "--network=none", "nettests:test", "--version"]
    told = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    assert image.version() in told.stdout
