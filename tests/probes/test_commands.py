"""Commands, word for word: argv lists and requests, per vantage, protocol and OS."""

from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

import dns.message
import pytest

from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.facts import known
from nettests.model.payload import filler
from nettests.model.windows_programs import ChangedByCmdError
from nettests.model.words import OS, Protocol, Question, Resolver, TargetKind
from nettests.probes.addresses import Directory
from nettests.probes.commands import CannotProbeError, Command, command, ping_words
from nettests.probes.endpoint import Endpoint
from tests.probes.made import FACTS, action, deployed

DIRECTORY = Directory(facts=FACTS, deployment=deployed())


def made(question: Action, turn: int = 0) -> Command:
    """Return the command of a question's turn."""
    return command(question, DIRECTORY.endpoint(question), turn, Timing())


def test_a_pod_is_told_to_dial_once() -> None:
    """/dial gets host, port, protocol, request, and one try: loops stay outside."""
    wanted = made(action("probe-windows-1-1", TargetKind.POD_IP))
    assert wanted.means == wanted.tool == "dial"
    assert wanted.words == (
        "GET",
        "/dial?host=10.244.1.11&port=18080&protocol=http&request=hostname&tries=1",
    )


def test_turns_alternate_between_who_answers_and_whom_it_saw() -> None:
    """Even turns request the host name, odd ones for the client's address."""
    question = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP)
    assert [made(question, turn).request for turn in range(3)] == [
        "hostname",
        "clientip",
        "hostname",
    ]
    assert "port=82&protocol=http&request=whoami" in made(question, 1).path


def test_udp_is_dialled_on_its_port() -> None:
    """UDP questions go to the UDP port with the same two requests."""
    question = action("probe-linux-1-1", TargetKind.SERVICE_CLUSTERIP, Protocol.UDP)
    assert "port=81&protocol=udp&request=hostname" in made(question).path
    assert "port=81&protocol=udp&request=clientip" in made(question, 1).path


@pytest.mark.parametrize(
    ("probe", "protocol", "words"),
    [
        ("node-linux-1-1", Protocol.TCP, ("curl", "-sS", "-m", "5", "http://10.244.1.11:18080/hostname")),
        ("node-windows-1-1", Protocol.TCP, ("curl.exe", "-sS", "-m", "5", "http://10.244.1.11:18080/hostname")),
        ("node-linux-1-1", Protocol.UDP, ("/agnhost", "connect", "--protocol=udp", "--timeout=5s", "10.244.1.11:18081")),
        ("node-windows-1-1", Protocol.UDP,
         (r"%CONTAINER_SANDBOX_MOUNT_POINT%\agnhost.exe", "connect", "--protocol=udp", "--timeout=5s", "10.244.1.11:18081")),
    ],
)  # fmt: skip
def test_a_node_probes_by_a_process(probe: str, protocol: Protocol, words: tuple[str, ...]) -> None:
    """Node vantages run curl for TCP and agnhost connect for UDP, in their OS's manner."""
    wanted = made(action(probe, TargetKind.POD_IP, protocol))
    assert wanted.means == "exec"
    assert wanted.words == words


def test_ping_is_spelled_per_os() -> None:
    """Three echoes, two seconds each, in the manner of iputils and of Windows."""
    assert ping_words(OS.LINUX, "a") == ("ping", "-c", "3", "-W", "2", "a")
    assert ping_words(OS.WINDOWS, "a") == ("ping", "-n", "3", "-w", "2000", "a")


def test_unsplit_pings_are_spelled_per_os() -> None:
    """A size comes with the demand that nobody on the way splits the packet."""
    linux, windows = (ping_words(os, "a", 1472) for os in (OS.LINUX, OS.WINDOWS))
    assert linux == ("ping", "-c", "3", "-W", "2", "-M", "do", "-s", "1472", "a")
    assert windows == ("ping", "-n", "3", "-w", "2000", "-f", "-l", "1472", "a")


def test_ping_questions_go_to_the_address() -> None:
    """A PING question is a process in the probe, whatever the target serves."""
    question = action(
        "probe-windows-1-1", TargetKind.EXTERNAL_IP, Protocol.ICMP, question=Question.PING
    )
    assert made(question).words == ("ping", "-n", "3", "-w", "2000", "198.51.100.10")


