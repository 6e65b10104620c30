"""A run's own lab: met through its command line, and always taken down.

The lab here is a script that keeps its state in a file, so that what is left behind can be seen.
"""

import json
import sys
from pathlib import Path

import pytest

from nettests.plugin import lab as seam

SCRIPT = """
import json, pathlib, sys
state = pathlib.Path({state!r})
command, rest = sys.argv[1], sys.argv[2:]
name = rest[rest.index("--name") + 1]
up = json.loads(state.read_text()) if state.exists() else []
if command == "up":
    state.write_text(json.dumps([*up, name]))
    profile = rest[rest.index("--profile") + 1] if "--profile" in rest else "default"
    if profile == "broken":
        sys.exit("Error: no profile broken\\n→ profiles: linux")
    print(json.dumps({{"name": name, "profile": profile, "pid": 1, "kubeconfig": "/k", "cluster_profile": "/p"}}))
else:
    state.write_text(json.dumps([other for other in up if other != name]))
"""


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state of a scripted lab: the names of those that are up."""
    state = tmp_path / "state.json"
    script = tmp_path / "lab.py"
    script.write_text(SCRIPT.format(state=str(state)))
    monkeypatch.setattr(seam, "COMMAND", (sys.executable, str(script)))
    return state


def names(state: Path) -> list[str]:
    """Return the labs that are up."""
    found: list[str] = json.loads(state.read_text())
    return found


def test_it_is_up_inside_the_block_and_down_after_it(left: Path) -> None:
    """The lab lives as long as the block, under a name of its own."""
    with seam.lab("linux") as up:
        assert names(left) == [up.name]
        assert (up.profile, up.kubeconfig) == ("linux", Path("/k"))
    assert names(left) == []


def test_no_profile_leaves_the_choice_to_the_lab(left: Path) -> None:
    """Which profile is the default is the lab's own knowledge."""
    with seam.lab() as up:
        assert up.profile == "default"


def test_it_goes_down_when_the_block_breaks(left: Path) -> None:
    """An error or Ctrl-C inside the block does not leave a lab behind."""
    with pytest.raises(KeyboardInterrupt), seam.lab():
        raise KeyboardInterrupt
    assert names(left) == []


def test_two_runs_have_two_labs(left: Path) -> None:
    """Names do not collide."""
    with seam.lab() as one, seam.lab() as two:
        assert one.name != two.name


def test_a_lab_that_fails_is_explained_and_removed(left: Path) -> None:
    """What the lab said becomes the error and its hint, and what it began is taken down."""
    with pytest.raises(seam.LabError) as caught, seam.lab("broken"):
        pass
    assert caught.value.message == "the lab did not come up: no profile broken"
    assert caught.value.hint == "profiles: linux"
    assert names(left) == []
