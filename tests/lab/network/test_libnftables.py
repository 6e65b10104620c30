"""Rules are loaded by the helper as by the program nft, in namespaces of a child."""

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nettests.lab.network.nft import find_library

RULES = """add table ip web
add map ip web choices { type ipv4_addr . inet_proto . inet_service : verdict; }
add chain ip web one
add rule ip web one meta l4proto tcp dnat to 10.0.0.2:80
add chain ip web in { type nat hook prerouting priority -100; }
add rule ip web in ip daddr . meta l4proto . th dport vmap @choices
add element ip web choices { 10.96.0.1 . tcp . 80 : goto one }
"""

pytestmark = pytest.mark.skipif(find_library() is None, reason="libnftables is not installed")


def run(code: str) -> str:
    """Run a program in a child that has entered namespaces of its own; return what it printed."""
    before = (
        "import os, threading\n"
        "from nettests.lab.network import enter_isolated_namespaces, find_nft, nft\n"
        "from nettests.lab.network.kernel import open_network\n"
        f"rules = {RULES!r}\n"
        "enter_isolated_namespaces()\n"
        "nft.keep_helper()\n"
        "here = open_network()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", before + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_helper_and_program_load_the_same() -> None:
    """What one loads the other lists, word for word; the program goes on where the helper is gone."""
    listed = run(
        "nft.load(here, rules)\n"
        "by_library = nft.load(here, 'list ruleset')\n"
        "nft.load(here, 'flush ruleset')\n"
        "nft._HELD.helper.channel.close()\n"
        "nft.load(here, rules)\n"
        "by_program = nft.load(here, 'list ruleset')\n"
        "print(by_library.split() == by_program.split(), 'goto one' in by_library)\n"
    )
    assert listed == "True True\n"


def test_a_ruleset_is_loaded_whole_or_not_at_all() -> None:
    """A refusal names what is wrong, and leaves what was there."""
    told = run(
        "nft.load(here, rules)\n"
        "try:\n"
        "    nft.load(here, 'add chain ip web two\\nadd rule ip web none accept')\n"
        "except nft.NftError as error:\n"
        "    print(error)\n"
        "print('chain two' in nft.load(here, 'list ruleset'))\n"
    )
    assert "nft refused a ruleset" in told
    assert "No such file or directory" in told
    assert told.endswith("False\n")


def test_a_namespace_is_not_held_by_the_helper() -> None:
    """Thousands of changes leave no descriptor open: namespaces go with their lab."""
    told = run(
        "nft.load(here, rules)\n"
        "before = len(os.listdir('/proc/self/fd'))\n"
        "for _ in range(20):\n"
        "    nft.load(here, 'add chain ip web more\\nflush chain ip web more')\n"
        "print(len(os.listdir('/proc/self/fd')) - before)\n"
    )
    assert told == "0\n"


def test_other_threads_run_on_meanwhile() -> None:
    """The event loop of the lab does not stand still while large changes are loaded."""
    told = run(
        "many = 'add table ip many\\n' + ''.join("
        "f'add chain ip many c{n}\\nadd rule ip many c{n} accept\\n' for n in range(600))\n"
        "turns, over = [], threading.Event()\n"
        "def count():\n"
        "    while not over.wait(0.001):\n"
        "        turns.append(1)\n"
        "other = threading.Thread(target=count)\n"
        "other.start()\n"
        "try:\n"
        "    for _ in range(20):\n"
        "        nft.load(here, many)\n"
        "        nft.load(here, 'delete table ip many')\n"
        "finally:\n"
        "    over.set()\n"
        "    other.join()\n"
        "print(len(turns) > 2)\n"
    )
    assert told == "True\n"


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 1200,
    reason="this user may not open so many files",
)
def test_a_lab_may_have_thousands_of_descriptors() -> None:
    """The library waits by select, which ends a process that has a descriptor above 1023: the helper has none."""
    told = run(
        "import resource\n"
        "most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\n"
        "held = [os.open('/dev/null', os.O_RDONLY) for _ in range(1100)]\n"
        "nft.load(here, rules)\n"
        "print('goto one' in nft.load(open_network(), 'list ruleset'), nft._HELD.helper is not None)\n"
    )
    assert told == "True True\n"


def test_a_helper_that_was_killed_is_done_without() -> None:
    """Rules are loaded by the program from then on."""
    told = run(
        "(child,) = map(int, open(f'/proc/self/task/{os.getpid()}/children').read().split())\n"
        "os.kill(child, 9)\n"
        "nft.load(here, rules)\n"
        "print(nft._HELD.helper, 'goto one' in nft.load(here, 'list ruleset'))\n"
    )
    assert told == "None True\n"


def test_the_helper_ends_with_its_lab() -> None:
    """However that ends: nothing of it is left."""
    told = run(
        "print(open(f'/proc/self/task/{os.getpid()}/children').read(), flush=True)\nos._exit(0)\n"
    )
    deadline = time.monotonic() + 10
    while (running := Path(f"/proc/{told.strip()}").exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running


def test_a_stated_program_is_used(tmp_path: Path) -> None:
    """Whoever names a binary has it run, also where there is a library."""
    told = run(
        "nft._HELD.helper = None\n"
        f"os.environ['NETTESTS_NFT'] = {str(tmp_path / 'nft')!r}\n"
        "nft.keep_helper()\n"
        "print(nft._HELD.helper)\n"
    )
    assert told == "None\n"
