"""Nothing that looks like a secret leaves the cluster with its diagnostics; what explains a network does."""

import json

import pytest

from nettests.diagnose import Redactor
from nettests.diagnose.redaction import REDACTED

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
    "text",
    [
        '"VIPs": [\n    "10.96.254.106"\n  ],\n  "SourceVIP": ""',
        'I1121 22:38:21.267554       1 flags.go:64] FLAG: --proxy-mode="kernelspace"',
        "automountServiceAccountToken: false",
        "probe-windows-1-1.18a2b3c4d5e6f7a8 Successfully assigned nettests-20261121-1404-k7m2/x to win-1",
        "default via 172.30.0.1 dev eth0 proto static metric 100",
        'Get "http://10.96.254.106:82/whoami": context deadline exceeded',
        "-----BEGIN",
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
