"""``ping``, ``nslookup``, ``curl``, ``ipconfig``, ``hostname`` and PowerShell, on real packets."""

import re
from ipaddress import IPv4Address

from nettests.lab.dns.server import ClusterDns, OutsideResolver, forward_to
from nettests.lab.dns.zone import view_from_objects
from tests.lab.dns.test_view import service
from tests.lab.programs import worlds
from tests.lab.programs.worlds import World, finish, in_world

DNS, OUTSIDE = IPv4Address("10.96.0.10"), IPv4Address("198.18.0.53")


def prepare(world: World) -> None:
    """Addresses for the DNS servers."""
    worlds.own(world, str(DNS))
    worlds.own(world, str(OUTSIDE))


def start_dns(world: World) -> None:
    """Serve a Service ``web`` in ``demo``, and kube-dns's own name."""
    kube_dns = service("kube-dns", clusterIP=str(DNS))
    kube_dns["metadata"]["namespace"] = "kube-system"
    OutsideResolver({"server.outside.test": IPv4Address("198.51.100.10")}).start(
        world.router, OUTSIDE
    )
    view = view_from_objects(
        [service("web", clusterIP="10.96.0.20"), kube_dns], [], "cluster.local"
    )
    ClusterDns(view, forward=forward_to(world.router, OUTSIDE)).start(world.router, DNS)


@in_world()
async def test_linux_ping_reads_the_replys_ttl(world: World) -> None:
    """One hop away the reply's TTL is 63; output and exit code are iputils'."""
    ended = await finish(world.pod, ["ping", "-c", "2", "-i", "0.2", "10.244.2.5"])
    lines = ended.stdout.splitlines()
    assert ended.code == 0
    assert lines[0] == "PING 10.244.2.5 (10.244.2.5) 56(84) bytes of data."
    assert re.fullmatch(r"64 bytes from 10.244.2.5: icmp_seq=1 ttl=63 time=[\d.]+ ms", lines[1])
    assert "2 packets transmitted, 2 received, 0% packet loss" in lines[5]


@in_world()
async def test_linux_ping_without_an_answer_ends_with_one(world: World) -> None:
    """A black hole is 100 % loss and exit code 1."""
    ended = await finish(world.pod, ["ping", "-c", "1", "-W", "0.3", "192.0.2.1"])
    assert ended.code == 1
    assert "1 packets transmitted, 0 received, 100% packet loss" in ended.stdout


@in_world()
async def test_linux_ping_names_who_cannot_reach_the_target(world: World) -> None:
    """A router's ICMP error is shown and counted as an error."""
    ended = await finish(world.pod, ["ping", "-c", "1", "-W", "2", "198.51.100.9"])
    assert "From 10.244.1.1 icmp_seq=1 Destination Net Unreachable" in ended.stdout
    assert "0 received, +1 errors, 100% packet loss" in ended.stdout


@in_world()
async def test_linux_ping_that_must_not_split_stops_at_the_links_size(world: World) -> None:
    """1500 bytes pass unsplit, one more is a local error; without ``-M do`` it is split and passes."""
    fits = await finish(world.pod, ["ping", "-c", "1", "-M", "do", "-s", "1472", "10.244.2.5"])
    assert (fits.code, "1480 bytes from 10.244.2.5" in fits.stdout) == (0, True)
    over = await finish(world.pod, ["ping", "-c", "1", "-M", "do", "-s", "1473", "10.244.2.5"])
    assert (over.code, over.stderr) == (1, "ping: local error: message too long, mtu=1500\n")
    split = await finish(world.pod, ["ping", "-c", "1", "-s", "1473", "10.244.2.5"])
    assert split.code == 0


@in_world()
async def test_windows_ping_that_must_not_split_says_so(world: World) -> None:
    """``-f -l 1473`` is not sent, and counts as lost."""
    pod = worlds.windows(world.pod)
    fits = await finish(pod, ["ping", "-n", "1", "-f", "-l", "1472", "10.244.2.5"])
    assert "bytes=1472" in fits.stdout
    over = await finish(pod, ["ping", "-n", "1", "-f", "-l", "1473", "10.244.2.5"])
    assert "Packet needs to be fragmented but DF set." in over.stdout
    assert (over.code, "Received = 0, Lost = 1" in over.stdout) == (1, True)


