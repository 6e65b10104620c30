"""The lab's PowerShell: exit codes, errors, shapes of JSON, encodings, modules, and what it lacks."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.interfaces import Disk, Machine, Process, ProgramTroubles, ResolverConfig
from nettests.lab.programs.images import run
from nettests.lab.programs.windows.powershell import grammar
from nettests.lab.programs.windows.powershell.of_hns import _endpoint as endpoint
from nettests.lab.programs.windows.powershell.of_hns import _load_balancer as load_balancer
from nettests.lab.programs.windows.powershell.of_hns import _network as network
from nettests.lab.programs.windows.powershell.operands import ScriptError
from nettests.lab.topology import OS, Shim
from nettests.lab.topology.windows_settings import WindowsSettings
from tests.lab.programs.test_host_tools import Hns, Node
from tests.lab.programs.worlds import HOST_PATH, IMAGE_PATH

NETWORK = {"ID": "N", "Name": "flannel.4096", "Type": "Overlay", "Policies": [], "Subnets": []}


def finish(script: str, *, node: Node | None = None, **machine: Any) -> tuple[int, bytes, str]:
    """Run a script on a node, in its image without one; return exit code and both outputs."""
    outputs = {"out": bytearray(), "err": bytearray()}

    async def out(data: bytes) -> None:
        outputs["out"].extend(data)

    async def err(data: bytes) -> None:
        outputs["err"].extend(data)

    place = Machine(
        os=OS.WINDOWS,
        hostname="win-1",
        namespace=None,  # type: ignore[arg-type]
        addresses=(),
        gateway="",
        resolver=ResolverConfig(servers=()),
        build=20348,
        host_process=node is not None,
        user=machine.pop("user", r"NT AUTHORITY\SYSTEM"),
        node=node,  # type: ignore[arg-type]
        shim=Shim(minor=9),
        **machine,
    )
    argv = ["powershell.exe", "-NoProfile", "-Command", script]
    process = Process(
        argv=argv,
        environment={"A": "b", **(IMAGE_PATH if node is None else HOST_PATH)},
        machine=place,
        stdout=out,
        stderr=err,
    )

    async def work() -> int:
        return await run(process)

    code = asyncio.run(work())
    return code, bytes(outputs["out"]), outputs["err"].decode(errors="replace")


def printed(script: str, **more: Any) -> str:
    """Return what a script prints on a node, a blank for each line end."""
    return (
        finish(script, node=Node(), **more)[1].decode(errors="replace").replace("\r\n", " ").strip()
    )


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 3", 3),
        ("cmd.exe /c exit 3", 1),
        ("cmd.exe /c exit 3; exit $LASTEXITCODE", 3),
        ("throw 'x'", 1),
        ("nosuch.exe", 1),
        ("Get-Item C:\\nosuch", 1),
        ("Get-Item C:\\nosuch; 'after'", 0),
        ("Get-Item C:\\nosuch -ErrorAction Stop; 'after'", 1),
        ("$ErrorActionPreference = 'Stop'; Get-Item C:\\nosuch; 'after'", 1),
        ("try { Get-Item C:\\nosuch -ea Stop } catch { exit 9 }", 9),
        ("1/0; 'after'", 0),
        ("if (1 -gt 0 {", 1),
    ],
)
def test_exit_codes_follow_the_last_command(script: str, code: int) -> None:
    """Native codes collapse to 1 without exit; what ends nothing leaves 0 behind, what ends the script 1."""
    assert finish(script, node=Node())[0] == code


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ('$x = 1,2,3; "$($x.Count) $x"; $x[-1]', "3 1 2 3 3"),
        ('function f($a, $b = 2) { $a + $b }; f 1; f -b 5 -a 1; & { param($z) "z$z" } 4', "3 6 z4"),
        ("for ($i = 0; $i -lt 3; $i++) { if ($i -eq 1) { continue }; $i }", "0 2"),
        ("while ($true) { $n++; if ($n -gt 2) { break } }; $n", "3"),
        ('foreach ($e in @{a = 1}.Keys) { "$e$env:A" }', "ab"),
        ("'x-12' -match '(\\d+)'; $Matches[1]; 'abc' -replace 'b(.)', '<$1>'", "True 12 a<c>"),
        ("@(3,1,2) | Sort-Object | Select-Object -First 2", "1 2"),
        ("1,2,3 | Where-Object { $_ -gt 1 } | ForEach-Object { $_ * 2 }", "4 6"),
        ("[string][char]65 + [char]66; [int]'0x10'; ('x' * 1KB).Length", "AB 16 1024"),
        ("if ($null) { 1 } elseif ('a' -in 'a','b') { 2 } else { 3 }", "2"),
        (
            "try { throw 'why' } catch { \"$_\".Length; $_.Exception.Message } finally { 'end' }",
            "3 why end",
        ),
        ("$o = [pscustomobject]@{A = 1}; $o.A; $o.B; ($o | ConvertTo-Json -Compress)", '1 {"A":1}'),
    ],
)
def test_scripts_print_what_they_compute(script: str, out: str) -> None:
    """Each line shows a part of the language that small scripts use."""
    assert printed(script) == out


@pytest.mark.parametrize(
    ("script", "shape"),
    [
        ("@() | ConvertTo-Json", ""),
        ("@(@{a=1}) | ConvertTo-Json -Compress", '{"a":1}'),
        ("1, 2 | ConvertTo-Json -Compress", "[1,2]"),
        ("ConvertTo-Json -InputObject @() -Compress", "[]"),
        ("ConvertTo-Json -InputObject @(1) -Compress", "[1]"),
        (
            "ConvertTo-Json @{a=@{b=@{c=@{d=1}}}} -Compress",
            '{"a":{"b":{"c":"System.Collections.Hashtable"}}}',
        ),
        ("@{a=@{b=@{c=@{d=1}}}} | ConvertTo-Json -Depth 3 -Compress", '{"a":{"b":{"c":{"d":1}}}}'),
        ('"it\'s <b>" | ConvertTo-Json', '"it\\u0027s \\u003cb\\u003e"'),
    ],
)
def test_json_has_the_shapes_of_51(script: str, shape: str) -> None:
    """One element is itself, none is nothing, an array that was one object has a count; depth 2 unless it is stated."""
    assert printed(script) == shape


def test_errors_are_those_of_the_console_in_the_hosts_language() -> None:
    """With the line, the command's extent, category and id; what is not recognized is marked by its name."""
    _, _, error = finish(
        "Get-Item C:\\nosuch", node=Node(), windows=WindowsSettings(locale="de-DE")
    )
    assert error.startswith("Get-Item : Cannot find path 'C:\\nosuch'")
    assert "In Zeile:1 Zeichen:1\r\n+ Get-Item C:\\nosuch\r\n+ ~~~~~~~~~~~~~~~~~~\r\n" in error
    assert (
        "FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.GetItemCommand" in error
    )
    _, _, error = finish("Get-Nothing -a", node=Node())
    assert "The term 'Get-Nothing' is not recognized as the name of a cmdlet" in error
    assert "+ Get-Nothing -a\r\n+ ~~~~~~~~~~~\r\n" in error


