"""Whatever a cluster, a file or a journal says: only declared errors leave the parsers."""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.cluster import cni, kubeproxy, networks
from nettests.cluster.execute import answer_of
from nettests.cluster.failures import Answer, failure
from nettests.cluster.plugins import PluginObjects
from nettests.cluster.profile_file import parse_profile
from nettests.errors import ManifestError, NettestsError
from nettests.expect.manifest_reading import read_manifest
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import StatedFacts
from nettests.model.codec import data_of
from nettests.model.observation import Raw
from nettests.model.run_folder import JOURNAL
from nettests.parse.read import PARSERS, read_raw, read_resolution
from nettests.plugin.documents import write_documents
from nettests.rules import RULES
from nettests.session.rejudge import judge_again
from tests.fuzz.budget import fuzz
from tests.report.hostile import NASTY
from tests.report.scenario import QUIET, records

KEYS = st.sampled_from(
    [
        "kind",
        "items",
        "metadata",
        "name",
        "namespace",
        "labels",
        "spec",
        "status",
        "message",
        "reason",
        "details",
        "causes",
        "field",
        "responses",
        "errors",
        "readings",
        "problems",
        "node",
        "kept",
        "fresh",
        "said",
        "stderr",
        "exit",
        "server_exit",
        "server_stderr",
        "seconds",
        "events",
        "then",
        "containers",
        "phase",
        "containerStatuses",
        "state",
        "waiting",
        "localEndpoints",
        "Backend",
        "Network",
        "Type",
        "VNI",
        "Port",
        "Policies",
        "ID",
        "winkernel",
        "mode",
        "enableDSR",
        "networking",
        "podSubnet",
        "facts",
        "cni",
        "apiVersion",
        "limitations",
        "id",
        "when",
        "expect",
        "flows",
        "sources",
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([NASTY, "", "1e999", "10.0.0.1", "fd00::1", "-1", "9" * 400, "[" * 300])
)
DATA = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(), inner, max_size=5)
    ),
    max_leaves=25,
)
TEXTS = st.text(max_size=200) | DATA.map(json.dumps) | st.just(NASTY)


@st.composite
def raws(draw: st.DrawFn) -> Raw:
    """Draw an answer of any tool, with a context that belongs to some of them."""
    readings = st.dictionaries(st.sampled_from(sorted(_readings())), TEXTS, max_size=8)
    inspected = st.builds(lambda given: json.dumps({"readings": given, "problems": {}}), readings)
    context = {
        "rule": draw(st.sampled_from(sorted(RULES))),
        "field": "spec.hostPID",
        "reasons": "Failed",
        **draw(st.sampled_from([{}, {"scheduling": "{}", "steered": "x"}, {"then": "gone"}])),
    }
    return Raw(
        check="a/b",
        purpose="check",
        attempt=1,
        probe="probe",
        tool=draw(st.sampled_from(sorted(PARSERS))),
        command=("x", draw(st.sampled_from(["", "/dial?protocol=udp&request=hostname", "x"]))),
        channel="exec",
        client_os=draw(st.sampled_from(["linux", "windows"])),
        started=1.0,
        elapsed=1.0,
        exit_code=draw(st.none() | st.integers(-1, 255)),
        status=draw(st.none() | st.sampled_from([0, 200, 201, 400, 403, 422, 500])),
        stdout=draw(TEXTS | inspected),
        stderr=draw(TEXTS),
        context=context,
    )


def _readings() -> set[str]:
    return {reading.name for rule in RULES.values() for reading in rule.reads}


@fuzz
@given(raws())
def test_every_answer_is_read(raw: Raw) -> None:
    """An answer of any tool is read as something; nothing is raised."""
    read_raw(raw)
    read_resolution(raw)


@fuzz
@given(TEXTS)
def test_profiles_are_valid_or_refused(text: str) -> None:
    """A cluster profile is one, or a ``ManifestError``."""
    with suppress(ManifestError):
        parse_profile(text, "profile.yaml")


@fuzz
@given(TEXTS)
def test_manifests_are_valid_or_refused(text: str) -> None:
    """A limitation manifest is one, or a ``ManifestError``."""
    with suppress(ManifestError):
        read_manifest(text, "limits.yaml")


