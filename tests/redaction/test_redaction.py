"""Nothing that looks like a secret leaves the cluster with its diagnostics; what explains a network does."""

import json
from enum import StrEnum

import pytest

from nettests.redaction import REDACTED, Redactor, register

REDACTOR = Redactor()
CERTIFICATE = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAv8pLsE\nc2VjcmV0a2V5\n"
    "-----END RSA PRIVATE KEY-----"
)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer s3cr3t-token-value", "s3cr3t"),
        ('"Authorization":["Basic dXNlcjpodW50ZXIy"]', "dXNlcjpodW50ZXIy"),
        ("using bearer abcdef123456789", "abcdef123456789"),
        ("Set-Cookie: session=hunter2; Path=/", "hunter2"),
        ("proxy http://user:hunter2@proxy.test:3128/ is used", "hunter2"),
        ("HTTPS_PROXY=https://hunter2@proxy.test", "hunter2"),
        ("--token=hunter2 --v=6", "hunter2"),
        ("kubectl --client-secret hunter2", "hunter2"),
        ('{"password": "hunter2 and more", "name": "x"}', "hunter2"),
        ("db_password: hunter2", "hunter2"),
        ("client-key-data: aHVudGVyMg==", "aHVudGVyMg"),
        ("GET /blob?sv=1&sig=hunter2%2B", "hunter2"),
        ("joined with 07401b.f395accd246ae52d", "f395accd246ae52d"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmVk was sent", "eyJzdWIiOiJ4In0"),
        (CERTIFICATE, "c2VjcmV0a2V5"),
        (CERTIFICATE.rpartition("\n")[0], "c2VjcmV0a2V5"),
        (CERTIFICATE.partition("\n")[2], "c2VjcmV0a2V5"),
        (CERTIFICATE.replace("\n", "\n2026-11-21T22:38:21.267Z "), "c2VjcmV0a2V5"),
        (
            CERTIFICATE.rpartition("\n")[0].replace("\n", "\n2026-11-21T22:38:21.267Z "),
            "c2VjcmV0a2V5",
        ),
        (json.dumps({"tls.key": CERTIFICATE}), "c2VjcmV0a2V5"),
        ("key: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ==", "BSU0EgUFJJVkFURSBLRVk"),
    ],
)
def test_a_text_loses_its_secret(text: str, secret: str) -> None:
    """Headers, addresses, flags, fields, keys whole or cut off: the secret is gone, and its place is marked."""
    told = REDACTOR.text(text)
    assert secret not in told
    assert REDACTED in told


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"auths":{"r.test":{"auth":"hunter2dXNlcjpw"}}}', "r.test"),
        ("auth: hunter2dXNlcjpw", "auth:"),
        ("Server=db;User Id=sa;Password=my hunter2 pass;Encrypt=yes", "Encrypt=yes"),
        ('Server=db;Password="my;hunter2";Encrypt=yes', "Encrypt=yes"),
        ('Server=db;Password="my""hunter2";Encrypt=yes', "Encrypt=yes"),
        ("Server=db;Password='it''s;hunter2';Encrypt=yes", "Encrypt=yes"),
        ("Server=db;Pwd={a;hunter2};Encrypt=yes", "Encrypt=yes"),
        ("Server=db;Password=a;hunter2;Encrypt=yes", "Encrypt=yes"),
        ('Server=db;Password=hun"t;hunter2;Encrypt=yes', "Encrypt=yes"),
        ("password: correct horse hunter2", "password:"),
        ("user: x\npassword: me and hunter2\nhost: y", "host: y"),
        ("level=info password=correct horse hunter2 node=win-1", "node=win-1"),
        ("password: |\n  hunter2\n\n  and hunter2\nhost: y", "host: y"),
        ("- tls.key: >-\n    hunter2\n- name: y", "name: y"),
        ("token:\n  hunter2\nhost: y", "host: y"),
        ("- name: DB_PASSWORD\n  value: my hunter2\n- name: MODE\n  value: y", "value: y"),
        ("postgres://u:pa/ss@hunter2@db:5432/x", "db:5432/x"),
        ("postgres://u:pa/hunter2@db:5432/x", "db:5432/x"),
        (r'sent "{\"password\":\"hunter2\",\"mode\":\"y\"}"', "mode"),
        (r"sent {\"password\":\"a \\\"hunter2\",\"mode\":\"y\"}", "mode"),
        (r"sent {\"name\":\"DB_PASSWORD\",\"value\":\"hunter2\"}, then", "then"),
        (r"sent {\u0022token\u0022:\u0022hunter2\u0022}, then", "then"),
        ("curl -u admin:hunter2 http://10.0.0.1/", "http://10.0.0.1/"),
        ("curl -uadmin:hunter2 http://10.0.0.1/", "http://10.0.0.1/"),
        ('curl -u "admin:my hunter2" http://10.0.0.1/', "http://10.0.0.1/"),
        ("curl --user 'admin:my hunter2' http://10.0.0.1/", "http://10.0.0.1/"),
        ("agent -token hunter2 -v 6", "-v 6"),
        ("agent --db-password 'my hunter2' -v 6", "-v 6"),
    ],
)
def test_a_secret_goes_and_what_follows_it_stays(text: str, kept: str) -> None:
    """Logins, connection strings, words with spaces, blocks, escaped JSON, flags: whole, and nothing more."""
    told = REDACTOR.text(text)
    assert "hunter2" not in told
    assert REDACTED in told
    assert kept in told


