"""``nettests lab`` where the extra is not installed, or the machine is no Linux: what can be answered is answered."""

import subprocess
import sys

import pytest

WITHOUT = """
import importlib.util, runpy, sys
there = importlib.util.find_spec
absent = {"aiohttp", "httptools", "pyroute2", "ruamel.yaml", "trustme"}
importlib.util.find_spec = lambda name, package=None: None if name in absent else there(name, package)
sys.platform = sys.argv.pop(1)
runpy.run_module("nettests.lab", run_name="__main__")
"""


def lab(platform: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the lab's command line on a machine of that kind, without the libraries of the extra."""
    command = [sys.executable, "-c", WITHOUT, platform, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [(), ("--help",), ("fault", "inject", "-h")])
def test_help_needs_no_library(words: tuple[str, ...]) -> None:
    """It lists the commands, and says what to install."""
    done = lab("linux", *words)
    assert done.returncode == 0
    assert "up, down, status" in done.stdout
    assert "pip install 'nettests[lab]'" in done.stdout


def test_profiles_are_named_without_a_library() -> None:
    """Their names are those of the shipped files."""
    done = lab("linux", "profiles")
    assert done.returncode == 0
    assert {"fleet", "win2019-l2bridge"} <= {*done.stdout.splitlines()}


@pytest.mark.parametrize(
    ("platform", "said"),
    [
        ("linux", "needs libraries that are not installed: aiohttp, httptools"),
        ("darwin", "on Windows start it in WSL 2, on macOS in a Linux virtual machine"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(platform: str, said: str) -> None:
    """A lab is started on Linux alone, with its libraries."""
    done = lab(platform, "up")
    assert done.returncode == 4
    assert said in done.stderr
    assert "Traceback" not in done.stderr
