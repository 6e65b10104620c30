"""A run judged again elsewhere brings along its diagnostics, and no other file of the machine."""

import json
from datetime import date
from pathlib import Path

import pytest

from nettests.session.rejudge import judge_again

SAMPLE = Path(__file__).parents[2] / "reports/sample/journal.jsonl"
SECRET = "somebody's words"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The folder of a run with diagnostics, beside and in which stand files that are none."""
    folder = tmp_path / "run"
    held = folder / "diagnostics/node-win-1"
    held.mkdir(parents=True)
    (held / "routes.txt").write_text("default via 172.30.0.1")
    (held / "hns").mkdir()
    (held / "hns/networks.json").write_text("[]")
    for outside in (tmp_path / "secret", folder / "secret", folder / "diagnostics-secret"):
        outside.write_text(SECRET)
    (held / "link").symlink_to(tmp_path / "secret")
    (held / "folder").symlink_to(tmp_path)
    (held / "inside").symlink_to(held / "routes.txt")
    return folder


def judged(source: Path, target: Path, *named: tuple[str, str]) -> dict[str, bytes]:
    """Judge a run again whose journal names these files; return the files that are then in ``target``."""
    head = [
        line
        for line in SAMPLE.read_text().splitlines()
        if json.loads(line)["record"] in {"run", "facts"}
    ]
    told = [
        json.dumps(
            {
                "record": "diagnostics",
                "subject": "node win-1",
                "folder": folder,
                "checks": [],
                "items": [{"file": file, "title": "x"}],
            }
        )
        for folder, file in named
    ]
    (source / "journal.jsonl").write_text("\n".join([*head, *told]) + "\n")
    judge_again(source, target, (), (), today=date(2026, 1, 1))
    return {
        str(path.relative_to(target)): path.read_bytes()
        for path in target.rglob("*")
        if path.is_file() and path.name != "journal.jsonl"
    }


FOLDER = "diagnostics/node-win-1"


def test_files_of_the_diagnostics_are_brought_along(source: Path, tmp_path: Path) -> None:
    """What stands in the run's own folder of diagnostics is copied to its place, deeper files too."""
    found = judged(
        source,
        tmp_path / "new",
        (FOLDER, "routes.txt"),
        (FOLDER, "hns/networks.json"),
        (FOLDER, ""),
    )
    assert found == {
        f"{FOLDER}/routes.txt": b"default via 172.30.0.1",
        f"{FOLDER}/hns/networks.json": b"[]",
    }


@pytest.mark.parametrize(
    ("folder", "file"),
    [
        (FOLDER, "../../secret"),
        (FOLDER, "../../../secret"),
        ("diagnostics/../..", "secret"),
        ("..", "secret"),
        (".", "secret"),
        (".", "diagnostics-secret"),
        ("", "journal.jsonl"),
        (FOLDER, "{outside}/secret"),
        ("{outside}", "secret"),
        (FOLDER, "link"),
        (FOLDER, "folder/secret"),
        (f"{FOLDER}/folder", "secret"),
        (FOLDER, "missing"),
        (FOLDER, "hns"),
    ],
)
def test_nothing_else_is_brought_along(
    source: Path, tmp_path: Path, folder: str, file: str
) -> None:
    """Parents, absolute paths, links that lead out, folders and missing files are not copied."""
    place = str(tmp_path)
    named = (folder.replace("{outside}", place), file.replace("{outside}", place))
    assert judged(source, tmp_path / "new", named) == {}
    beside = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.read_text() == SECRET for path in beside) == 3


def test_diagnostics_that_are_a_link_are_left(source: Path, tmp_path: Path) -> None:
    """A folder of diagnostics that leads elsewhere is somebody else's."""
    (source / "diagnostics").rename(source / "aside")
    elsewhere = tmp_path / "elsewhere/node-win-1"
    elsewhere.mkdir(parents=True)
    (elsewhere / "routes.txt").write_text(SECRET)
    (source / "diagnostics").symlink_to(elsewhere.parent)
    assert judged(source, tmp_path / "new", (FOLDER, "routes.txt")) == {}


def test_a_link_within_is_brought_along_as_what_it_names(source: Path, tmp_path: Path) -> None:
    """The file itself is copied, under its own name."""
    found = judged(source, tmp_path / "new", (FOLDER, "inside"))
    assert found == {f"{FOLDER}/routes.txt": b"default via 172.30.0.1"}