@fuzz
@given(TEXTS, DATA)
def test_config_maps_tell_something_or_nothing(text: str, data: Any) -> None:
    """ConfigMaps of plugin, kubeadm and kube-proxy give facts, which may be unknown."""
    keys = ("net-conf.json", "ClusterConfiguration", "config.conf")
    made = {"data": dict.fromkeys(keys, text)}
    encoded = {"data": dict.fromkeys(keys, json.dumps(data))}
    for one in (made, encoded):
        stated = StatedFacts()
        cni.facts_of(PluginObjects(config_maps={"x/y": one}), stated)
        networks.pod_cidrs(networks.kubeadm_networking(one), cni.flannel_network(one), (), stated)
        networks.service_cidrs((), networks.kubeadm_networking(one), stated)
        config, origin = kubeproxy.config_of(None, {"kube-system/kube-proxy": one})
        kubeproxy._settings(kubeproxy.ProxySources(config=config, config_origin=origin))


@fuzz
@given(TEXTS, st.integers(400, 599))
def test_refusals_are_errors_for_people(text: str, status: int) -> None:
    """Whatever a refusal's body is, it is worded."""
    answer = Answer(status=status, body=text.encode(errors="surrogatepass"))
    str(failure("GET", "/x", answer, "server", "context"))


@fuzz
@given(TEXTS | DATA.map(json.dumps))
def test_ends_of_processes_are_known_or_not(text: str) -> None:
    """The status that ends an exec is an exit code, or a ``ChannelError``."""
    with suppress(ChannelError):
        answer_of(
            "pod", "program", stdout=b"", stderr=b"", status=text.encode(errors="surrogatepass")
        )


RUN = [data_of(record) for record in records(QUIET)]


@st.composite
def journals(draw: st.DrawFn) -> bytes:
    """Draw a journal of a run in which some records are others than a run would write."""
    lines = [json.dumps(record).encode(errors="surrogatepass") for record in RUN[:12]]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        record = dict(RUN[at])
        key = draw(st.sampled_from(sorted(record)))
        kind = draw(st.integers(0, 3))
        if kind == 0:
            record.pop(key)
        elif kind == 1:
            record[key] = draw(DATA)
        elif kind == 2 and isinstance(record[key], dict) and record[key]:
            inner = draw(st.sampled_from(sorted(record[key])))
            record[key] = {**record[key], inner: draw(DATA)}
        else:
            lines[at] = draw(TEXTS).encode(errors="surrogatepass").replace(b"\n", b"")
            continue
        lines[at] = json.dumps(record).encode(errors="surrogatepass")
    return b"\n".join(lines) + b"\n"


# A journal that fails is longer than hypothesis likes to print, and its warning would hide what failed.
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@fuzz
@given(journals())
def test_journals_are_judged_again_or_refused(journal: bytes) -> None:
    """A forged journal is judged and rendered, or a ``NettestsError``."""
    judged_again(journal)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"record":' * 3000,
        b'{"record": "facts", "facts": []}',
        b'{"record": "raw"}',
        b'{"record": "diagnostics", "folder": "//evil\\u0000"}',
        b"[]",
        b"\xff\xfe",
    ],
    ids=["brackets", "records", "no facts", "no answer", "folder", "list", "no UTF-8"],
)
def test_forged_records_are_errors_for_people(line: bytes) -> None:
    """A deep record, one without its parts and one that is none: the journal's name and what is wrong."""
    whole = b"\n".join(json.dumps(record).encode() for record in RUN[:12])
    assert "journal" in judged_again(whole + b"\n" + line + b"\n")


@pytest.mark.parametrize(
    "forged",
    [{"run_id": None}, {"nettests": 7}, {"context": [1]}, {"argv": {"x": None}}, {"server": {}}],
    ids=str,
)
def test_a_forged_head_is_rendered(forged: dict[str, object]) -> None:
    """What should be a text of a run's head and is none is shown as some, in every document."""
    head = {**RUN[0], **forged}
    assert head["record"] == "run"
    whole = b"\n".join(json.dumps(record).encode() for record in (head, *RUN[1:12]))
    assert judged_again(whole + b"\n") == ""


def judged_again(journal: bytes) -> str:
    """Judge a journal again and render it; return the error for people."""
    with TemporaryDirectory() as made:
        source, target = Path(made) / "run", Path(made) / "again"
        source.mkdir()
        (source / JOURNAL).write_bytes(journal)
        for act in acts(source, target):
            try:
                act()
            except NettestsError as error:
                return str(error)
    return ""


def acts(source: Path, target: Path) -> Iterator[Any]:
    """Yield what is done with a journal."""
    yield lambda: write_documents(source)
    yield lambda: judge_again(source, target, (), (), today=date(2026, 1, 1))
    yield lambda: write_documents(target)
