"""What is read of the answers to known questions, in Windows' own forms: due, or another thing."""

from dataclasses import replace

import pytest

from nettests.model.calibration import Calibration, KnownQuestion, begins, ended
from nettests.model.words import OS
from nettests.parse.doubts import KnownAnswer, State, kept, known_answers
from nettests.parse.known_answers import LONG, NOT_ASCII

SCHEMA_1 = '[{"ID":"a","Name":"cbr0","Type":"L2Bridge"},{"ID":"b","Name":"nat","Type":"NAT"}]'
SCHEMA_2 = '[{"ID":"a","Name":"cbr0","Type":"L2Bridge","SchemaVersion":{"Major":2,"Minor":0}}]'
DENIED = "Invoke-HnsRequest : @{Error=Access is denied. ; ErrorCode=2147942405; Success=False}"
TABLE = """
Protocol tcp Start and End Exclusion Ranges

Start Port    End Port
----------    --------
     50000       50059     *
"""
CALICO_STYLE = '[{"Id":"a","NetworkType":"L2Bridge"}]'


def answered(
    name: str, stdout: str, stderr: str = "", code: int = 0, **changes: object
) -> KnownAnswer:
    """Return what is read, and recorded, of one answer of a Windows node."""
    of = Calibration(
        node="win-1",
        vantage="node",
        os=OS.WINDOWS,
        probe="node-windows-1-1",
        questions=(KnownQuestion(name=name, words=("tool.exe",)),),
        command=("cmd.exe",),
        exit_code=3,
        stdout=f"{begins(0)}\r\n{stdout}\r\n{ended(0, str(code))}\r\n",
        stderr=f"{begins(0)} \r\n{stderr}",
        context={"build": "20348", "address": "172.30.0.13"},
    )
    (answer,) = known_answers(kept(replace(of, **changes)))  # type: ignore[arg-type]
    return answer


@pytest.mark.parametrize(
    ("name", "stdout", "seen"),
    [
        ("exec/host-process", r"C:\hpc", "a HostProcess container"),
        ("exec/host-process", r"C:\C\3e5f", "a HostProcess container"),
        ("cmd/version", "Microsoft Windows [Version 10.0.20348.3207]", "its own"),
        ("cmd/version", "Microsoft Windows [版本 10.0.20348.3207]", "its own"),
        (
            "reg/key",
            "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters",
            "the key",
        ),
        ("ipconfig/addresses", "   IPv4-Adresse  . . . . . . : 172.30.0.13", "its own"),
        ("netsh/dynamic", "Startport      : 49152\nAnzahl der Ports : 16384", "a range"),
        ("netsh/excluded", TABLE, "a table"),
        ("tasklist/itself", '"System","4"\n"tasklist.exe","4412"\n"secret.exe","5"', "itself"),
        ("powershell/json", "[]\n[1]\n[1,2]", "0, 1, 2"),
        ("powershell/text", NOT_ASCII, NOT_ASCII),
        ("powershell/long", f"[{LONG} times x]", str(LONG)),
        ("powershell/account", "S-1-5-18", "S-1-5-18"),
        ("hns/networks", SCHEMA_1, "schema 1"),
        ("hns/networks", SCHEMA_2, "schema 2"),
    ],
)
def test_what_is_due_is_understood(name: str, stdout: str, seen: str) -> None:
    """In whatever language Windows says the rest."""
    answer = answered(name, stdout)
    assert (answer.seen, answer.state) == (seen, State.UNDERSTOOD)
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("name", "stdout", "seen"),
    [
        ("exec/host-process", "%CONTAINER_SANDBOX_MOUNT_POINT%", "%CONTAINER_SANDBOX_MOUNT_POINT%"),
        ("cmd/version", "Microsoft Windows [Version 10.0.17763.1]", "17763"),
        ("cmd/version", "", "nothing"),
        ("reg/key", "", "no key"),
        ("ipconfig/addresses", "   IPv4 Address. . . . : 10.0.0.1", "other addresses"),
        ("ipconfig/addresses", "Windows IP Configuration", "no address"),
        ("netsh/dynamic", "Start Port : 49152", "no range"),
        ("netsh/dynamic", "Start Port : 60000\nNumber of Ports : 16384", "no range"),
        ("netsh/excluded", "The following command was not found", "no table"),
        ("tasklist/itself", '"System","4"', "others"),
        ("tasklist/itself", "Image Name", "others"),
        ("powershell/json", "[]\n1\n[1,2]", "0, no array, 2"),
        ("powershell/json", "System.Object[]", "no JSON"),
        ("powershell/text", "?\ufffd", "?\ufffd"),
        ("powershell/long", "[65536 times x]", "65536"),
        ("powershell/account", "S-1-5-93-2-1", "S-1-5-93-2-1"),
        ("hns/networks", "", "nothing"),
        ("hns/networks", "[]", "no network"),
        ("hns/networks", CALICO_STYLE, "objects without ID and Type"),
        ("hns/networks", "ActivityId : 17\nName : cbr0", "no networks"),
    ],
)
def test_what_is_not_due_is_named(name: str, stdout: str, seen: str) -> None:
    """In a word that says what was read instead."""
    answer = answered(name, stdout)
    assert (answer.seen, answer.state) == (seen, State.NOT_UNDERSTOOD)


@pytest.mark.parametrize(
    ("name", "code", "stderr", "state"),
    [
        ("powershell/stopping", 1, "Get-Item : Cannot find path", State.UNDERSTOOD),
        ("powershell/stopping", 0, "Get-Item : Cannot find path", State.NOT_UNDERSTOOD),
        ("powershell/exit-code", 3, "", State.UNDERSTOOD),
        ("powershell/exit-code", 1, "", State.NOT_UNDERSTOOD),
        (
            "powershell/continuing",
            0,
            "Get-Item : Das Element wurde nicht gefunden",
            State.UNDERSTOOD,
        ),
        ("powershell/continuing", 0, "", State.NOT_UNDERSTOOD),
        ("hns/networks", 1, DENIED, State.NOT_UNDERSTOOD),
        ("hns/networks", 1, "CommandNotFoundException", State.ABSENT),
    ],
)
def test_errors_of_powershell_are_seen(name: str, code: int, stderr: str, state: State) -> None:
    """By their codes and by the stream that they are in, never by their words; a cmdlet that is missing is absent."""
    answer = answered(name, "", stderr, code)
    assert answer.state is state
    assert stderr in answer.text


def test_what_cannot_be_compared_is_understood_by_its_form() -> None:
    """Where the API does not tell a node's build."""
    assert answered("cmd/version", "[Version 10.0.17763.1]", context={}).state is State.UNDERSTOOD