def test_names_are_resolved_by_two_clients() -> None:
    """The system's resolver is queried by dialling the name, nslookup by a process."""
    by_name = action(
        "probe-windows-1-1",
        TargetKind.SERVICE_PARTIAL_NAME,
        Protocol.UDP,
        name_form="{service}.{namespace}",
        question=Question.RESOLVE,
    )
    system = made(replace(by_name, resolver=Resolver.SYSTEM))
    assert "host=svc-server-linux-1-1.nettests-run&port=81" in system.path
    lookup = made(replace(by_name, resolver=Resolver.NSLOOKUP))
    assert lookup.words == ("nslookup", "svc-server-linux-1-1.nettests-run")


def test_the_windows_dns_client_is_queried_by_powershell() -> None:
    """Resolve-DnsName gets the name as a plain word; what is no name is not put into its command."""
    question = action(
        "probe-windows-1-1",
        TargetKind.KUBERNETES_SERVICE,
        Protocol.UDP,
        service=None,
        name_form="kubernetes.default",
        question=Question.RESOLVE,
        resolver=Resolver.RESOLVE_DNSNAME,
    )
    assert made(question).words == (
        "powershell.exe",
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        "Resolve-DnsName -Name kubernetes.default -Type A -DnsOnly",
    )
    with pytest.raises(CannotProbeError):
        made(replace(question, target=replace(question.target, name_form="a; rm")))


@pytest.mark.parametrize(("protocol", "words"), [(Protocol.TCP, ("-vc",)), (Protocol.UDP, ())])
def test_a_name_server_is_reached_over_either_protocol(
    protocol: Protocol, words: tuple[str, ...]
) -> None:
    """nslookup is told which server to probe; -vc is BIND's word for TCP."""
    facts = replace(FACTS, dns_address=known(ip_address("10.96.0.10"), "test"))
    question = action(
        "probe-windows-1-1",
        TargetKind.DNS_SERVICE,
        protocol,
        service=None,
        name_form="a.b.",
        question=Question.RESOLVE,
        resolver=Resolver.NSLOOKUP,
    )
    directory = Directory(facts=facts, deployment=deployed())
    wanted = command(question, directory.endpoint(question), 0, Timing())
    assert wanted.words == ("nslookup", *words, "a.b.", "10.96.0.10")


def test_queries_are_counted_at_the_name_server_itself() -> None:
    """netexec sends any request as it is: one query for the name, from a new socket at each try."""
    facts = replace(FACTS, dns_address=known(ip_address("10.96.0.10"), "test"))
    question = action(
        "probe-windows-1-1",
        TargetKind.DNS_SERVICE,
        Protocol.UDP,
        service=None,
        name_form="kubernetes.default.svc.{domain}.",
        question=Question.LOSS,
    )
    question = replace(question, connections=12)
    sent = command(
        question, Directory(facts=facts, deployment=deployed()).endpoint(question), 0, Timing()
    )
    query = parse_qs(urlsplit(sent.path).query)
    assert (query["host"], query["port"], query["protocol"], query["tries"]) == (
        ["10.96.0.10"],
        ["53"],
        ["udp"],
        ["12"],
    )
    (asked,) = dns.message.from_wire(query["request"][0].encode("ascii")).question
    assert asked.to_text() == "kubernetes.default.svc.cluster.local. IN A"


def test_names_that_are_only_looked_up_are_dialled_by_tcp_where_nothing_speaks_udp() -> None:
    """The Service kubernetes answers on 443 alone: that the name resolves shows there."""
    question = action(
        "probe-linux-1-1",
        TargetKind.KUBERNETES_SERVICE,
        Protocol.UDP,
        service=None,
        name_form="kubernetes.default",
        question=Question.RESOLVE,
        resolver=Resolver.SYSTEM,
    )
    assert "host=kubernetes.default&port=443&protocol=http" in made(question).path


