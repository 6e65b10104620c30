"""What a Windows node's own tools tell of its components: registry, processes, firewall, files."""

import json

import pytest

from nettests.lab.interfaces import Disk
from nettests.model.powershell import END, read_shown
from nettests.rules.flannel import FLANNEL_LOG
from nettests.rules.hns_load_balancers import POLICIES
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.kubelet import RESOLV_CONF_FILES
from tests.lab.programs.test_host_tools import SHELL, Hns, Node, finish

LAST = f"{END}\r\n"
KEY = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\kubelet"
REGISTRY = {
    KEY: (("Start", "REG_DWORD", "0x2"),),
    rf"{KEY}\Parameters\AppExit": (("", "REG_SZ", "Restart"),),
    f"{KEY}-other": (("Start", "REG_DWORD", "0x4"),),
}
LINES = (
    "Get-CimInstance Win32_Process | Where-Object Name -EQ kube-proxy.exe "
    "| Select-Object CommandLine | ConvertTo-Json"
)
FIREWALL = (
    "Get-NetFirewallProfile -PolicyStore ActiveStore | Select-Object Name,Enabled | ConvertTo-Json"
)
KUBELET = (
    "$ErrorActionPreference = 'Stop'; "
    "$kubelets = @(Get-CimInstance Win32_Process | Where-Object Name -EQ kubelet.exe); "
    "$line = [string]$kubelets.CommandLine; "
    "if ($kubelets -and -not $line) { throw 'the command line of kubelet.exe is not shown' }; $line; "
    "if ($line.Replace([string][char]34, '') -match '--config[= ](.+?)( --|$)') "
    "{ Get-Content -Raw -LiteralPath $Matches[1] }"
)


def printing(path: str) -> str:
    """Return the script that prints what is at a path."""
    return (
        f"$ErrorActionPreference = 'Stop'; if (Test-Path -Path '{path}') "
        f"{{ Get-Content -Path '{path}' }}"
    )


def node(**disk: object) -> Node:
    """Return a node with these things on its disk."""
    return Node(disk=Disk(**disk))  # type: ignore[arg-type]


def test_reg_prints_a_key_and_those_below_it() -> None:
    """The root may be written short; a value without a name has the word that Windows has for it."""
    short = r"hklm\system\currentcontrolset\services\kubelet"
    code, out, _ = finish(node(registry=REGISTRY), ["reg.exe", "query", short, "/s"])
    assert code == 0
    assert out == (
        f"\r\n{KEY}\r\n    Start    REG_DWORD    0x2\r\n"
        f"\r\n{KEY}\\Parameters\\AppExit\r\n    (Default)    REG_SZ    Restart\r\n"
    )
    _, out, _ = finish(node(registry=REGISTRY), ["reg.exe", "query", KEY])
    assert "AppExit" not in out


def test_reg_lists_the_keys_below_one_that_has_no_values() -> None:
    """All services of a node: each once, whatever lies below it, and those of other keys not."""
    parent = KEY.rpartition("\\")[0]
    elsewhere = {r"HKEY_LOCAL_MACHINE\SYSTEM\Other": (("A", "REG_SZ", "x"),)}
    code, out, err = finish(node(registry=REGISTRY | elsewhere), ["reg.exe", "query", parent])
    assert (code, err) == (0, "")
    assert out.splitlines() == [rf"{parent}\Tcpip", KEY, f"{KEY}-other"]  # every node has TCP/IP


def test_a_container_has_a_registry_of_its_own() -> None:
    """With the suffixes that its Pod was given, and no key of the node."""
    key = r"HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters"
    code, out, _ = finish(None, ["reg.exe", "query", key], searches=("a.svc.b", "svc.b"))
    assert code == 0
    assert "    SearchList    REG_SZ    a.svc.b,svc.b\r\n" in out
    code, out, _ = finish(None, ["reg.exe", "query", key])
    assert (code, "SearchList" in out) == (0, False)
    assert finish(None, ["reg.exe", "query", KEY], searches=("b",))[0] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["query", rf"{KEY}x", "/s"], "unable to find the specified registry key"),
        (["add", KEY], "Invalid syntax"),
        (["query", KEY, "/f", "x"], "Invalid syntax"),
        ([], "Invalid syntax"),
    ],
)
def test_reg_says_what_it_does_not_find_and_writes_nothing(words: list[str], said: str) -> None:
    """With the exit code 1."""
    code, out, err = finish(node(registry=REGISTRY), ["reg.exe", *words])
    assert (code, out) == (1, "")
    assert said in err


