"""One text under other names: addresses, names and unknown words in every place where they may stand."""

import base64
import json
import re
from ipaddress import ip_address
from urllib.parse import quote

import pytest

from nettests.export.pseudonyms import Kind
from tests.export.renaming import texts

ADDRESS = "10.137.42.9"
OTHER = str(texts("").pseudonyms.addresses.address(ip_address(ADDRESS)))
HOMES = "/".join(("", "home", ""))
V6 = "fd0c:ab:cd::9"
OTHER_V6 = str(texts("").pseudonyms.addresses.address(ip_address(V6)))


@pytest.mark.parametrize(
    "form",
    [
        *(
            "{}",
            "{}:8080",
            "[{}]",
            "http://{}/x",
            "http://{}:80/",
            "({})",
            "'{}'",
            "to {}.",
            "{},{}",
            "{}/33",
        ),
        *("{}->{}:80", "a={}&b", "host={};", "<{}>", "{}-10.0.0.1", "\\n{}", '"{}"', "{}\r\n"),
        *("010.137.042.009", "ip={}%20x"),
    ],
)
def test_an_address_is_replaced_wherever_it_stands(form: str) -> None:
    """With ports, in brackets, in addresses of the web, at the end of a sentence."""
    told = texts("http host ip").text(form.format(ADDRESS, ADDRESS))
    assert "137.42" not in told
    assert "137.042" not in told
    assert OTHER in told


@pytest.mark.parametrize(
    "form", ["{}", "[{}]:80", "http://[{}]:80/", "{}/64", "{}%eth0", "to {}.", "{}#53", "({})"]
)
def test_an_ipv6_address_is_replaced_wherever_it_stands(form: str) -> None:
    """In brackets, with a prefix, with a zone."""
    told = texts("http eth0").text(form.format(V6))
    assert "ab:cd" not in told
    assert OTHER_V6.split("::", maxsplit=1)[0] in told


def test_an_encoded_address_is_replaced() -> None:
    """The host of a question to netexec is encoded for its address."""
    told = texts("host").text(f"GET /dial?host={quote(f'[{V6}]', safe='')}&port=80")
    assert quote(OTHER_V6, safe="") in told
    assert "ab%3Acd" not in told


def test_an_address_within_a_name_is_replaced() -> None:
    """Records of Pods and names of cloud nodes hold addresses with dashes."""
    told = texts("pod svc").text("ip-10-137-42-9 10-137-42-9.ns.pod.cluster.local")
    assert told.count(OTHER.replace(".", "-")) == 2
    assert "10-137-42" not in told


@pytest.mark.parametrize(
    "text",
    [
        *(
            "v1.33.5",
            "10.0.20348.3207",
            "3 packets, 0.120ms",
            "0x800705b4",
            "100%",
            "422",
            "0.0.0.0/0",
        ),
        *(
            "2026-11-25T16:47:37.123456+00:00",
            "16:47:37",
            "I1125 09:00:00.000001",
            "127.0.0.1:53",
            "aaaaaaaa",
        ),
        *(
            "20261125-164733-9fa8",
            "nettests-20261125-164733-9fa8",
            "512Mi",
            "1m30s",
            "::1",
            "18080/udp",
        ),
    ],
)
def test_versions_numbers_and_times_stay(text: str) -> None:
    """They tell what a verdict depends on, and nobody's name."""
    assert texts("packets udp").text(text) == text


def test_an_unknown_word_is_replaced_and_marked() -> None:
    """The same word is the same other word, and is counted as a word of a free text."""
    renamed = texts("the of failed")
    assert renamed.text("the Umsatz of Umsatz failed") == "the word-1 of word-1 failed"
    assert renamed.pseudonyms.originals(Kind.WORD) == ("umsatz",)
    assert renamed.pseudonyms.counts[Kind.WORD] == 2


def test_a_word_that_may_stay_stays() -> None:
    """Whoever reads a text in another language lets its words leave."""
    assert (
        texts("Zeitüberschreitung der Anforderung")
        .text("Zeitüberschreitung der Anforderung.")
        .startswith("Zeit")
    )


def test_capitals_stay_capitals() -> None:
    """Windows spells host names so, and rules compare without regard to it."""
    renamed = texts("")
    assert renamed.text("web-acme-7 WEB-ACME-7") == "name-1 NAME-1"