def test_output_is_in_the_consoles_code_page_until_that_is_changed() -> None:
    """A console that is lost refuses the change, and characters are lost."""
    text = "[string][char]0xE9 + [char]0x4E2D"
    assert finish(text, node=Node())[1] == b"\x82?\r\n"
    change = "try { [Console]::OutputEncoding = [Text.Encoding]::UTF8 } catch { 'lost' }; "
    assert finish(change + text, node=Node())[1].decode() == "é中\r\n"
    lost = finish(change + text, node=Node(), troubles=ProgramTroubles(tools={"console-lost"}))
    assert lost[1] == b"lost\r\n\x82?\r\n"


def test_the_progress_of_a_first_search_for_modules_is_clixml_under_a_fault_alone() -> None:
    """It is a document with the errors, unless the preference says otherwise; the exit code is the same."""
    script, tools = "Get-HnsNetwork; Get-Item C:\\nosuch", ProgramTroubles(tools={"clixml-noise"})
    code, _, error = finish(script, node=Node(), troubles=tools)
    assert code == 1
    assert error.startswith("#< CLIXML\r\n<Objs ")
    assert "<AV>Preparing modules for first use.</AV>" in error
    assert '<S S="Error">Get-Item : Cannot find path' in error
    assert "CLIXML" not in finish(script, node=Node())[2]


def test_images_have_powershell_6_without_modules_of_windows() -> None:
    """Its JSON is laid out otherwise; a bare argument is a file."""
    assert "is not recognized" in finish("Resolve-DnsName web")[2]
    assert finish("@{a=1} | ConvertTo-Json")[1] == b'{\r\n  "a": 1\r\n}\r\n'
    assert finish("$PSVersionTable.PSEdition")[1] == b"Core\r\n"


@pytest.mark.parametrize(
    ("module", "call", "schema"),
    [
        ("inbox", "Get-HnsNetwork", 1),
        ("inbox", r"HNS\Get-HnsNetwork", None),
        ("psgallery", "Get-HnsNetwork", 2),
        ("psgallery", "Get-HnsNetwork -Version 1", 1),
        ("psgallery", r"HostNetworkingService\Get-HnsNetwork", 1),
        ("psgallery", "Get-HnsPolicyList", 1),
        ("psgallery", r"HNS\Get-HnsPolicyList", None),
        ("none", "Get-HnsNetwork", None),
    ],
)
def test_modules_of_hns_clash(module: str, call: str, schema: int | None) -> None:
    """The Gallery's comes first and asks the second schema; it lacks Get-HnsPolicyList."""
    node = Node(hns=Hns([NETWORK]))
    settings = WindowsSettings(hns_module=module)
    code, out, error = finish(f"{call} | ConvertTo-Json -Depth 9", node=node, windows=settings)
    if schema is None:
        assert (code, out) == (1, b"")
        assert "is not recognized" in error
    else:
        assert ("SchemaVersion" in json.loads(out)) == (schema == 2)