@pytest.mark.parametrize(
    "token",
    [
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "glpat-abcdefghij0123456789",
        "xoxb-123456789012-abcdefABCDEF",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ASIAIOSFODNN7EXAMPLE",
        "sk_live_abcdefghijklmnopqrstuvwx",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "hvs.CAESIabcdefghijklmnopqrstu",
        "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawQ",
        "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
        "AccountKey=" + "a1B2" * 22,
    ],
)
def test_a_token_is_known_by_itself(token: str) -> None:
    """Tokens of services, and an AWS secret without its name, wherever they stand."""
    for text in (f"it said {token}, and ended", f'{{"note": "{token}"}}', f"x\n{token}\ny"):
        told = REDACTOR.text(text)
        assert token.partition("=")[2] not in told if "=" in token else token[-20:] not in told
        assert REDACTED in told


@pytest.mark.parametrize(
    "text",
    [
        '"VIPs": [\n    "10.96.254.106"\n  ],\n  "SourceVIP": ""',
        'I1121 22:38:21.267554       1 flags.go:64] FLAG: --proxy-mode="kernelspace"',
        "automountServiceAccountToken: false",
        "probe-windows-1-1.18a2b3c4d5e6f7a8 Successfully assigned nettests-20261121-1404-k7m2/x to win-1",
        "default via 172.30.0.1 dev eth0 proto static metric 100",
        'Get "http://10.96.254.106:82/whoami": context deadline exceeded',
        "-----BEGIN",
        "pulled http://10.0.0.1:8080/a@b and docker://reg.test:5000/a/b@sha256:abcdef",
        '{"ID": "6B6D6F2C-1D36-4AF1-A2B8-4A9F3C0C9A11", "MacAddress": "00-15-5D-0A-F4-03"}',
        "sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "secret:\n  secretName: registry\n",
        "/var/lib/kubelet/pods/AbC/volumes/kubernetes/io9",
        "compass: north, bypass=10.0.0.0/8",
        (
            "pull access denied, repository does not exist or may require authorization: authorization failed: "
            "no basic auth credentials"
        ),
    ],
)
def test_what_explains_a_network_stays(text: str) -> None:
    """Addresses, routes, flags, events and errors are not taken for secrets."""
    assert REDACTOR.text(text) == text


