"""What a container of the lab sees of its mounts: paths of each system, shared volumes, modes, and errors in Go's words."""

import pytest

from nettests.lab.mounted.files import FileError, Files, Mount, Volume
from nettests.lab.topology import OS


def files(place: str, os: OS = OS.LINUX, *, mode: int = 0o644, **said: bool) -> Files:
    """Return what a container sees that mounts a volume with one file."""
    volume = Volume(texts={"note": "text"}, mode=mode)
    return Files(os=os, mounts=(Mount(place=place, volume=volume),), **said)


@pytest.mark.parametrize("place", ["C:\\data", "c:/data/", "/data", "\\Data"])
@pytest.mark.parametrize("path", ["C:\\data\\note", "C:/data/note", "/data/note", "\\DATA\\note"])
def test_windows_takes_a_path_in_every_form(place: str, path: str) -> None:
    """With drive and without, either slash, in either case."""
    assert files(place, OS.WINDOWS).read(path) == "text"


@pytest.mark.parametrize(
    "path", ["/Data/note", "\\data\\note", "C:/data/note", "/data", "/data2/note"]
)
def test_linux_takes_a_path_as_it_is(path: str) -> None:
    """Another spelling is another file, and none is there."""
    with pytest.raises(FileError, match="no such file or directory"):
        files("/data").read(path)


def test_what_one_container_writes_another_reads() -> None:
    """They share the volume, wherever each mounts it."""
    volume = Volume()
    one, other = (Files(mounts=(Mount(place=place, volume=volume),)) for place in ("/a", "/b"))
    one.write("/a/new", "hello")
    assert other.read("/b/new") == "hello"
    with pytest.raises(FileError, match="open /c/new: no such file"):
        one.write("/c/new", "nowhere")


@pytest.mark.parametrize(
    ("os", "said"), [(OS.LINUX, "read-only file system"), (OS.WINDOWS, "Access is denied.")]
)
def test_a_mount_may_be_read_only_for_one_container(os: OS, said: str) -> None:
    """Its files are read and not written; the same volume may be written by way of another mount."""
    volume = Volume(texts={"note": "text"})
    mount = Mount(place="/data", volume=volume, read_only=True)
    seen = Files(os=os, mounts=(mount,))
    with pytest.raises(FileError, match=f"open /data/new: {said}"):
        seen.write("/data/new", "")
    assert seen.read("/data/note") == "text"
    assert "new" not in volume.texts


def test_one_file_of_a_volume_lies_at_the_very_place() -> None:
    """Under another name; nothing lies below it."""
    volume = Volume(texts={"note": "text"})
    seen = Files(mounts=(Mount(place="/etc/renamed", volume=volume, file="note"),))
    assert seen.read("/etc/renamed") == "text"
    with pytest.raises(FileError):
        seen.read("/etc/renamed/note")


@pytest.mark.parametrize(
    ("mode", "privileged", "modes", "denied"),
    [
        (0o400, False, True, True),
        (0o400, True, True, False),
        (0o400, False, False, False),
        (0o644, False, True, False),
    ],
    ids=["owner alone", "an administrator", "modes are ignored", "anybody"],
)
def test_a_mode_keeps_a_file_from_others(
    mode: int, *, privileged: bool, modes: bool, denied: bool
) -> None:
    """Where the system looks at modes, and the user is no administrator."""
    seen = files("/data", mode=mode, privileged=privileged, modes=modes)
    if denied:
        with pytest.raises(FileError, match="permission denied"):
            seen.read("/data/note")
    else:
        assert seen.read("/data/note") == "text"