def test_resolution_does_not_alternate() -> None:
    """A name alone is probed the same way every time."""
    question = action(
        "probe-linux-1-1",
        TargetKind.SERVICE_FQDN,
        name_form="{service}.{namespace}.svc.{domain}",
        question=Question.RESOLVE,
        resolver=Resolver.SYSTEM,
    )
    assert made(question, 0) == made(question, 1)


def test_the_outside_fetches_over_tcp_and_sends_datagrams() -> None:
    """The external vantage point fetches, or sends what agnhost's UDP server answers; it pings nobody."""
    wanted = made(action("external", TargetKind.NODEPORT, on="w1"))
    assert wanted.means == "external"
    assert wanted.path == "http://172.30.0.21:30080/hostname"
    sent = made(action("external", TargetKind.NODEPORT, Protocol.UDP, on="w1"))
    assert (sent.means, sent.tool, sent.request) == ("external", "datagram", "hostname")
    assert sent.words == ("SEND", f"udp://172.30.0.21:{sent.port}/hostname")


def test_a_dial_by_name_leaves_the_resolver_its_time() -> None:
    """Where DNS is silent a name takes longer than a dial; the channel waits for it."""
    by_address = made(action("probe-linux-1-1", TargetKind.SERVICE_CLUSTERIP))
    by_name = made(action("probe-linux-1-1", TargetKind.SERVICE_FQDN))
    assert by_name.deadline - by_address.deadline == Timing().names


def test_a_payload_over_tcp_is_part_of_an_address_that_is_not_clean() -> None:
    """Go's servers send such an address back, whatever they serve; in the journal its bytes have a name."""
    wanted = made(replace(action("probe-windows-1-1", TargetKind.POD_IP), size=64))
    assert wanted.words == (
        "GET",
        "/dial?host=10.244.1.11&port=18080&protocol=http&request=%2Fhostname%3Fpad%3Dpayload.64&tries=1",
    )
    assert wanted.request == "hostname"
    assert wanted.path == wanted.words[-1].replace("payload.64", filler(64))


def test_a_payload_over_udp_is_echoed() -> None:
    """The datagram is as large as was wanted, with the word that makes agnhost send the rest back."""
    wanted = made(replace(action("probe-windows-1-1", TargetKind.POD_IP, Protocol.UDP), size=64))
    assert wanted.words[-1].endswith("port=18081&protocol=udp&request=echo+payload.59&tries=1")
    assert f"echo+{filler(59)}&" in wanted.path


def test_a_node_sends_no_payload() -> None:
    """Its curl follows no redirect, and nothing there echoes."""
    with pytest.raises(CannotProbeError, match="a payload is sent by Pods, not by a node"):
        made(replace(action("node-linux-1-1", TargetKind.POD_IP), size=64))


def test_a_train_is_one_request_for_many_tries() -> None:
    """Who answers is told of each; the channel waits for several time-outs, and not for all of them."""
    question = replace(
        action("probe-windows-1-1", TargetKind.POD_IP), question=Question.LOSS, connections=12
    )
    wanted = made(question)
    assert wanted.tool == "train"
    assert wanted.words[-1].endswith("request=hostname&tries=12")
    assert wanted.deadline == 8 * Timing().dial
    assert made(replace(question, connections=1)).deadline == Timing().dial


def test_a_search_is_no_one_command() -> None:
    """Each size is a question of its own."""
    question = replace(action("probe-windows-1-1", TargetKind.POD_IP), question=Question.PATH_MTU)
    with pytest.raises(CannotProbeError, match="no one command can path-mtu"):
        made(question)


def test_a_command_that_cmd_would_change_is_not_made_for_a_windows_node() -> None:
    """A path with an ampersand, which `cmd /c` would take for two commands, is refused; a Linux node's is not."""
    endpoint = Endpoint(host="10.244.1.11", clientip_port=80, client_path="a?b=1&c=2")
    for probe in ("node-linux-1-1", "node-windows-1-1"):
        question = action(probe, TargetKind.POD_IP, Protocol.TCP)
        wanted = partial(command, question, endpoint, 0, Timing())
        if probe == "node-linux-1-1":
            assert wanted().words[-1] == "http://10.244.1.11:80/a?b=1&c=2"
        else:
            with pytest.raises(ChangedByCmdError, match="a\\?b=1&c=2"):
                wanted()
