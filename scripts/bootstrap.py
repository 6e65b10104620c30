"""Set-up behind ``make demo`` and ``make test``: Python environment, nftables, namespaces.

Runs with the machine's own Python and its standard library only; a second run with nothing to do
takes well under a second. As root, what is missing is installed; as an ordinary user, nftables is
unpacked into the environment; where neither works, it prints the one command that a person must run.
It starts no lab and no test.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
OLDEST_PYTHON = (3, 11)
NFTABLES_PACKAGES = ("nftables", "libnftables1")
LIBRARY_PACKAGES = {
    "libnftables.so": "libnftables1",
    "libmnl.so": "libmnl0",
    "libnftnl.so": "libnftnl11",
    "libxtables.so": "libxtables12",
    "libjansson.so": "libjansson4",
    "libgmp.so": "libgmp10",
    "libedit.so": "libedit2",
    "libbsd.so": "libbsd0",
    "libmd.so": "libmd0",
    "libtinfo.so": "libtinfo6",
}
"""Which Debian and Ubuntu package holds a library that ``nft`` may miss."""

NAMESPACE_PROBE = (
    "from nettests.lab.network.isolation import probe_isolation as p; print(p() or '')"
)


def main() -> None:
    """Prepare the environment for ``run`` (demo) or ``development`` (tests)."""
    purpose = sys.argv[1] if len(sys.argv) > 1 else "run"
    if purpose not in ("run", "development"):
        stop(f"unknown purpose {purpose!r}", "use: bootstrap.py run | development")
    make_environment()
    install_project(development=purpose == "development")
    provide_nftables()
    explain_missing_namespaces()


def say(text: str) -> None:
    """Print one line of progress."""
    print(f"[set-up] {text}", flush=True)  # noqa: T201 - a script for people


def stop(problem: str, step: str) -> NoReturn:
    """End with what is wrong and what to do next."""
    sys.exit(f"[set-up] {problem}\n  → {step}")


def is_root() -> bool:
    """Whether packages can be installed without asking."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(*packages: str) -> bool:
    """Install Debian packages as root; tell whether that worked."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    say(f"installing {' '.join(packages)}")
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", *packages]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode and "install" in command:
            say(f"apt-get could not install them: {done.stderr.strip().splitlines()[-1:]}")
            return False
    return True


def find_python() -> str:
    """Return an interpreter that is new enough: this one, or a newer one on the PATH."""
    if sys.version_info >= OLDEST_PYTHON:
        return sys.executable
    for name in ("python3.13", "python3.12", "python3.11", "python3.14"):
        if path := shutil.which(name):
            return path
    return stop(
        f"Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed, this is {sys.version.split()[0]}",
        "install a newer Python, or name one: make PYTHON=/path/to/python3.11 …",
    )


def make_environment() -> None:
    """Make ``.venv`` if it is not there, installing python3-venv where Debian left it out."""
    if (VENV / "bin" / "pip").exists():
        return
    python = find_python()
    say(f"making {VENV.name} with {python}")
    if create_venv(python):
        return
    version = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    if is_root() and (
        (apt_install(f"python{version}-venv") and create_venv(python))
        or (apt_install("python3-venv") and create_venv(python))
    ):
        return
    stop(
        f"{python} cannot make a virtual environment: the package python3-venv is missing",
        f"sudo apt-get install python{version}-venv   (or python3-venv)",
    )


def create_venv(python: str) -> bool:
    """Try to make the environment; remove what a failed try leaves."""
    done = subprocess.run([python, "-m", "venv", str(VENV)], capture_output=True, check=False)
    if done.returncode == 0 and (VENV / "bin" / "pip").exists():
        return True
    shutil.rmtree(VENV, ignore_errors=True)
    return False


def install_project(*, development: bool) -> None:
    """Install the project once for each state of its requirements; editable, so code is live."""
    state = state_of(ROOT / "pyproject.toml", *sorted((ROOT / "requirements").glob("*.txt")))
    stamps = {name: VENV / f".installed-{name}" for name in ("run", "development")}
    # What is enough for development is enough for a run.
    enough = [stamps["development"]] if development else list(stamps.values())
    if any(stamp.exists() and stamp.read_text() == state for stamp in enough):
        return
    say("installing nettests and its libraries (a minute or two, once)")
    purpose = "development" if development else "run"
    install_locked("installer", by_uv=False)
    install_locked(purpose, by_uv=True)
    # The build tools came with the installer, by hash; the dependencies are installed already.
    arguments = ("--no-deps", "--no-build-isolation", "--editable", ".")
    if not (uv_installs(*arguments) or pip_installs(*arguments)):
        stop("pip could not install the project", "read what it says above")
    stamps[purpose].write_text(state)


def state_of(*files: Path) -> str:
    """Return the digest of these files together."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.read_bytes())
    return whole.hexdigest()


def install_locked(name: str, *, by_uv: bool) -> None:
    """Install one file of ``requirements``, or end with what pip could not do.

    uv takes a tenth of pip's time. It reads no configuration of pip: where an index is known to pip alone,
    or uv does not run, pip installs the same.
    """
    words = ("--require-hashes", "--no-deps", "--requirement", f"requirements/{name}.txt")
    if by_uv and uv_installs(*words):
        return
    if not pip_installs("--no-compile", *words):
        stop(
            f"pip could not install requirements/{name}.txt",
            "check that a Python package index is reachable (pip config list)",
        )