def test_identifiers_keep_their_form() -> None:
    """GUIDs, digests and MACs are others of the same form, the same each time; a MAC made of an address follows it."""
    renamed = texts("")
    guid, digest = "0563CC3D-6c5f-4727-8071-225e52e6590a", "c9aa64efee6f4c6c9ad4fe2ab426ce1b"
    for text in (guid, digest):
        told = renamed.text(text)
        assert told != text
        assert re.sub("[0-9a-fA-F]", "x", told) == re.sub("[0-9a-fA-F]", "x", text)
        assert renamed.text(text.lower()).lower() == told.lower()
    assert renamed.text("00-15-5D-AA-BB-CC").startswith("00-15-5D-")
    assert "AA-BB-CC" not in renamed.text("00-15-5D-AA-BB-CC")
    packed = ip_address(OTHER).packed.hex("-").upper()
    assert renamed.text("02-11-0A-89-2A-09") == f"02-11-{packed}"


def test_a_text_within_a_text_is_read_as_what_it_is() -> None:
    """JSON within JSON: keys, values and line feeds of each level."""
    inner = json.dumps({"host-acme-1": [f"{ADDRESS}\nacme"], "node": 5})
    told = json.loads(texts("readings node").text(json.dumps({"readings": inner})))
    inner_told = json.loads(told["readings"])
    assert inner_told == {"name-1": [f"{OTHER}\nword-1"], "node": 5}


def test_broken_json_is_read_word_by_word() -> None:
    """A log that was cut has escapes, which are no letters of the words behind them."""
    told = texts("node refused").text('{"a": "node\\nacmecorp refused\\tnode')
    assert "acme" not in told
    assert "\\nword-1 refused\\tnode" in told


@pytest.mark.parametrize(
    "path", [f"{HOMES}node/x", r"C:\Users\node\x", "/Users/node/x", r"C:\\Users\\node\\x"]
)
def test_a_user_s_home_names_nobody(path: str) -> None:
    """A user may be called as anything is."""
    assert re.split(r"[\\/]+", texts("home Users node x").text(path))[-2] == "user-1"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "acme.example.com",
            "123456789012.dkr.ecr.eu-west-1.amazonaws.com",
            "api-gateway",
            "peter@acme.io",
        ),
        *(
            "/subscriptions/4f2c/resourceGroups/acme-rg",
            "arn:aws:iam::123456789012:role/acme",
            "ACME\\peter",
        ),
        *(
            "node.acme",
            "ACME_BILLING_URL",
            "kube-proxy-acme",
            "v1.33.5-acme.7",
            "0x0a892a09",
            "acme_prod",
        ),
    ],
)
def test_names_of_several_parts_are_somebody_s(name: str) -> None:
    """Domains, registries, clouds' ids, users, and names that begin as ours do."""
    renamed = texts(
        "kube-proxy-windows kube-proxy subscriptions arn iam role api gateway node example com kubernetes prod"
    )
    told = renamed.text(name).lower()
    for secret in (
        "acme",
        "123456789012",
        "api-gateway",
        "peter",
        "0a892a09",
        "example.com",
        "eu-west",
    ):
        assert secret not in told


def test_what_a_run_named_itself_stays() -> None:
    """Its Pods and Services are in every id; what the cluster hung behind is not."""
    renamed = texts("svc server windows", own=("svc-server-windows-1-1",))
    assert renamed.text("svc-server-windows-1-1") == "svc-server-windows-1-1"
    assert renamed.text("svc-server-windows-1-1-x7k2p") == "svc-server-windows-1-1-name-1"


def test_what_claims_to_be_a_run_s_own_is_not_believed() -> None:
    """A journal that was edited names anything as a probe."""
    assert texts("server", own=("acme-db",)).text("acme-db") == "name-1"


def test_the_cluster_s_own_domain_has_one_other_name() -> None:
    """Names in it keep what Kubernetes writes before it."""
    renamed = texts("svc kube-dns kube-system", domain="k8s.acme.corp")
    told = renamed.text("kube-dns.kube-system.svc.k8s.acme.corp and k8s.acme.corp")
    assert told == "kube-dns.kube-system.svc.domain-1 and domain-1".replace("and", "word-1")


def test_base64_is_no_hiding_place() -> None:
    """What is coded is unknown as a whole."""
    coded = base64.b64encode(b"node-acme-42.acme.corp").decode()
    assert coded not in texts("node").text(f"token {coded}")


def test_long_numbers_in_data_are_replaced() -> None:
    """An account is a number too; ports, sizes and truth are not."""
    told = texts("account port ok share").value(
        {"account": 123456789012, "port": 18080, "ok": True, "share": 0.5}
    )
    assert told["account"] != 123456789012
    assert {key: told[key] for key in ("port", "ok", "share")} == {
        "port": 18080,
        "ok": True,
        "share": 0.5,
    }


def test_what_is_nested_too_deep_does_not_leave() -> None:
    """A text of ten thousand brackets ends nothing."""
    assert "acme" not in texts("").text("[" * 10_000 + '"acme"' + "]" * 10_000)