def test_hns_hiccups_at_one_call_of_so_many() -> None:
    """It prints nothing then, and succeeds."""
    node = Node(hns=Hns([NETWORK]))
    calls = [
        finish("Get-HnsNetwork | ConvertTo-Json", node=node, windows=WindowsSettings(hns_hiccup=3))
        for _ in range(6)
    ]
    assert [bool(out) for _, out, _ in calls] == [True, True, False, True, True, False]
    assert {code for code, _, _ in calls} == {0}


def test_hns_names_its_extensions_in_the_hosts_language() -> None:
    """Their ids are the same everywhere."""
    node = Node(hns=Hns([{**NETWORK, "Extensions": [{"Id": "E", "Name": "filtering"}]}]))
    script = "[Console]::OutputEncoding = [Text.Encoding]::UTF8; (Get-HnsNetwork).Extensions.Name"
    _, out, _ = finish(script, node=node, windows=WindowsSettings(locale="zh-CN"))
    assert out.decode() == "Microsoft Windows 筛选平台\r\n"


def test_the_second_schema_has_the_facts_of_the_first() -> None:
    """Addresses, routes, policies and ports are where hcsshim's hcn reads them."""
    net = network(
        {
            **NETWORK,
            "Policies": [{"Type": "VxlanPort", "Port": 4789}],
            "Subnets": [
                {
                    "AddressPrefix": "10.1.0.0/24",
                    "GatewayAddress": "10.1.0.1",
                    "Policies": [{"Type": "VSID", "VSID": 4096}],
                }
            ],
        }
    )
    subnet = net["Ipams"][0]["Subnets"][0]
    assert subnet["IpAddressPrefix"] == "10.1.0.0/24"
    assert subnet["Routes"][0]["NextHop"] == "10.1.0.1"
    assert subnet["Policies"] == [{"Type": "VSID", "Settings": {"IsolationId": 4096}}]
    assert net["Policies"] == [{"Type": "VxlanPort", "Settings": {"Port": 4789}}]
    pod = endpoint(
        {
            "ID": "E",
            "Name": "x",
            "IPAddress": "10.1.0.5",
            "PrefixLength": 24,
            "MacAddress": "m",
            "VirtualNetwork": "N",
            "GatewayAddress": "10.1.0.1",
            "IsRemoteEndpoint": True,
            "DNSServerList": "10.96.0.10",
            "DNSSuffix": "a.local,b.local",
            "Policies": [
                {"Type": "OutBoundNAT", "ExceptionList": ["10.0.0.0/8"]},
                {"Type": "ROUTE", "DestinationPrefix": "10.96.0.0/12", "NeedEncap": True},
                {"Type": "PA", "PA": "172.30.0.11"},
            ],
        }
    )
    assert (pod["HostComputeNetwork"], pod["Flags"]) == ("N", 1)
    assert pod["Dns"] == {
        "ServerList": ["10.96.0.10"],
        "Domain": "a.local",
        "Search": ["a.local", "b.local"],
    }
    assert [policy["Type"] for policy in pod["Policies"]] == [
        "OutBoundNAT",
        "SDNRoute",
        "ProviderAddress",
    ]
    assert pod["Policies"][0]["Settings"] == {"Exceptions": ["10.0.0.0/8"]}
    elb = {"Type": "ELB", "VIPs": ["10.96.0.1"], "SourceVIP": "10.1.0.2", "IsDSR": True}
    ports = {"Protocol": 6, "InternalPort": 6443, "ExternalPort": 443}
    balancer = load_balancer(
        {"ID": "L", "Policies": [{**elb, **ports}], "References": ["/endpoints/E"]}
    )
    assert (balancer["HostComputeEndpoints"], balancer["Flags"]) == (["E"], 1)
    assert balancer["FrontendVIPs"] == ["10.96.0.1"]
    assert ports.items() <= balancer["PortMappings"][0].items()


def test_the_first_search_for_modules_takes_its_time_once() -> None:
    """What the node remembers of it is asked by every later PowerShell."""
    node, slow = Node(), WindowsSettings(powershell_first_seconds=20)
    node.disk = Disk(background={"powershell-modules": True})
    assert finish("Get-HnsNetwork", node=node, windows=slow)[0] == 0
    fresh = Node()
    finish("Get-HnsNetwork", node=fresh, windows=replace(slow, powershell_first_seconds=0))
    assert fresh.disk.background["powershell-modules"]


@pytest.mark.parametrize("text", ["'a", '"$(1', "@{a", "| x", "{ 1", ")", "1 +", "f("])
def test_what_is_no_script_is_refused_with_its_place(text: str) -> None:
    """An end that is missing is an error of the whole script, of which nothing is run."""
    with pytest.raises(ScriptError):
        grammar.parse(text)
    code, out, error = finish(f"'before'; {text}", node=Node())
    assert (code, out) == (1, b"")
    assert "ParserError" in error
