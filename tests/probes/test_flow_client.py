"""The clients of one flow of datagrams, as text: what the shells say of them is tested beside the lab's."""

import re

import pytest

from nettests.model.words import OS
from nettests.parse.endpoint_changes import DatagramAnswer, datagram_answers
from nettests.probes.client_scripts import FLOW


def test_powershells_script_takes_the_address_as_it_is() -> None:
    """Words of a Windows command line: no double quotes, no line ends, nothing left to fill in."""
    script = FLOW.words(OS.WINDOWS, "fd00::5", 81, 2)[-1]
    assert "[Net.IPAddress]::Parse('fd00::5')" in script
    assert script.count("$a,81") == 2
    assert "ReceiveTimeout=1000*2;" in script
    assert not re.search(r'["\n%]|HOST|PORT|SECONDS|\$input', script)
    assert script.count("{") == script.count("}")


@pytest.mark.parametrize("system", OS)
def test_only_addresses_become_part_of_a_script(system: OS) -> None:
    """A host name, or worse, is refused before a command is made of it."""
    with pytest.raises(ValueError, match="does not appear"):
        FLOW.words(system, "10.0.0.1; reboot", 81, 2)


def test_a_line_counts_when_it_is_whole() -> None:
    """What a client prints may come in pieces, and hold lines that are none of its own."""
    text = "open\nback n1 server-1\nnone n2\nback n3 server-2 and more\nback n4 serv"
    assert datagram_answers(text) == [DatagramAnswer("n1", "server-1"), DatagramAnswer("n2", None)]
