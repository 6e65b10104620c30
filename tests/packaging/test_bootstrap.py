"""Set-up behind the two make targets: what it does once, what it leaves alone, what it tells people."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, with an environment of its own and an ordinary user's rights."""
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "scripts" / "bootstrap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    monkeypatch.setattr(module, "VENV", tmp_path / "venv")
    monkeypatch.setattr(module, "is_root", lambda: False)
    monkeypatch.delenv("NETTESTS_NFT", raising=False)
    return module


def program(path: Path, text: str) -> Path:
    """Write a shell script and make it executable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def recorder(bootstrap: ModuleType) -> Path:
    """Put a Python into the environment that writes down how it was called."""
    calls: Path = bootstrap.VENV / "calls"
    calls.touch()
    program(bootstrap.VENV / "bin" / "python", f'echo "$@" >> {calls}')
    return calls


def test_it_runs_with_the_standard_library_alone() -> None:
    """The machine's own Python runs it, isolated from every installed package."""
    command = [sys.executable, "-I", "-S", str(ROOT / "scripts" / "bootstrap.py"), "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert "unknown purpose 'nonsense'" in done.stderr
    assert "bootstrap.py run | development" in done.stderr


def test_an_environment_that_stands_is_left_alone(bootstrap: ModuleType) -> None:
    """A second set-up makes no environment again."""
    program(bootstrap.VENV / "bin" / "pip", "exit 0")
    before = sorted(bootstrap.VENV.rglob("*"))
    bootstrap.make_environment()
    assert sorted(bootstrap.VENV.rglob("*")) == before


def test_the_project_is_installed_once(bootstrap: ModuleType) -> None:
    """An unchanged project file is not installed a second time."""
    calls = recorder(bootstrap)
    bootstrap.install_project(development=False)
    assert calls.read_text().count("--editable") == 1
    bootstrap.install_project(development=False)
    assert calls.read_text().count("--editable") == 1


def test_development_is_enough_for_a_run(bootstrap: ModuleType) -> None:
    """After ``make test``, ``make demo`` installs nothing; the other way round it does."""
    calls = recorder(bootstrap)
    bootstrap.install_project(development=True)
    installed = calls.read_text()
    assert "requirements/development.txt" in installed
    bootstrap.install_project(development=False)
    assert calls.read_text() == installed


def test_a_run_is_not_enough_for_development(bootstrap: ModuleType) -> None:
    """After ``make demo``, ``make test`` installs what tests need."""
    calls = recorder(bootstrap)
    bootstrap.install_project(development=False)
    bootstrap.install_project(development=True)
    assert "requirements/development.txt" in calls.read_text()


def test_a_changed_project_file_is_installed_again(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stamp is the project file's digest, not its presence."""
    calls = recorder(bootstrap)
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text("one")
    bootstrap.install_project(development=False)
    (tmp_path / "pyproject.toml").write_text("two")
    bootstrap.install_project(development=False)
    assert calls.read_text().count("--editable") == 2


def test_every_library_is_installed_by_hash(bootstrap: ModuleType) -> None:
    """Nothing is taken that the lock files do not name: by hash, without dependencies, built from what stands."""
    calls = recorder(bootstrap)
    bootstrap.install_project(development=True)
    installer, libraries, own = calls.read_text().splitlines()
    for line, name in ((installer, "installer"), (libraries, "development")):
        assert "--require-hashes --no-deps" in line
        assert line.endswith(f"requirements/{name}.txt")
    assert own.endswith("--no-deps --no-build-isolation --editable .")


def test_uv_installs_where_it_runs(bootstrap: ModuleType) -> None:
    """uv installs the libraries and the project, and pip only uv."""
    calls = recorder(bootstrap)
    by_uv = bootstrap.VENV / "by-uv"
    program(bootstrap.VENV / "bin" / "uv", f'echo "$@" >> {by_uv}')
    bootstrap.install_project(development=False)
    assert [line.split()[-1] for line in calls.read_text().splitlines()] == [
        "requirements/installer.txt"
    ]
    assert [line.split()[-1] for line in by_uv.read_text().splitlines()] == [
        "requirements/run.txt",
        ".",
    ]


def test_pip_installs_where_uv_fails(
    bootstrap: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """uv reads no configuration of pip: what it cannot reach pip installs, from the same file."""
    calls = recorder(bootstrap)
    program(bootstrap.VENV / "bin" / "uv", 'echo "error: no route to the index" >&2; exit 2')
    bootstrap.install_project(development=False)
    assert "requirements/run.txt" in calls.read_text()
    assert "uv could not install (error: no route to the index)" in capsys.readouterr().out


def test_a_failed_installation_leaves_no_stamp(bootstrap: ModuleType) -> None:
    """What pip could not install is tried again the next time, and said."""
    program(bootstrap.VENV / "bin" / "python", "exit 1")
    with pytest.raises(SystemExit, match="pip could not install"):
        bootstrap.install_project(development=False)
    assert not list(bootstrap.VENV.glob(".installed-*"))


def test_a_missing_venv_package_is_named(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian's Python without ensurepip: the message names the package and the command."""
    python = program(tmp_path / "python3", 'test "$1" = -c && echo 3.11 && exit 0\nexit 1')
    monkeypatch.setattr(bootstrap, "find_python", lambda: str(python))
    with pytest.raises(SystemExit) as stopped:
        bootstrap.make_environment()
    assert "python3-venv is missing" in str(stopped.value)
    assert "sudo apt-get install python3.11-venv" in str(stopped.value)
    assert not bootstrap.VENV.exists()


def test_an_old_python_is_refused(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a new enough Python, the message says which is needed and how to name one."""
    monkeypatch.setattr(bootstrap, "OLDEST_PYTHON", (99, 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"Python 99\.0 or newer is needed"):
        bootstrap.find_python()


def test_a_newer_python_on_the_path_is_found(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old ``python3`` does not matter when a newer one is installed beside it."""
    newer = program(tmp_path / "python3.12", "exit 0")
    monkeypatch.setattr(bootstrap, "OLDEST_PYTHON", (99, 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bootstrap.find_python() == str(newer)


def test_nft_in_the_administrators_folder_is_found(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary user's PATH lacks /usr/sbin on Debian; nft is found there all the same."""
    if not os.access("/usr/sbin/nft", os.X_OK):
        pytest.skip("nft is not in /usr/sbin here")
    monkeypatch.setenv("PATH", "/nowhere")
    assert bootstrap.find_nft() == "/usr/sbin/nft"


def test_without_nft_the_one_command_is_told(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When nothing works, the message is the command that a person must run."""
    monkeypatch.setattr(bootstrap, "find_nft", lambda: None)
    monkeypatch.setattr(bootstrap, "unpack_nftables", lambda: False)
    with pytest.raises(SystemExit, match="sudo apt-get install nftables"):
        bootstrap.provide_nftables()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A folder with packages ``nftables`` and ``libnftables1``, and an apt-get that serves it."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not on this machine")
    folder = tmp_path / "archive"
    for name, file in (
        ("nftables", "usr/sbin/nft"),
        ("libnftables1", "usr/lib/any/libnftables.so.1"),
    ):
        tree = tmp_path / "trees" / name
        control = tree / "DEBIAN" / "control"
        control.parent.mkdir(parents=True)
        control.write_text(
            f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: -\n"
        )
        program(tree / file, 'echo "nftables v9 with $LD_LIBRARY_PATH"')
        folder.mkdir(exist_ok=True)
        command = ["dpkg-deb", "--build", "--root-owner-group", str(tree), str(folder)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    program(
        tmp_path / "tools" / "apt-get",
        f'for word in "$@"; do cp {folder}/"$word"_*.deb . 2>/dev/null; done; exit 0',
    )
    return folder


@pytest.mark.usefixtures("archive")
def test_nftables_is_unpacked_into_the_environment(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without root, the packages' files are used in place, with their own libraries."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}{os.pathsep}{os.environ['PATH']}")
    assert bootstrap.unpack_nftables()
    done = subprocess.run(
        [bootstrap.VENV / "bin" / "nft"], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.startswith("nftables v9 with ")
    assert str(bootstrap.VENV / "nftables" / "usr/lib/any") in done.stdout


def test_missing_libraries_are_turned_into_packages(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the loader does not find is fetched too."""
    report = (
        "libnftables.so.1 => /lib/libnftables.so.1 (0x1)\n"
        "libmnl.so.0 => not found\nlibjansson.so.4 => not found"
    )
    program(tmp_path / "tools" / "ldd", f"cat <<END\n{report}\nEND")
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}{os.pathsep}{os.environ['PATH']}")
    assert bootstrap.missing_packages(tmp_path) == ["libmnl0", "libjansson4"]


@pytest.mark.usefixtures("archive")
def test_a_half_download_is_no_success(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a package cannot be fetched, nothing pretends to be nft."""
    (tmp_path / "archive" / "libnftables1_1_all.deb").unlink()
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}{os.pathsep}{os.environ['PATH']}")
    assert not bootstrap.unpack_nftables()
    assert not (bootstrap.VENV / "bin" / "nft").exists()
