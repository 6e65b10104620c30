"""Profiles with facts changed by ``--set``: what each setting changes, what follows, and what is refused."""

import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from nettests.forecast.keys import KEYS
from nettests.lab.cli import lab
from nettests.lab.errors import ProfileError
from nettests.lab.lifecycle import daemon
from nettests.lab.topology import OS, Driver, Plugin, Profile, ProxyMode, profiles, windows_settings
from nettests.lab.topology.settings import SETTINGS
from nettests.lab.topology.windows_settings import WindowsSettings

OLD = "win2019-l2bridge"


def changed(*settings: str, profile: str = OLD) -> Profile:
    return profiles.load(profile, changes=settings)


def windows(profile: Profile) -> set[tuple[int, int]]:
    return {node.windows_release for node in profile.nodes if node.os is OS.WINDOWS}


def test_each_setting_changes_its_fact_alone() -> None:
    """A whole upgrade by settings is the profile of after it in everything that facts tell."""
    usual = changed()
    assert windows(changed("windows.build=20348.3207")) == {(20348, 3207)}
    assert changed("windows.build=20348.3207").kube_proxy == usual.kube_proxy
    assert changed("kubeProxy.dsr=on").kube_proxy.dsr
    assert not changed("kubeProxy.dsr=false").kube_proxy.dsr
    assert changed("kubernetes=1.34.2").kubernetes_version == "v1.34.2"
    assert changed("kubernetes=v1.34.2").nodes == usual.nodes
    assert changed("cni.loopbackDSR=true").cni.loopback_dsr
    nets = changed("cni.natExceptions=192.0.2.0/24,198.51.100.0/24").cni.nat_exceptions
    assert [str(net) for net in nets] == ["192.0.2.0/24", "198.51.100.0/24"]


def test_a_runtime_is_that_of_one_system() -> None:
    """Nodes of the other one keep theirs."""
    found = changed("windows.runtime=containerd://2.1.9")
    by_os = {node.os: node.runtime for node in found.nodes}
    assert by_os == {OS.WINDOWS: "containerd://2.1.9", OS.LINUX: "containerd://1.6.36"}
    assert {node.runtime for node in changed("linux.runtime=containerd://2.1.9").nodes} == {
        "containerd://2.1.9",
        "containerd://1.6.36",
    }


def test_the_driver_follows_the_backend() -> None:
    """As it does in a forecast of the same fact: nobody states both."""
    found = changed("cni.backend=vxlan").cni
    assert (found.backend, found.driver) == ("vxlan", Driver.OVERLAY)


def test_another_plugin_comes_with_its_usual_backend() -> None:
    """Unless one is stated that it has, or has not."""
    found = changed("cni.plugin=sdnbridge").cni
    assert (found.plugin, found.backend, found.driver) == (
        Plugin.SDNBRIDGE,
        "routes",
        Driver.L2BRIDGE,
    )
    antrea = changed("cni.plugin=antrea", "kubeProxy.windows.mode=none")
    assert (antrea.cni.driver, antrea.kube_proxy.mode) == (Driver.TRANSPARENT, ProxyMode.NONE)
    with pytest.raises(ProfileError, match="calico does not make l2bridge networks of host-gw"):
        changed("cni.plugin=calico", "cni.backend=host-gw")


def test_a_changed_profile_has_another_name_and_says_what_was_changed() -> None:
    """Its name and its summary would be untrue."""
    found = changed("kubeProxy.dsr=true", "windows.build=20348.3207")
    assert found.name == "win2019-l2bridge-changed"
    assert found.summary == "win2019-l2bridge with kubeProxy.dsr=true, windows.build=20348.3207"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("windows.biuld=20348.1", 'Did you mean "windows.build"'),
        ("windows.build=20348", "a value such as 20348.3207"),
        ("windows.build=20349.1", "20349 is not one of"),
        ("kubernetes=1.34", "a value such as 1.34.2"),
        ("kubeProxy.dsr", "no value is given"),
        ("kubeProxy.dsr=maybe", 'not "maybe"'),
        ("cni.backend=vnet", "does not make l2bridge networks of vnet"),
        ("cni.natExceptions=here", "'here' does not match"),
        ("kubeProxy.windows.mode=none", "goes with the antrea plugin"),
        ("cni.plugin=", "a value such as flannel"),
    ],
)
def test_what_is_no_profile_is_refused_with_its_reason(setting: str, said: str) -> None:
    """A setting is held to the rules of a file, and to the nearest key."""
    with pytest.raises(ProfileError) as caught:
        changed(setting)
    assert said in str(caught.value)


