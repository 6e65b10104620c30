"""Whose the folder of labs is: links, other owners and open modes, before anything in it is read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from nettests.lab.cli import lab
from nettests.lab.errors import StateError
from nettests.lab.folders import places, private, state
from tests.lab.folders.posing import posing

USER = os.geteuid()
NEIGHBOUR = USER + 1


@pytest.fixture(autouse=True)
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files as ``/tmp`` is, and a home; there is no ``XDG_RUNTIME_DIR``."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir(mode=0o755)
    made = tmp_path / "tmp"
    made.mkdir()
    made.chmod(0o1777)
    monkeypatch.setattr("tempfile.tempdir", str(made))
    return made


@pytest.fixture
def usual(shared: Path) -> Path:
    """Where labs are noted if nobody took the place."""
    return shared / f"nettests-lab-{places.real_user(USER, Path('/proc/self/uid_map').read_text())}"


@pytest.fixture
def in_home(tmp_path: Path) -> Path:
    """Where labs are noted if somebody did."""
    return tmp_path / "home" / ".local" / "state" / "nettests-lab"


def give_away(path: Path) -> None:
    """Make a folder somebody else's, which only root can."""
    if USER != 0:
        pytest.skip(
            "only root can give a folder to another user; see the test with a pretended owner"
        )
    os.chown(path, NEIGHBOUR, NEIGHBOUR, follow_symlinks=False)


def forged(place: Path, name: str = "a") -> Path:
    """Make a folder of labs as an attacker would."""
    (place / name).mkdir(parents=True, mode=0o777)
    place.chmod(0o777)
    (place / name / "lab.json").write_text("{}")
    return place / name


def test_the_usual_place_is_made_private(usual: Path) -> None:
    """Where the name is free the labs' folder is made with mode 0700."""
    with state.folder("a").starting():
        assert usual.stat().st_mode & 0o777 == 0o700
    assert [each.path for each in state.folders()] == [usual / "a"]


def test_a_place_of_somebody_else_is_left_alone(usual: Path, in_home: Path) -> None:
    """A foreign folder of that name is neither read nor emptied; labs are noted in the home, and found."""
    theirs = forged(usual)
    give_away(usual)
    assert state.folders() == ()
    mine = state.folder("a")
    with mine.starting():
        assert mine.path == in_home / "a"
    assert [each.path for each in state.folders()] == [in_home / "a"]
    assert CliRunner().invoke(lab, ["down", "--all"]).exit_code == 0
    assert not in_home.exists()
    assert (theirs / "lab.json").read_text() == "{}"