def test_objects_lose_what_their_fields_call_a_secret() -> None:
    """Variables by name, flags before their value, fields, and annotations that repeat the object."""
    found = REDACTOR.value(
        {
            "metadata": {
                "managedFields": [{"manager": "kubectl"}],
                "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": "hunter2",
                    "vault.test/token": "hunter2",
                    "flannel.alpha.coreos.com/backend-type": "host-gw",
                },
            },
            "spec": {
                "automountServiceAccountToken": False,
                "tolerations": [{"key": "os", "operator": "Exists"}],
                "containers": [
                    {
                        "args": ["--password", "hunter2", "--v", "6", "--token=hunter2"],
                        "env": [
                            {"name": "DB_PASSWORD", "value": "hunter2"},
                            {"name": "REGISTRY_AUTH", "value": "hunter2"},
                            {"name": "PWD", "value": "/work"},
                            {"name": "HTTP_PROXY", "value": "http://u:hunter2@p.test:1"},
                            {"name": "KUBE_NETWORK", "value": "cbr0"},
                            {
                                "name": "API_TOKEN",
                                "valueFrom": {"secretKeyRef": {"name": "vault", "key": "token"}},
                            },
                        ],
                    }
                ],
            },
            "data": {"config": "clusters: []\npassword: hunter2\n", "bearerToken": "hunter2"},
        }
    )
    told = json.dumps(found)
    assert "hunter2" not in told
    assert "managedFields" not in told
    (container,) = found["spec"]["containers"]
    assert container["args"] == ["--password", REDACTED, "--v", "6", f"--token={REDACTED}"]
    kept = {one["name"]: one.get("value") for one in container["env"]}
    assert (kept["PWD"], kept["KUBE_NETWORK"]) == ("/work", "cbr0")
    assert container["env"][-1]["valueFrom"]["secretKeyRef"] == {"name": "vault", "key": "token"}
    assert found["spec"]["tolerations"] == [{"key": "os", "operator": "Exists"}]
    assert found["spec"]["automountServiceAccountToken"] is False
    assert "host-gw" in told


def test_what_the_harness_itself_holds_goes_wherever_it_turns_up() -> None:
    """A known secret needs no shape to be recognised."""
    assert Redactor(("plainwords",)).text("said plainwords loudly") == f"said {REDACTED} loudly"
    register("first words", 'new "words"/', "abc", "", None)
    told = REDACTOR.text('first words, new \\"words\\"/, new%20%22words%22%2F, bmV3ICJ3b3JkcyIv')
    assert told == ", ".join([REDACTED] * 4)


def test_a_secret_and_a_docker_login_are_known_by_their_kind() -> None:
    """What a Secret holds goes whatever its keys are called; so does a login for registries."""
    found = REDACTOR.value({"kind": "Secret", "data": {"harmless": "aHVudGVyMg=="}})
    assert found == {"kind": "Secret", "data": {"harmless": REDACTED}}
    login = json.dumps({"auths": {"r.test": {"auth": "hunter2", "identitytoken": "hunter2"}}})
    assert "hunter2" not in json.dumps(REDACTOR.value({"data": {"config": login, "note": login}}))
    assert REDACTOR.value(["curl", "-u", "admin:hunter2", "x"]) == ["curl", "-u", REDACTED, "x"]


def test_data_that_is_nested_without_end_is_cut() -> None:
    """Neither objects nor JSON within texts can exhaust the stack."""
    deep: object = "hunter2"
    for _ in range(5000):
        deep = [deep]
    assert "hunter2" not in json.dumps(REDACTOR.value(deep))
    assert REDACTOR.text("[" * 100_000).startswith("[[")


class Remembered(StrEnum):
    """A value that no other test redacts: texts are remembered."""

    FIRST = "first-of-its-kind"
    SECOND = "second-of-its-kind"


@pytest.mark.parametrize("redactor", [Redactor(), Redactor(("other words",))])
def test_an_enumerated_word_is_not_remembered_in_place_of_its_text(redactor: Redactor) -> None:
    """Once a word was redacted as a member of an enumeration, its plain text still comes back as one."""
    assert type(redactor.value({"os": Remembered.FIRST})["os"]) is str
    assert type(redactor.text(Remembered.SECOND)) is str
    for word in Remembered:
        assert type(redactor.text(word.value)) is str
        assert type(redactor.value([word.value])[0]) is str