def test_a_fact_of_nodes_that_a_profile_lacks_is_refused() -> None:
    """Nothing would change, and its user would not hear of it."""
    with pytest.raises(ProfileError, match="linux has no windows node"):
        changed("windows.build=20348.3207", profile="linux")


def test_a_setting_that_is_given_twice_is_refused() -> None:
    """One of the two would win by its place."""
    with pytest.raises(ProfileError, match='"kubernetes" is given twice'):
        changed("kubernetes=1.34.2", "kubernetes=1.33.5")


OF_WINDOWS = {f"windows.{key}" for key in windows_settings.SCHEMA["properties"]}


@pytest.mark.parametrize("name", sorted(SETTINGS.keys() - OF_WINDOWS))
def test_settings_are_keys_of_forecasts(name: str) -> None:
    """One list of facts says what is forecast and what is brought up; each example is a value of both."""
    example = SETTINGS[name].example
    assert name in KEYS
    KEYS[name].read(example)
    SETTINGS[name].read(example)


@pytest.mark.parametrize("name", sorted(OF_WINDOWS))
def test_each_key_of_the_block_windows_is_a_setting(name: str) -> None:
    """Its example is a value of the block that is not the usual one."""
    found = changed(f"{name}={SETTINGS[name].example}")
    assert found.windows != WindowsSettings()
    assert found.nodes == changed().nodes


def test_settings_may_follow_the_name_of_a_profile() -> None:
    """So that a command that takes a profile alone takes them too; a value may have commas."""
    nets = "192.0.2.0/24,198.51.100.0/24"
    name = f"{OLD},cni.natExceptions={nets},windows.hcsshim=0.12"
    expected = changed(f"cni.natExceptions={nets}", "windows.hcsshim=0.12", "kubernetes=1.34.2")
    assert changed("kubernetes=1.34.2", profile=name) == expected
    assert profiles.read(profiles.written(name, ("kubernetes=1.34.2",)), "changed.yaml") == expected
    with pytest.raises(ProfileError, match='no setting "hcsshim" of a profile'):
        changed(profile=f"{OLD},hcsshim")


def test_the_file_of_a_changed_profile_is_that_profile() -> None:
    """What ``lab profile`` prints reads as the same cluster, without comments that were true of another one."""
    settings = ("cni.backend=vxlan", "kubernetes=1.34.2", "windows.build=20348.3207")
    text = profiles.written(OLD, settings)
    assert profiles.read(text, "changed.yaml") == changed(*settings)
    assert "#" not in text
    document = YAML(typ="safe").load(io.StringIO(text))
    assert document["cni"] == {"plugin": "flannel", "backend": "vxlan", "driver": "overlay"}


def test_the_file_of_a_profile_is_printed_as_it_is() -> None:
    """Comments say why it is as it is."""
    text = profiles.written(OLD)
    assert text.startswith("# Windows Server 2019 as it was before KB4571748")
    assert profiles.read(text, "same.yaml") == changed()


def test_the_command_prints_the_file(tmp_path: Path) -> None:
    """What it prints is a profile; what is wrong is said on standard error, with exit code 1."""
    words = ["profile", OLD, "--set", "kubeProxy.dsr=true", "--set", "kubernetes=1.34.2"]
    done = CliRunner().invoke(lab, words)
    assert done.exit_code == 0, done.output
    file = tmp_path / "dsr.yaml"
    file.write_text(done.output)
    assert profiles.load(str(file)) == changed("kubeProxy.dsr=true", "kubernetes=1.34.2")
    again = CliRunner().invoke(lab, ["profile", str(file), "--set", "kubeProxy.dsr=off"])
    assert "dsr: false" in again.output
    wrong = CliRunner().invoke(lab, ["profile", OLD, "--set", "kubernetes=1.34"])
    assert wrong.exit_code == 1
    assert "a value such as 1.34.2" in wrong.stderr


def test_a_lab_with_settings_is_of_the_changed_profile() -> None:
    """Its process reads the profile itself, and is handed the words."""
    words = {"settings": ["kubeProxy.dsr=true"], "mechanisms": {"dsr": 0}}
    found = daemon.chosen(OLD, words)
    assert found.kube_proxy.dsr
    assert found.mechanisms == (("dsr", 0),)