@in_world(prepare)
async def test_nslookup_queries_a_named_server_by_tcp(world: World) -> None:
    """``-vc NAME SERVER`` needs a TCP listener; where there is none, BIND says who refused."""
    start_dns(world)
    name = "web.demo.svc.cluster.local."
    found = await finish(world.pod, ["nslookup", "-vc", name, str(DNS)])
    assert (found.code, "Address: 10.96.0.20" in found.stdout) == (0, True)
    refused = await finish(world.pod, ["nslookup", "-vc", "-retry=1", name, "10.244.1.1"])
    assert refused.code == 1
    assert "Connection to 10.244.1.1#53(10.244.1.1) for" in refused.stdout
    assert "failed: connection refused." in refused.stdout


@in_world()
async def test_powershell_tells_whether_it_has_resolve_dnsname(world: World) -> None:
    """The node's PowerShell has the cmdlet, the images' has not."""
    queried = [
        "powershell",
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        "Get-Command Resolve-DnsName",
    ]
    pod = worlds.windows(world.pod)
    lacking = await finish(pod, queried)
    assert (lacking.code, "'Resolve-DnsName' is not recognized" in lacking.stderr) == (1, True)
    there = await finish(worlds.windows(world.pod, host_process=True), queried)
    assert (there.code, "DnsClient" in there.stdout) == (0, True)


@in_world()
async def test_ping_without_a_route_fails_before_it_sends(world: World) -> None:
    """``ping: connect: Network is unreachable``, exit code 2; Windows: General failure, 1."""
    ended = await finish(world.spare, ["ping", "-c", "1", "192.0.2.1"])
    assert (ended.code, ended.stderr) == (2, "ping: connect: Network is unreachable\n")
    ended = await finish(worlds.windows(world.spare), ["ping", "-n", "1", "192.0.2.1"])
    assert ended.code == 1
    assert "PING: transmit failed. General failure." in ended.stdout


@in_world()
async def test_windows_ping_prints_windows_output(world: World) -> None:
    """Replies carry ``TTL=``; lines end with CRLF."""
    ended = await finish(worlds.windows(world.pod), ["ping.exe", "-n", "1", "10.244.2.5"])
    assert ended.code == 0
    assert re.fullmatch(
        r"\r\nPinging 10\.244\.2\.5 with 32 bytes of data:\r\n"
        r"Reply from 10\.244\.2\.5: bytes=32 time(<1|=\d+)ms TTL=63\r\n"
        r"\r\nPing statistics for 10\.244\.2\.5:\r\n"
        r"    Packets: Sent = 1, Received = 1, Lost = 0 \(0% loss\),\r\n"
        r"Approximate round trip times in milli-seconds:\r\n"
        r"    Minimum = \d+ms, Maximum = \d+ms, Average = \d+ms\r\n",
        ended.stdout,
    )


@in_world()
async def test_windows_ping_that_hears_nothing_ends_with_one(world: World) -> None:
    """``Request timed out.`` and 100 % loss."""
    command = ["ping", "-n", "2", "-w", "200", "192.0.2.1"]
    ended = await finish(worlds.windows(world.pod), command)
    assert ended.code == 1
    assert ended.stdout.count("Request timed out.\r\n") == 2
    assert "Lost = 2 (100% loss)" in ended.stdout


@in_world()
async def test_windows_ping_counts_an_unreachable_as_received(world: World) -> None:
    """ "Destination … unreachable" is no reply, yet counted as one."""
    ended = await finish(worlds.windows(world.pod), ["ping", "-n", "1", "198.51.100.9"])
    assert "Reply from 10.244.1.1: Destination net unreachable." in ended.stdout
    assert "Received = 1, Lost = 0 (0% loss)" in ended.stdout
    assert "TTL=" not in ended.stdout


@in_world(prepare)
async def test_binds_nslookup_walks_the_list_for_dotted_names_on_windows(world: World) -> None:
    """``web.demo`` is found by BIND's nslookup, in a pod whose DNS client does not find it."""
    start_dns(world)
    pod = worlds.windows(world.pod)
    ended = await finish(pod, ["nslookup", "web.demo"])
    assert ended.code == 0
    assert ended.stdout == (
        "Server:\t\t10.96.0.10\r\nAddress:\t10.96.0.10#53\r\n\r\n"
        "Name:\tweb.demo.svc.cluster.local\r\nAddress: 10.96.0.20\r\n\r\n"
    )
    refused = await finish(pod, ["curl", "-s", "-S", "http://web.demo/"])
    assert (refused.code, refused.stderr) == (6, "curl: (6) Could not resolve host: web.demo\r\n")


@in_world(prepare)
async def test_binds_nslookup_says_nxdomain_with_exit_code_one(world: World) -> None:
    """A name that no suffix makes valid."""
    start_dns(world)
    ended = await finish(world.pod, ["nslookup", "nosuch.demo"])
    assert ended.code == 1
    assert ended.stdout.endswith("** server can't find nosuch.demo: NXDOMAIN\n\n")