def test_hns_that_shows_no_network_has_no_empty_lists() -> None:
    """The script fails: what returns nothing at all may have failed without an error."""
    code, out, err = finish(Node(hns=Hns([])), [*POLICIES.words])
    assert (code, out) == (1, "")
    assert "HNS shows no network at all" in err


def test_what_hns_shows_is_an_array_with_its_end() -> None:
    """One object too."""
    code, out, _ = finish(Node(hns=Hns([{"ID": "a", "Name": "nat"}])), [*NETWORKS.words])
    assert (code, [row["Name"] for row in read_shown(out.removesuffix(LAST))]) == (0, ["nat"])


def test_a_command_line_is_that_of_a_running_process() -> None:
    """Of one that does not run PowerShell prints nothing, and fails at nothing."""
    running = node(processes=["kube-proxy"], command_lines={"kube-proxy": "kube-proxy.exe --v=4"})
    _, out, _ = finish(running, [*SHELL, LINES])
    assert json.loads(out) == {"CommandLine": "kube-proxy.exe --v=4"}
    assert finish(node(command_lines={"kube-proxy": "x"}), [*SHELL, LINES]) == (0, "", "")


@pytest.mark.parametrize("on", [True, False])
def test_the_firewall_tells_its_profiles(on: bool) -> None:
    """As numbers, as Windows' own PowerShell writes them."""
    _, out, _ = finish(node(firewall=on), [*SHELL, FIREWALL])
    names = ("Domain", "Private", "Public")
    assert json.loads(out) == [{"Name": name, "Enabled": int(on)} for name in names]


def test_the_kubelet_is_shown_with_the_file_that_it_names() -> None:
    """Without one its command line alone."""
    told = node(
        processes=["kubelet"],
        command_lines={"kubelet": r"kubelet.exe --config=C:\a.yaml"},
        files={r"C:\a.yaml": "x: 1"},
    )
    assert finish(told, [*SHELL, KUBELET])[1] == "kubelet.exe --config=C:\\a.yaml\r\nx: 1\r\n"
    line = r'"C:\Program Files\kubelet.exe" --config "C:\a b.yaml" --v=4'
    spaced = node(
        processes=["kubelet"], command_lines={"kubelet": line}, files={r"C:\a b.yaml": "x: 2"}
    )
    assert finish(spaced, [*SHELL, KUBELET])[1] == f"{line}\r\nx: 2\r\n"
    alone = node(processes=["kubelet"], command_lines={"kubelet": "kubelet.exe --v=4"})
    assert finish(alone, [*SHELL, KUBELET])[1] == "kubelet.exe --v=4\r\n"


def test_whether_files_are_there_is_said_of_each() -> None:
    """In the order of the paths; letters may be of either case."""
    there = node(files={r"c:\etc\resolv.conf": ""})
    assert finish(there, [*RESOLV_CONF_FILES.words]) == (0, f"True\r\nFalse\r\n{LAST}", "")
    assert finish(node(), [*RESOLV_CONF_FILES.words]) == (0, f"False\r\nFalse\r\n{LAST}", "")


def test_of_flanneld_the_newest_log_is_read_last() -> None:
    """The kubelet counts its restarts: the tenth sorts before the ninth by name, and what it says last counts."""
    logs = r"C:\var\log\pods\kube-flannel_flannel_b\kube-flannel"
    long = "".join(f"older {number}\n" for number in range(300))
    there = node(
        files={
            rf"{logs}\9.log": f"{long}Wrote subnet file to /run/flannel/subnet.env\n",
            rf"{logs}\10.log": "Waiting to get ManagementIP from HNSNetwork cbr0\n",
            r"C:\var\log\pods\others\x\11.log": "Running backend.\n",
        }
    )
    code, out, _ = finish(there, [*FLANNEL_LOG.words])
    assert code == 0
    assert len(out.splitlines()) == 202
    assert out.splitlines()[-2] == "Waiting to get ManagementIP from HNSNetwork cbr0"
    assert finish(node(), [*FLANNEL_LOG.words]) == (0, LAST, "")


@pytest.mark.parametrize(
    ("path", "out"),
    [
        (r"C:\k\Source*.json", "kept\r\n"),
        (r"C:\a b\config.toml", "toml\r\n"),
        (r"C:\k\Other*.json", ""),
        (r"C:\none\config.toml", ""),
        (r"C:\*\*p.*", "kept\r\n"),
    ],
)
def test_files_are_printed_where_they_are(path: str, out: str) -> None:
    """By a path or a pattern; that there is none is no failure."""
    there = node(files={r"C:\k\SourceVip.json": "kept\n", r"C:\a b\config.toml": "toml\n"})
    assert finish(there, [*SHELL, printing(path)]) == (0, out, "")
