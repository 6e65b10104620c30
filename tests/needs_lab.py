"""Which folders of tests need ``nettests/lab``: read where tests are marked, chosen and left out.

By ``conftest`` for the mark ``lab``, by ``scripts/run_tests.py`` for what is collected with it, by
``scripts/without_lab.py`` for what is deleted with the lab. Tests of packets that come late bear ``NEEDS_TUN``. No test
stands here.
"""

import os

import pytest

NEEDS_LAB = frozenset({"lab", "acceptance", "architecture", "docs", "packaging", "winkernel"})
"""Folders of what tests the lab, runs on it, or is about the whole tree."""
NEEDS_TUN = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK | os.W_OK),
    reason="/dev/net/tun is not open to this user, and packets cannot be held back without it",
)
"""Of tests that hold packets back: udev opens the device to everybody, a machine without udev to root alone."""
