"""Manifests as files: the shipped ones and the user's own, each with what it was made of."""

import hashlib
from pathlib import Path

import pytest

from nettests.errors import ManifestError
from nettests.model.words import CheckClass
from nettests.plan import Choice, load
from nettests.resources import manifests_path, suites_path
from nettests.session.blueprint import blueprint, read_manifests
from tests.expect.entries import text
from tests.plan.clusters import mixed

OWN = text("cni", mine="expected: {outcome: timed_out}")


def test_shipped_manifests_are_named_as_in_the_repository() -> None:
    """Not by where they are installed: a journal of another machine names the same files."""
    manifests, digests = read_manifests()
    files = sorted((manifests_path() / "limitations").rglob("*.yaml"))
    assert len(manifests) == len(digests) == len(files)
    assert all(one.file.startswith("manifests/limitations/") for one in digests)
    assert [one.file for one in manifests] == [one.file for one in digests]
    first = (manifests_path().parent / digests[0].file).read_bytes()
    assert digests[0].sha256 == hashlib.sha256(first).hexdigest()


def test_own_manifests_come_after_the_shipped_ones_by_the_path_that_was_given(
    tmp_path: Path,
) -> None:
    """A folder is read with all below it, in the order of names; other files in it are none."""
    (tmp_path / "deep").mkdir()
    for name in ("b.yaml", "a.yml", "deep/c.yaml", "notes.txt"):
        (tmp_path / name).write_text(OWN)
    shipped = len(read_manifests()[0])
    manifests, digests = read_manifests([tmp_path, tmp_path / "b.yaml"])
    own = [one.file for one in digests[shipped:]]
    named = ["a.yml", "b.yaml", "deep/c.yaml", "b.yaml"]
    assert own == [str(tmp_path / name) for name in named]
    assert manifests[-1].limitations[0].id == "mine"
    assert digests[-1].sha256 == hashlib.sha256(OWN.encode()).hexdigest()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nosuch.yaml", "nosuch.yaml cannot be read: No such file or directory"),
        ("empty", "holds no manifest"),
        ("latin.yaml", "latin.yaml cannot be read: it is not UTF-8 text"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, said: str) -> None:
    """The path, the reason, and what --limitations takes."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "latin.yaml").write_bytes("é".encode("latin-1"))
    with pytest.raises(ManifestError, match=said) as caught:
        read_manifests([tmp_path / name])
    assert "--limitations" in str(caught.value)


def test_workers_compute_the_same_from_the_same_facts() -> None:
    """Plan and expectations follow from facts, flows and manifests alone, in every process."""
    read = read_manifests()
    flows = load([suites_path()]).flows
    one = blueprint(mixed(), flows, read)
    assert blueprint(mixed(), tuple(reversed(flows)), read).expectations == one.expectations
    members = {each.id for check in one.plan.checks for each in check.each}
    assert set(one.expectations) == {check.id for check in one.plan.checks} | members
    assert (one.manifests, one.digests) == read
    more = blueprint(mixed(), flows, read, frozenset(CheckClass))
    assert len(more.plan.checks) > len(one.plan.checks)
    assert {check.id for check in one.plan.checks} <= {check.id for check in more.plan.checks}


def test_an_enabled_class_that_no_chosen_check_has_is_remarked() -> None:
    """By the option that changes nothing; a class whose checks are chosen, also as skips, is not named."""
    read = read_manifests()
    flows = load([suites_path()]).select(["pod-to-pod-ip"]).flows
    enabled = frozenset({CheckClass.COSTLY, CheckClass.PACKETS})
    assert blueprint(mixed(), flows, read, enabled).remark == (
        "--enable=costly,packets changes nothing: no chosen check is of this class"
    )
    every = load([suites_path()]).flows
    assert blueprint(mixed(), every, read, enabled).remark == ""
    assert blueprint(mixed(), every, read, enabled, Choice(patterns=("pod-to-pod-ip/*",))).remark