@in_world()
async def test_binds_nslookup_says_when_no_server_answers(world: World) -> None:
    """A silent server is told apart from a missing name."""
    command = ["nslookup", "-timeout=0.3", "-retry=1", "web", "192.0.2.53"]
    ended = await finish(world.pod, command)
    assert ended.code == 1
    assert ended.stdout == ";; connection timed out; no servers could be reached\n\n"


@in_world(prepare)
async def test_microsofts_nslookup_exits_with_zero_whatever_happens(world: World) -> None:
    """Found or not, the exit code is 0; the server is called by its name."""
    start_dns(world)
    host = worlds.windows(world.pod, host_process=True)
    head = "Server:  kube-dns.kube-system.svc.cluster.local\r\nAddress:  10.96.0.10\r\n\r\n"
    found = await finish(host, ["nslookup.exe", "web.demo"])
    assert (found.code, found.stdout) == (
        0,
        f"{head}Name:    web.demo.svc.cluster.local\r\nAddress:  10.96.0.20\r\n\r\n",
    )
    missing = await finish(host, ["nslookup", "nosuch.demo"])
    assert (missing.code, missing.stdout) == (0, head)
    assert missing.stderr.endswith("can't find nosuch.demo: Non-existent domain\r\n")


@in_world(prepare)
async def test_resolve_dnsname_takes_a_dotted_name_for_final(world: World) -> None:
    """The cmdlet finds the FQDN and the short name, and says that ``web.demo`` does not exist."""
    start_dns(world)
    host = worlds.windows(world.pod, host_process=True)
    command = ["powershell.exe", "-NoProfile", "-Command"]
    for name in ("web", "web.demo.svc.cluster.local"):
        found = await finish(host, [*command, f"Resolve-DnsName {name}"])
        assert found.code == 0
        assert re.search(
            r"web\.demo\.svc\.cluster\.local +A +30 +Answer +10\.96\.0\.20\r\n", found.stdout
        )
    missing = await finish(host, [*command, "Resolve-DnsName web.demo"])
    assert missing.code == 1
    assert missing.stderr.startswith("Resolve-DnsName : web.demo : DNS name does not exist\r\n")


@in_world()
async def test_powershell_interprets_nothing_else(world: World) -> None:
    """A cmdlet that the lab lacks, and one of a module outside a HostProcess container, is an unknown term."""
    host = worlds.windows(world.pod, host_process=True)
    for machine, text in (
        (host, "Get-NetRoute"),
        (worlds.windows(world.pod), "Resolve-DnsName web"),
    ):
        ended = await finish(machine, ["powershell", "-c", text])
        assert ended.code == 1
        assert "is not recognized as the name of a cmdlet" in ended.stderr


@in_world()
async def test_curl_tells_failures_apart_by_exit_code(world: World) -> None:
    """Refused 7, timed out 28, empty reply 52, HTTP error with ``-f`` 22."""
    await world.serve(world.peer, ["agnhost", "netexec"], [8080])
    await world.serve(world.peer, ["agnhost", "tcp-reset", "--port=9001"], [9001])
    for arguments, code in (
        (["http://10.244.2.5:9999/"], 7),
        (["-m", "0.5", "http://192.0.2.1/"], 28),
        (["--connect-timeout", "0.5", "http://192.0.2.1/"], 28),
        (["http://10.244.2.5:9001/"], 56),
        (["-f", "http://10.244.2.5:8080/echo?msg=x&code=500"], 22),
        (["https://10.244.2.5:8080/"], 35),
        (["--unknown", "http://10.244.2.5:8080/"], 2),
        (["http://10.244.2.5:8080/"], 0),
    ):
        ended = await finish(world.pod, ["curl", "-sS", *arguments])
        assert (arguments, ended.code) == (arguments, code)


@in_world()
async def test_curl_takes_the_urls_of_a_range_in_turn(world: World) -> None:
    """Each has its line of ``--write-out``, failed or not, and the last one's exit code counts."""
    await world.serve(world.peer, ["agnhost", "netexec"], [8080])
    told = ["curl", "-s", "-w", r"\n%{http_code}\n"]
    ended = await finish(world.pod, [*told, "http://10.244.2.5:8080/hostname?[1-3]"])
    assert (ended.code, ended.stdout.splitlines()[1::2]) == (0, ["200"] * 3)
    refused = await finish(world.pod, [*told, "http://10.244.2.5:9999/?[1-2]"])
    assert (refused.code, refused.stdout.split()) == (7, ["000"] * 2)


