"""A Pod's ServiceAccount in the place of a kubeconfig: token and authority as a kubelet mounts them, over real TLS."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import trustme

from nettests.cluster import connect, kubeconfig
from nettests.cluster.connection import Connection
from nettests.cluster.kubeconfig import IN_CLUSTER, choose, in_pod
from nettests.errors import ClusterError
from nettests.redaction import without_held
from tests.cluster.api import Api, Reply, Request, serving, status, write_kubeconfig

TOKEN = "eyJhbGciOi.first"
VERSION = Reply(body={"gitVersion": "v1.34.1"})


@pytest.fixture
def mount(tmp_path: Path, authority: trustme.CA) -> Path:
    """What a kubelet mounts."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text(f"{TOKEN}\n")
    (folder / "ca.crt").write_bytes(authority.cert_pem.bytes())
    (folder / "namespace").write_text("nettests")
    return folder


@pytest.fixture
def authority() -> trustme.CA:
    """The cluster's."""
    return trustme.CA()


@pytest.fixture
def api(authority: trustme.CA) -> Iterator[Api]:
    """An API server that takes whoever comes; a test replaces ``answer`` by its own."""
    with served(authority, {}) as found:
        yield found


def served(authority: trustme.CA, tokens: dict[str, Reply]) -> AbstractContextManager[Api]:
    """Serve over TLS; a token that ``tokens`` names is answered so."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def answer(request: Request) -> Reply:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        return tokens.get(token, VERSION)

    return serving(answer, context)


@pytest.fixture
def pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mount: Path) -> pytest.MonkeyPatch:
    """A process that a kubelet started: no kubeconfig, an address in the environment, a mount."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setattr(kubeconfig, "MOUNT", mount)
    return monkeypatch


def at(monkeypatch: pytest.MonkeyPatch, api: Api) -> None:
    """Name the API server as a kubelet does."""
    host, _, port = api.url.removeprefix("https://").rpartition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)


def test_a_pod_uses_its_service_account(pod: pytest.MonkeyPatch, api: Api) -> None:
    """Address, authority and token without a line feed; the context has a name of its own."""
    at(pod, api)
    connection = connect(None, None)
    assert (connection.server, connection.context) == (api.url, IN_CLUSTER)
    assert api.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_the_token_is_known_as_a_secret(pod: pytest.MonkeyPatch, api: Api) -> None:
    """Itself, and not with a word before it: a redactor would let it pass alone."""
    at(pod, api)
    connect(None, None)
    assert without_held(f"it says {TOKEN}") == "it says [redacted]"


def test_a_token_that_was_replaced_is_read_again(
    pod: pytest.MonkeyPatch, authority: trustme.CA, mount: Path
) -> None:
    """A kubelet writes a new one long before the old one ends; what the API server refuses is read anew."""
    refused: dict[str, Reply] = {}
    with served(authority, refused) as api:
        at(pod, api)
        connection = connect(None, None)
        refused[TOKEN] = status(401, "Unauthorized", "Unauthorized")
        (mount / "token").write_text("second")
        assert connection.get("/version")["gitVersion"] == "v1.34.1"
        assert api.requests[-1].headers["authorization"] == "Bearer second"
        assert without_held(f"second, {TOKEN}") == "[redacted], [redacted]"


def test_a_kubeconfig_goes_first(pod: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of an option, of the environment, and of the home folder, as client-go does."""
    pod.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    pod.setenv("KUBERNETES_SERVICE_PORT", "1")
    file = write_kubeconfig(tmp_path / "k", "https://127.0.0.1:2")
    assert choose(file, None).context == "test"
    home = tmp_path / "nobody" / ".kube"
    home.mkdir(parents=True)
    (home / "config").write_text(file.read_text())
    assert choose(None, None).context == "test"
    (home / "config").unlink()
    assert choose(None, None).context == IN_CLUSTER
    pod.setenv("KUBECONFIG", str(tmp_path / "gone"))
    with pytest.raises(ClusterError, match="gone does not exist"):
        choose(None, None)


def test_a_context_is_of_a_kubeconfig(pod: pytest.MonkeyPatch, api: Api) -> None:
    """Naming one where there is no kubeconfig is a mistake, not the cluster around."""
    at(pod, api)
    with pytest.raises(ClusterError, match="no kubeconfig"):
        choose(None, "staging")
    assert choose(None, IN_CLUSTER).context == IN_CLUSTER


def test_another_authority_is_not_trusted(pod: pytest.MonkeyPatch, api: Api, mount: Path) -> None:
    """Whoever answers at the address has to have the cluster's certificate."""
    at(pod, api)
    (mount / "ca.crt").write_bytes(trustme.CA().cert_pem.bytes())
    with pytest.raises(ClusterError, match="was not trusted"):
        connect(None, None)
    assert api.requests == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda mount: (mount / "token").unlink(), "token file does not exist"),
        (lambda mount: (mount / "token").write_text(""), "Token file exists but empty"),
        (lambda mount: (mount / "ca.crt").unlink(), "certification file does not exist"),
        (lambda mount: (mount / "ca.crt").write_text(""), "Cert file exists but empty"),
        (lambda mount: (mount / "token").write_bytes(b"\xff\xfe"), "cannot be used"),
    ],
)
def test_a_mount_that_is_not_whole_is_said(
    pod: pytest.MonkeyPatch,
    api: Api,
    mount: Path,
    spoil: Callable[[Path], object],
    said: str,
) -> None:
    """With the folder, in one line, and without a word of the token."""
    at(pod, api)
    spoil(mount)
    with pytest.raises(ClusterError, match=said) as refused:
        choose(None, None)
    assert str(mount) in refused.value.message
    assert "eyJ" not in str(refused.value)


def test_a_pod_without_a_token_says_what_switched_it_off(
    pod: pytest.MonkeyPatch, api: Api, mount: Path, tmp_path: Path
) -> None:
    """``automountServiceAccountToken: false`` is the usual reason."""
    at(pod, api)
    mount.rename(tmp_path / "elsewhere")
    with pytest.raises(ClusterError, match="no ServiceAccount is mounted") as refused:
        choose(None, None)
    assert "automountServiceAccountToken" in refused.value.hint


def test_outside_a_pod_nothing_changes(pod: pytest.MonkeyPatch) -> None:
    """Without the address of a kubelet a missing kubeconfig is what it was."""
    pod.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ClusterError, match="no kubeconfig"):
        choose(None, None)
    assert not in_pod({"KUBERNETES_SERVICE_HOST": "", "KUBERNETES_SERVICE_PORT": "443"})
    assert in_pod({"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"})


def test_an_ipv6_address_is_spelled_as_a_url_has_it(pod: pytest.MonkeyPatch) -> None:
    """In brackets."""
    pod.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    pod.setenv("KUBERNETES_SERVICE_PORT", "443")
    assert Connection(choose(None, None)).server == "https://[fd00::1]:443"
