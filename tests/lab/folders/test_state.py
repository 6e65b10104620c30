"""Where labs are noted: names, private folders, remains."""

from pathlib import Path

import pytest

from nettests.lab.errors import StateError
from nettests.lab.folders import state
from tests.lab.folders.posing import posing, record_of


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labs are noted below a folder of the test's own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["", "-a", "A", "a/b", "..", "a" * 41, "a_b"])
def test_names_that_cannot_be_folders_are_refused(name: str) -> None:
    """Nothing outside the state folder can be named."""
    with pytest.raises(StateError, match="cannot be the name of a lab"):
        state.folder(name)


def test_a_folder_is_made_private_and_removed_with_its_parent(runtime: Path) -> None:
    """The last lab takes the parent folder with it."""
    folder = state.folder("a")
    with folder.starting():
        assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.remove()
    assert list(runtime.iterdir()) == []


def test_another_users_folder_is_not_trusted(runtime: Path) -> None:
    """A parent that others may write to, or that is a link, is refused."""
    (runtime / "nettests-lab").mkdir(mode=0o755)
    with pytest.raises(StateError, match="not a private folder"):
        state.folder("a")


def test_a_link_in_place_of_the_folder_is_not_followed(runtime: Path) -> None:
    """Somebody else's link must not lead us to their place."""
    elsewhere = runtime / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (runtime / "nettests-lab").symlink_to(elsewhere)
    with pytest.raises(StateError, match="not a private folder"):
        state.folder("a")


def test_a_running_lab_keeps_its_name() -> None:
    """A live process that is the noted one counts as the lab."""
    folder = state.folder("a")
    with folder.starting():
        pass
    with (
        posing(folder),
        pytest.raises(StateError, match=r"runs already \(profile linux, process"),
        folder.starting(),
    ):
        pass


def test_remains_are_removed_when_the_name_is_used_again() -> None:
    """Files of a dead lab do not reach the next one."""
    folder = state.folder("a")
    with folder.starting():
        folder.note(record_of("a", pid=2**22))
        folder.write("kubeconfig", "old")
    with folder.starting():
        assert list(folder.path.iterdir()) == []


def test_two_starts_of_one_name_do_not_meet() -> None:
    """The second is told that the first is under way."""
    first, second = state.folder("a"), state.folder("a")
    with (
        first.starting(),
        pytest.raises(StateError, match="is being started"),
        second.starting(),
    ):
        pass


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "[" * 10_000, '{"pid": 1}', '{"name": "a", "more": 1}'),
        '{"name": "a", "profile": "linux", "pid": "1", "started": 1, "boot": "", "user": 0}',
        '{"name": "a", "profile": "linux", "pid": true, "started": 1, "boot": "", "user": 0}',
        pytest.param('{"name": "' + "a" * (1 << 20) + '"}', id="too long"),
    ],
)
def test_a_record_that_cannot_be_read_is_no_record(text: str) -> None:
    """A half-written or strange file does not stop the clean-up."""
    folder = state.folder("a")
    with folder.starting():
        folder.write("lab.json", text)
    assert folder.record() is None
    assert not folder.runs()


def test_files_appear_whole_and_private() -> None:
    """A reader never sees half a kubeconfig."""
    folder = state.folder("a")
    with folder.starting():
        path = folder.write("kubeconfig", "text")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("text", 0o600)
    assert [each.name for each in folder.path.iterdir()] == ["kubeconfig"]
