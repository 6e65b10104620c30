"""Which shim starts programs on a Windows node, and where it puts images."""

import pytest

from nettests.lab.topology import Shim, WindowsSettings, shim_of

NEW_2019, OLD_2019, SERVER_2022 = (17763, 3165), (17763, 1339), (20348, 1)


@pytest.mark.parametrize(
    ("runtime", "release", "minor", "behind_cmd", "root", "directory"),
    [
        ("containerd://1.6.36", SERVER_2022, 9, False, r"C:\C\id", "C:\\"),
        ("containerd://1.7.15", SERVER_2022, 11, True, r"C:\hpc", "C:\\"),
        ("containerd://1.7.16", NEW_2019, 11, True, r"C:\hpc", r"C:\hpc"),
        ("containerd://1.7.28", OLD_2019, 11, False, r"C:\hpc\id", r"C:\hpc"),
        ("containerd://2.0.5", SERVER_2022, 12, True, r"C:\hpc", r"C:\hpc"),
        ("containerd://2.1.9", (26100, 1), 13, True, r"C:\hpc", r"C:\hpc"),
        ("containerd://3.0.0", (25398, 1), 15, True, r"C:\hpc", r"C:\hpc"),
        ("containerd://1.5.8", SERVER_2022, 9, False, r"C:\C\id", "C:\\"),
        ("docker://20.10.9", SERVER_2022, 9, False, r"C:\C\id", "C:\\"),
    ],
)
def test_the_shim_is_that_of_containerd(
    runtime: str,
    release: tuple[int, int],
    minor: int,
    root: str,
    directory: str,
    *,
    behind_cmd: bool,
) -> None:
    """And cmd stands before commands where 0.10 or newer finds the bind filter."""
    shim = shim_of(runtime, release)
    assert (shim.minor, shim.behind_cmd) == (minor, behind_cmd)
    assert (shim.root("id"), shim.directory) == (root, directory)


def test_a_profile_may_state_another_shim_and_its_bind_filter() -> None:
    """Both are files of their own, whatever containerd's version is."""
    shim = shim_of("containerd://2.0.5", SERVER_2022, WindowsSettings(hcsshim="0.9"))
    assert (shim.minor, shim.behind_cmd, shim.loses_output) == (9, False, True)
    without = shim_of("containerd://2.0.5", SERVER_2022, WindowsSettings(bind_filter=False))
    assert (without.root("id"), without.behind_cmd, without.loses_output) == (
        r"C:\hpc\id",
        False,
        False,
    )
    assert shim_of("containerd://1.7.28", OLD_2019, WindowsSettings(bind_filter=True)) == Shim(
        minor=11
    )