@in_world()
async def test_windows_curl_speaks_its_own_version(world: World) -> None:
    """The image's curl 7.57 says "Connection refused" after the re-sends, and no milliseconds."""
    ended = await finish(worlds.windows(world.pod), ["curl", "-sS", "http://10.244.2.5:9999/"])
    assert ended.code == 7
    assert ended.stderr == (
        "curl: (7) Failed to connect to 10.244.2.5 port 9999: Connection refused\r\n"
    )


@in_world()
async def test_curl_accepts_any_certificate_only_when_told(world: World) -> None:
    """Exit code 60 without ``-k``."""
    tls = ["--tls-cert-file=/localhost.crt", "--tls-private-key-file=/localhost.key"]
    await world.serve(world.pod, ["agnhost", "netexec", *tls], [8080])
    url = "https://127.0.0.1:8080/hostname"
    assert (await finish(world.pod, ["curl", "-sS", url])).code == 60
    assert (await finish(world.pod, ["curl", "-sSk", url])).stdout == "netexec-plj27"


@in_world()
async def test_curl_reports_figures_and_drops_the_body(world: World) -> None:
    """``-o NUL -w`` as probes use them."""
    await world.serve(world.peer, ["agnhost", "netexec"], [8080])
    template = "%{http_code} %{local_ip} %{remote_ip}:%{remote_port}\\n"
    command = ["curl", "-so", "NUL", "-w", template, "http://10.244.2.5:8080/"]
    ended = await finish(worlds.windows(world.pod), command)
    assert ended.stdout == "200 10.244.1.2 10.244.2.5:8080\n"


@in_world()
async def test_ipconfig_shows_the_machine(world: World) -> None:
    """Address, mask, gateway, suffixes and servers, with Windows' dots and line ends."""
    ended = await finish(worlds.windows(world.pod), ["ipconfig.exe", "/all"])
    for line in (
        "   Host Name . . . . . . . . . . . . : netexec-plj27",
        "   DNS Suffix Search List. . . . . . : demo.svc.cluster.local",
        "                                       svc.cluster.local",
        "   Connection-specific DNS Suffix  . : demo.svc.cluster.local",
        "   Physical Address. . . . . . . . . : 02-00-00-00-01-02",
        "   IPv4 Address. . . . . . . . . . . : 10.244.1.2(Preferred) ",
        "   Subnet Mask . . . . . . . . . . . : 255.255.255.0",
        "   Default Gateway . . . . . . . . . : 10.244.1.1",
        "   DNS Servers . . . . . . . . . . . : 10.96.0.10",
    ):
        assert f"{line}\r\n" in ended.stdout


@in_world()
async def test_small_windows_programs(world: World) -> None:
    """``hostname``, ``whoami``, ``where``, ``cmd /c ver``; ``cmd`` interprets nothing else."""
    pod = worlds.windows(world.pod)
    host = worlds.windows(world.pod, host_process=True)
    assert (await finish(pod, ["hostname"])).stdout == "netexec-plj27\r\n"
    assert (await finish(pod, ["whoami"])).stdout == "user manager\\containeradministrator\r\n"
    assert (await finish(host, ["whoami"])).stdout == "nt authority\\system\r\n"
    assert "10.0.17763.1339" in (await finish(pod, ["cmd", "/c", "ver"])).stdout
    assert (await finish(pod, ["cmd", "/c", "md C:\\a"])).code == 1
    assert (await finish(pod, ["where", "ping"])).code == 0
    without = worlds.windows(world.pod, capabilities=frozenset())
    assert (await finish(without, ["where", "ping"])).code == 1


@in_world()
async def test_small_linux_programs(world: World) -> None:
    """``cat`` knows a handful of files, ``sleep`` sleeps, ``true`` and ``false`` are so."""
    missing = await finish(world.pod, ["cat", "/etc/passwd"])
    assert (missing.code, missing.stderr) == (1, "cat: /etc/passwd: No such file or directory\n")
    assert (await finish(world.pod, ["cat", "/etc/hostname"])).stdout == "netexec-plj27\n"
    assert (await finish(world.pod, ["sleep", "0.01"])).code == 0
    assert (await finish(world.pod, ["sleep", "soon"])).code == 1
    assert (await finish(world.pod, ["true"])).code == 0
    assert (await finish(world.pod, ["false"])).code == 1


@in_world()
async def test_a_program_without_a_handler_dies_of_sigterm(world: World) -> None:
    """SIGTERM ends ``sleep`` with 143."""
    sleeper = worlds.start(world.pod, ["sleep", "infinity"])
    assert await sleeper.terminate() == 143
