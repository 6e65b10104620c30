"""Rules are loaded by the library of nft as by its program, in namespaces of a child."""

import subprocess
import sys

import pytest

from nettests.lab.network.libnftables import find_library

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
        "here = open_network()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", before + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_library_and_program_load_the_same() -> None:
    """What one loads the other lists, word for word."""
    listed = run(
        "nft.load(here, rules)\n"
        "by_library = nft.load(here, 'list ruleset')\n"
        "nft.load(here, 'flush ruleset')\n"
        "os.environ['NETTESTS_NFT'] = find_nft()\n"
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


def test_a_namespace_is_not_held_by_the_library() -> None:
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
    """The event loop of the lab does not stand still while a large change is loaded."""
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
        "    nft.load(here, many)\n"
        "finally:\n"
        "    over.set()\n"
        "    other.join()\n"
        "print(len(turns) > 2)\n"
    )
    assert told == "True\n"