def uv_installs(*arguments: str) -> bool:
    """Install into the environment by uv; tell whether that worked."""
    uv = VENV / "bin" / "uv"
    if not uv.exists():
        return False
    command = [str(uv), "pip", "install", "--quiet", "--python", str(VENV / "bin" / "python")]
    done = subprocess.run(
        [*command, *arguments], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if done.returncode:
        error_lines = done.stderr.strip().splitlines() or ["it said nothing"]
        say(f"uv could not install ({error_lines[0]}); pip does it, which takes longer")
    return done.returncode == 0


def pip_installs(*arguments: str) -> bool:
    """Install into the environment by pip; tell whether that worked."""
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    done = subprocess.run([*pip, "--disable-pip-version-check", *arguments], cwd=ROOT, check=False)
    return done.returncode == 0


def provide_nftables() -> None:
    """Make ``nft`` available: already there, installed as root, or unpacked into the environment."""
    if find_nft():
        return
    if is_root() and apt_install("nftables") and find_nft():
        return
    if unpack_nftables():
        return
    stop("the lab needs nft, and it is not installed", "sudo apt-get install nftables")


def find_nft() -> str | None:
    """Look on the PATH, in the administrators' folders and in the environment."""
    stated = os.environ.get("NETTESTS_NFT")
    if stated:
        return stated
    folders = [os.environ.get("PATH", ""), "/usr/sbin", "/sbin", str(VENV / "bin")]
    return shutil.which("nft", path=os.pathsep.join(folders))


def unpack_nftables() -> bool:
    """Unpack nftables and the libraries it misses below ``.venv``, without root; tell if it works."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return False
    say("unpacking nftables into the environment (no root needed)")
    home = VENV / "nftables"
    home.mkdir(exist_ok=True)
    wanted = list(NFTABLES_PACKAGES)
    for _ in range(len(LIBRARY_PACKAGES)):
        if not download_and_unpack(wanted, home):
            return False
        wanted = missing_packages(home)
        if not wanted:
            break
    wrapper = VENV / "bin" / "nft"
    wrapper.write_text(
        f'#!/bin/sh\nLD_LIBRARY_PATH="{library_path(home)}" exec "{home}/usr/sbin/nft" "$@"\n'
    )
    wrapper.chmod(0o755)
    done = subprocess.run([str(wrapper), "--version"], capture_output=True, check=False)
    if done.returncode:
        wrapper.unlink()
    return done.returncode == 0


def download_and_unpack(packages: list[str], home: Path) -> bool:
    """Fetch packages as files and unpack them below ``home``."""
    for archive in home.glob("*.deb"):
        archive.unlink()
    if not (apt_download(packages, home) or (apt_update(home) and apt_download(packages, home))):
        return False
    for archive in sorted(home.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(archive), str(home)], check=True)
        archive.unlink()
    return True


def apt_download(packages: list[str], home: Path) -> bool:
    """Fetch packages into ``home``; tell whether all came."""
    command = ["apt-get", *own_state(home), "download", "-qq", *packages]
    done = subprocess.run(command, cwd=home, capture_output=True, check=False)
    return done.returncode == 0 and len(list(home.glob("*.deb"))) == len(packages)


def apt_update(home: Path) -> bool:
    """Read the package lists below ``home``: the machine's own may be empty, as in containers."""
    say("reading package lists")
    for folder in ("lists/partial", "cache/archives/partial"):
        (home / "apt" / folder).mkdir(parents=True, exist_ok=True)
    command = ["apt-get", *own_state(home), "update", "-qq"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def own_state(home: Path) -> list[str]:
    """Return apt's options for lists of our own, once they were read."""
    apt_home = home / "apt"
    if not apt_home.exists():
        return []
    return ["-o", f"Dir::State::lists={apt_home}/lists", "-o", f"Dir::Cache={apt_home}/cache"]


def library_path(home: Path) -> str:
    """Where the unpacked libraries lie."""
    folders = {str(library.parent) for library in home.glob("**/*.so*")}
    return os.pathsep.join(sorted(folders))


def missing_packages(home: Path) -> list[str]:
    """Ask the loader which libraries ``nft`` still misses, and name their packages."""
    done = subprocess.run(
        ["ldd", str(home / "usr/sbin/nft")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_LIBRARY_PATH": library_path(home)},
    )
    # sample: "	libmnl.so.0 => not found"
    missing = [line.split()[0] for line in done.stdout.splitlines() if "not found" in line]
    return [
        package
        for library, package in LIBRARY_PACKAGES.items()
        if any(name.startswith(library) for name in missing)
    ]


def explain_missing_namespaces() -> None:
    """Say why the lab cannot run here, if it cannot; the harness itself needs no namespaces.

    The lab's own probe really makes a veth in namespaces: a bare unshare can succeed without rights.
    """
    probed = [str(VENV / "bin" / "python"), "-c", NAMESPACE_PROBE]
    done = subprocess.run(probed, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout.strip():
        say(f"warning: the lab cannot run on this machine: {done.stdout.strip()}")


if __name__ == "__main__":
    main()