def test_a_pretended_owner_is_left_alone(
    usual: Path, in_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for an ordinary user, who cannot give a folder away: the user is another instead."""
    forged(usual)
    usual.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: NEIGHBOUR)
    monkeypatch.setattr(places, "real_user", lambda *_: usual.name.removeprefix("nettests-lab-"))
    assert state.folders() == ()
    assert places.usable() == in_home
    with pytest.raises(StateError, match=f"belongs to user {USER}"), private.opened(usual):
        pass


def test_a_place_that_becomes_free_hides_no_lab(usual: Path, in_home: Path) -> None:
    """A lab noted in the home is found after the neighbour took the folder away."""
    usual.mkdir(mode=0o700)
    give_away(usual)
    with state.folder("a").starting():
        pass
    usual.rmdir()
    assert state.folder("a").path == in_home / "a"
    with state.folder("b").starting():
        pass
    assert [each.path for each in state.folders()] == [in_home / "a", usual / "b"]


def test_a_place_passed_over_is_told(usual: Path, in_home: Path) -> None:
    """``status`` names the folder, its owner and where labs are noted instead."""
    assert CliRunner().invoke(lab, ["status"]).stderr == ""
    usual.mkdir(mode=0o700)
    give_away(usual)
    told = CliRunner().invoke(lab, ["status"]).stderr
    assert told == (
        f"{usual} belongs to user {NEIGHBOUR} and is left alone; labs are noted in {in_home}.\n"
    )


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o702, 0o1777])
def test_a_place_open_to_others_is_refused(usual: Path, mode: int) -> None:
    """What others could have read or written is not trusted, and nothing in it is touched."""
    usual.mkdir()
    usual.chmod(mode)
    (usual / "a").mkdir(mode=0o700)
    for command in (["status"], ["down", "--all"], ["up", "--profile", "linux"]):
        done = CliRunner().invoke(lab, command)
        assert done.exit_code == 1, command
        assert f"its mode is {mode:04o}" in done.stderr
    assert (usual / "a").is_dir()


def test_a_link_to_other_folders_is_not_followed(usual: Path, tmp_path: Path) -> None:
    """``down --all`` does not remove what the target of a link holds."""
    target = tmp_path / "target"
    (target / "photos").mkdir(parents=True, mode=0o700)
    target.chmod(0o700)
    usual.symlink_to(target)
    done = CliRunner().invoke(lab, ["down", "--all"])
    assert (done.exit_code, "it is a link" in done.stderr) == (1, True)
    assert (target / "photos").is_dir()


def test_a_link_in_place_of_one_lab_is_not_followed(usual: Path, tmp_path: Path) -> None:
    """One lab's folder that is a link is named and stays; the others are stopped all the same."""
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (target / "kept").write_text("")
    with state.folder("b").starting():
        pass
    (usual / "a").symlink_to(target)
    with posing(state.folder("b")) as process:
        done = CliRunner().invoke(lab, ["down", "--all"])
        assert process.wait(10) == -15
    assert done.exit_code == 1
    assert done.stdout == 'Lab "b" stopped.\n'
    assert "a is not a private folder of this user: it is a link" in done.stderr
    assert (target / "kept").exists()
    assert not (usual / "b").exists()


def test_a_lab_of_another_owner_within_the_place_is_refused(usual: Path) -> None:
    """Each lab's own folder is checked as well."""
    with state.folder("a").starting():
        pass
    give_away(usual / "a")
    with pytest.raises(StateError, match=f"belongs to user {NEIGHBOUR}"):
        state.folder("a")
    assert "belongs to user" in CliRunner().invoke(lab, ["status"]).stderr


def test_links_within_a_lab_are_removed_and_not_followed(usual: Path, tmp_path: Path) -> None:
    """``down`` takes a link away and leaves what it names."""
    folder = state.folder("a")
    with folder.starting():
        pass
    target = tmp_path / "target"
    target.mkdir()
    (target / "kept").write_text("")
    (folder.path / "link").symlink_to(target)
    (folder.path / "lab.json").symlink_to(target / "kept")
    assert folder.record() is None
    folder.remove()
    assert (target / "kept").exists()
    assert not usual.exists()


def test_a_folder_is_named_after_the_user_outside(usual: Path) -> None:
    """Root of a user namespace of their own keeps the name of the user who made it."""
    code = "from nettests.lab.folders import places; print(places.candidates()[0].name)"
    inside = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert inside.stdout.strip() == usual.name


@pytest.mark.parametrize(
    ("user", "uid_map", "outside"),
    [
        (0, "0 0 4294967295", 0),
        (1000, "         0          0 4294967295\n", 1000),
        (0, "0 1000 1\n", 1000),
        (7, "0 1000 1\n1 100000 65536\n", 100006),
        (65534, "0 1000 1\n", 65534),
    ],
)
def test_ids_are_those_outside_the_namespace(user: int, uid_map: str, outside: int) -> None:
    """/proc/self/uid_map says which id a user of the namespace has outside."""
    assert places.real_user(user, uid_map) == outside


def test_a_lab_started_as_root_of_a_namespace_takes_nobodys_place(usual: Path) -> None:
    """It is noted under the user's own name, so that root's own labs start afterwards."""
    code = "from nettests.lab.folders import state\nwith state.folder('a').starting(): pass"
    subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", code],
        check=True,
        env={**os.environ, "TMPDIR": str(usual.parent)},
    )
    assert [each.name for each in usual.parent.iterdir()] == [usual.name]
    assert [each.name for each in state.folders()] == ["a"]


def test_a_runtime_folder_of_somebody_else_is_not_used(
    usual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``sudo`` and ``su`` may keep the variable of the user before."""
    other = tmp_path / "run"
    other.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(other))
    assert places.candidates() == (other / "nettests-lab",)
    give_away(other)
    assert places.candidates()[0] == usual


def test_no_place_at_all_is_said(usual: Path, in_home: Path) -> None:
    """Where both places are somebody else's, the error says what to set."""
    for place in (usual, in_home):
        place.mkdir(parents=True)
        give_away(place)
    with pytest.raises(StateError, match="There is no place") as told:
        places.usable()
    assert "XDG_RUNTIME_DIR" in told.value.hint


def test_status_as_json_tells_of_trusted_labs_only(usual: Path, tmp_path: Path) -> None:
    """Standard output stays one object."""
    with state.folder("b").starting():
        pass
    (usual / "a").symlink_to(tmp_path)
    done = CliRunner().invoke(lab, ["status", "--json"])
    assert [row["name"] for row in json.loads(done.stdout)["labs"]] == ["b"]
    assert "it is a link" in done.stderr
