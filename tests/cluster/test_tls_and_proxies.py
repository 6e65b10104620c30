"""Whom exec and port-forward trust, whose name they show, and through which proxy they go."""

from pathlib import Path

import pytest
import trustme
from ruamel.yaml import YAML

from nettests.model.channel import ChannelError
from tests.cluster.api import serving, write_kubeconfig
from tests.cluster.opening import ENDED, Connected, run, tls
from tests.cluster.proxy import proxying

pytestmark = pytest.mark.usefixtures("quick_handshakes")


def with_settings(file: Path, **settings: object) -> Path:
    """Change the cluster or the user of a kubeconfig; ``_`` stands for ``-``."""
    config = YAML(typ="safe").load(file)
    for key, value in settings.items():
        name = key.replace("_", "-")
        of = config["users"][0]["user"] if "client" in name else config["clusters"][0]["cluster"]
        of[name] = value
    YAML().dump(config, file)
    return file


def test_a_stream_trusts_the_kubeconfigs_authority(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """A server whose certificate it signed is reached over TLS."""
    with serving(lambda _: ENDED, tls(authority)) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        assert run(connected(file), 5) == "out"


def test_a_stream_trusts_nobody_else(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """Another's certificate is refused, at once; a kubeconfig may say that any will do."""
    with serving(lambda _: ENDED, tls(trustme.CA())) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        with pytest.raises(ChannelError, match="certificate verify failed"):
            run(connected(file), 5)
        plain = write_kubeconfig(tmp_path / "insecure", api.url)
        with_settings(plain, insecure_skip_tls_verify=True)
        assert run(connected(plain), 5) == "out"


def test_a_renewed_authority_is_trusted_by_the_next_stream(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """A long watch outlives certificates, which are renewed in the files that the kubeconfig names."""
    pem = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(pem))
    with serving(lambda _: ENDED, tls(authority)) as api:
        file = with_settings(
            write_kubeconfig(tmp_path / "k", api.url), certificate_authority=str(pem)
        )
        connection = connected(file)
        with pytest.raises(ChannelError, match="certificate verify failed"):
            run(connection, 5)
        authority.cert_pem.write_to_path(str(pem))
        assert run(connection, 5) == "out"


def test_a_stream_requests_the_name_that_the_kubeconfig_says(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """``tls-server-name`` is the name in the certificate of a server that is reached by address."""
    with serving(lambda _: ENDED, tls(authority, "kubernetes.example")) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        with pytest.raises(ChannelError, match=r"certificate is not valid for '127\.0\.0\.1'"):
            run(connected(file), 5)
        with_settings(file, tls_server_name="kubernetes.example")
        assert run(connected(file), 5) == "out"


def test_a_stream_shows_the_kubeconfigs_certificate(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """A server that queries who is there lets in whom the authority has signed."""
    mine = authority.issue_cert("user@example.org")
    mine.private_key_pem.write_to_path(tmp_path / "key")
    mine.cert_chain_pems[0].write_to_path(tmp_path / "crt")
    with serving(lambda _: ENDED, tls(authority, actions=True)) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        with pytest.raises(ChannelError):
            run(connected(file), 5)
        with_settings(
            file, client_certificate=str(tmp_path / "crt"), client_key=str(tmp_path / "key")
        )
        assert run(connected(file), 5) == "out"


@pytest.mark.parametrize("said", ["kubeconfig", "environment"])
@pytest.mark.parametrize("secure", [True, False])
def test_a_stream_goes_through_the_proxy(
    tmp_path: Path,
    connected: Connected,
    monkeypatch: pytest.MonkeyPatch,
    authority: trustme.CA,
    *,
    said: str,
    secure: bool,
) -> None:
    """Of the kubeconfig or the environment, as other requests; TLS is with the server behind it."""
    context = tls(authority, "kubernetes.invalid") if secure else None
    with serving(lambda _: ENDED, context) as api, proxying(api.url) as proxy:
        scheme, port = api.url.split(":")[0], api.url.rsplit(":")[-1]
        file = write_kubeconfig(
            tmp_path / "k",
            f"{scheme}://kubernetes.invalid:{port}",
            ca=authority.cert_pem.bytes(),
        )
        address = proxy.url.replace("//", "//me:pass@")
        if said == "kubeconfig":
            with_settings(file, proxy_url=address)
        else:
            monkeypatch.setenv(f"{scheme}_proxy", address)
        assert run(connected(file), 5) == "out"
    assert proxy.probed == [f"kubernetes.invalid:{port}"]
    assert proxy.credentials == ["Basic bWU6cGFzcw=="]


def test_a_proxy_may_speak_tls_itself(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """Around the TLS of the server; it is trusted as the server is."""
    behind = tls(authority, "kubernetes.invalid")
    with serving(lambda _: ENDED, behind) as api, proxying(api.url, tls(authority)) as proxy:
        url = "https://kubernetes.invalid:1"
        file = write_kubeconfig(tmp_path / "k", url, ca=authority.cert_pem.bytes())
        with_settings(file, proxy_url=proxy.url)
        assert run(connected(file), 5) == "out"
    assert proxy.probed == ["kubernetes.invalid:1"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
def test_a_stream_goes_past_a_proxy_that_is_not_for_it(
    tmp_path: Path, connected: Connected, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """What ``NO_PROXY`` names is reached directly; loopback always is."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.2/32")
    with serving(lambda _: ENDED) as api, proxying(api.url) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        url = api.url.replace("127.0.0.1", host)
        file = write_kubeconfig(tmp_path / "k", url)
        if host == "127.0.0.1":
            assert run(connected(file), 5) == "out"
        else:  # nobody listens there
            with pytest.raises(ChannelError, match="refused"):
                run(connected(file), 5)
    assert proxy.probed == []


@pytest.mark.parametrize("refuses", [407, 503])
def test_a_proxy_that_refuses_is_said_by_its_status(
    tmp_path: Path, connected: Connected, refuses: int
) -> None:
    """The proxy's address may hold a password, and is not shown."""
    with proxying("http://127.0.0.1:9", refuses=refuses) as proxy:
        file = write_kubeconfig(tmp_path / "k", "http://kubernetes.invalid:1")
        with_settings(file, proxy_url=proxy.url.replace("//", "//me:secret@"))
        with pytest.raises(ChannelError, match=f"proxy of the API server answered {refuses}"):
            run(connected(file), 5)


def test_a_proxy_that_streams_cannot_use_is_said_without_its_password(
    tmp_path: Path, connected: Connected
) -> None:
    """SOCKS leaves the other channels: requests know it, streams do not."""
    file = write_kubeconfig(tmp_path / "k", "http://kubernetes.invalid:1")
    with_settings(file, proxy_url="socks5://me:secret@127.0.0.1:1")
    with pytest.raises(ChannelError, match=r"was not opened: .*SOCKS") as raised:
        run(connected(file), 5)
    assert "secret" not in raised.value.message
