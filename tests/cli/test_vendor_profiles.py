"""``--vendor-profile`` of run and plan, and ``nettests lint FILE``: what a profile brings is read wherever suites are."""

from pathlib import Path

import pytest

from nettests.cli import discover_commands
from nettests.cluster.profile_file import read_profile
from nettests.conformance.vendor_files import read_vendor_files
from nettests.conformance.vendor_profile import VendorProfile
from nettests.resources import manifests_path, suites_path
from tests.cli.calling import nettests
from tests.cli.test_run_arguments import passed_on
from tests.conformance.claimed import text_of
from tests.conformance.test_vendor_files import MANIFEST, filled
from tests.facts import cluster_facts

SHIPPED = manifests_path() / "vendors"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile that brings a suite and a manifest, and claims the suite's flow."""
    folder = filled(tmp_path / "acme")
    (folder / "limitations.yaml").write_text(MANIFEST.replace("pod-to-pod-ip", "acme-own"), "utf-8")
    file = folder / "vendor.yaml"
    file.write_text(
        text_of(
            lambda data: (
                data.update(suites=["test_acme.py"], limitations=["."]),
                data["features"][0]["flows"].append("acme-own"),
            )
        ),
        "utf-8",
    )
    return file


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that commands read without one."""
    facts = cluster_facts("win2019-l2bridge")
    monkeypatch.setattr(discover_commands, "read_facts", lambda options, profile: facts)
    monkeypatch.setattr(discover_commands, "profile_of", lambda options: read_profile(None))


def test_a_run_reads_what_the_profile_brings(
    monkeypatch: pytest.MonkeyPatch, profile: Path
) -> None:
    """As if suite and manifest had been named, whole paths each."""
    words = passed_on(monkeypatch, f"--vendor-profile={profile}")
    assert words[-2:] == [str(suites_path()), str(profile.parent / "test_acme.py")]
    assert f"--limitations={profile.parent / 'limitations.yaml'}" in words


def test_a_run_takes_what_was_named_twice_once(
    monkeypatch: pytest.MonkeyPatch, profile: Path
) -> None:
    """The folder of the suite beside its profile."""
    suite = profile.parent / "test_acme.py"
    words = passed_on(monkeypatch, f"--vendor-profile={profile}", f"--suite={suite}")
    assert words.count(str(suite)) == 1


@pytest.mark.usefixtures("known")
def test_a_plan_has_the_vendors_checks_and_limitations(profile: Path) -> None:
    """Their ids, and the entry that decides."""
    done = nettests("plan", f"--vendor-profile={profile}", "--flow=acme-own")
    assert done.exit_code == 0, done.output
    assert "acme-own/linux-1/linux-1/same-node/tcp  connected, 2 nodes\n" in done.output
    assert "acme-own/windows-1/windows-1/same-node/tcp  timed_out (acme-limited)" in done.output


def test_a_profile_that_is_wrong_stops_a_run_before_it_begins(tmp_path: Path) -> None:
    """With its line, and exit code 4."""
    file = tmp_path / "vendor.yaml"
    file.write_text(text_of(lambda data: data.update(suites=["nosuch"])), "utf-8")
    done = nettests("run", f"--vendor-profile={file}")
    assert done.exit_code == 4
    assert "there is no suite nosuch" in done.output


def test_lint_reads_a_profile_with_all_that_it_brings(profile: Path) -> None:
    """Its flows and entries are counted, and nothing is wrong."""
    done = nettests("lint", profile)
    assert done.exit_code == 0, done.output
    assert done.output.endswith("1 vendor profile: nothing to repair\n")
    folder = nettests("lint", profile.parent, f"--suite={profile.parent}")
    assert folder.output == done.output


def test_lint_finds_what_is_wrong_with_claims(profile: Path) -> None:
    """A slip of the pen, and a flow of one's own that no feature has."""
    profile.write_text(
        profile.read_text()
        .replace("  - acme-own\n", "")
        .replace("pod-to-service-clusterip", "pod-to-service-clustrip")
    )
    done = nettests("lint", profile)
    assert done.exit_code == 1
    told = " ".join(done.output.split())
    assert "claims the flow pod-to-service-clustrip" in told
    assert "did you mean 'pod-to-service-clusterip'?" in told
    assert "acme-own of the vendor's own suites belongs to no feature" in told


def test_lint_refuses_a_profile_that_is_none(tmp_path: Path) -> None:
    """With file and line, as of manifests."""
    file = tmp_path / "vendor.yaml"
    file.write_text(text_of(lambda data: data.pop("plugin")), "utf-8")
    done = nettests("lint", file)
    assert done.exit_code == 4
    assert f"{file}:1: plugin is missing" in done.output


@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.yaml")), ids=lambda file: file.name)
def test_shipped_profiles_are_right(file: Path) -> None:
    """They are examples."""
    read: VendorProfile = read_vendor_files(file).profile
    assert read.features
    assert nettests("lint", file).exit_code == 0
