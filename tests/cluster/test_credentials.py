"""Credentials of every form that a kubeconfig has: sent as kubectl sends them, refused in plain words, never repeated."""

import base64
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import trustme
from click import Context, Group
from click.testing import CliRunner, Result
from kubernetes import client
from ruamel.yaml import YAML

from nettests.cli import main
from nettests.cluster import connect
from nettests.cluster.execute import Exec
from nettests.cluster.kubeconfig import choose
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.redaction import without_held
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig

SECRET = "planted-credential-8f3a"
VERSION = Reply(body={"gitVersion": "v1.34.1"})


def kubeconfig(folder: Path, server: str, user: dict[str, Any], **cluster: Any) -> Path:
    """Write a kubeconfig whose user has these fields."""
    file = write_kubeconfig(folder / "config", server)
    config = YAML(typ="safe").load(file)
    config["users"][0]["user"] = user
    config["clusters"][0]["cluster"] |= cluster
    YAML().dump(config, file)
    return file


def plugin(folder: Path, program: str, **entry: Any) -> dict[str, Any]:
    """Return a user with an exec plugin that runs this Python."""
    file = folder / "kubelogin"
    file.write_text(f"#!{sys.executable}\n{program}")
    file.chmod(0o755)
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": version, "command": str(file), **entry}}


def sent(folder: Path, user: dict[str, Any], **cluster: Any) -> dict[str, str]:
    """Return the headers of the first request that this user sends."""
    with serving(lambda _: VERSION) as api:
        connect(kubeconfig(folder, api.url, user, **cluster), None).close()
    return api.requests[0].headers


@pytest.mark.parametrize("written", [f"{SECRET}\n", f" {SECRET}\r\n"])
@pytest.mark.parametrize("field", ["token", "tokenFile"])
def test_blanks_around_a_token_are_no_part_of_it(tmp_path: Path, field: str, written: str) -> None:
    """Tools end files with a line feed; the header holds the token alone, and it is known as a secret."""
    (tmp_path / "token").write_text(written)
    value = written if field == "token" else "token"
    headers = sent(tmp_path, {field: value})
    assert headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in without_held(f"it says {SECRET}")


def test_a_token_file_goes_before_a_token(tmp_path: Path) -> None:
    """As in client-go, which renews the file's."""
    (tmp_path / "token").write_text(SECRET)
    headers = sent(tmp_path, {"token": "other", "tokenFile": str(tmp_path / "token")})
    assert headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_a_token_file_without_a_token_leaves_it_to_the_token(
    tmp_path: Path, content: str | None
) -> None:
    """A file that is missing or empty is no reason for client-go to send nothing."""
    if content is not None:
        (tmp_path / "token").write_text(content)
    headers = sent(tmp_path, {"token": SECRET, "tokenFile": str(tmp_path / "token")})
    assert headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("token", [f"{SECRET}\nx", f"{SECRET}é", f"{SECRET}\x00"])
def test_a_token_that_no_header_carries_is_refused_without_it(tmp_path: Path, token: str) -> None:
    """The message says what is wrong with the token, and holds none of it."""
    file = kubeconfig(tmp_path, "http://127.0.0.1:1", {"token": token})
    with pytest.raises(ClusterError, match="which no HTTP header carries") as caught:
        connect(file, None)
    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert not any(SECRET in str(error) for error in chain)


def test_a_missing_token_file_is_named(tmp_path: Path) -> None:
    """The path and the system's reason."""
    file = kubeconfig(tmp_path, "http://127.0.0.1:1", {"tokenFile": "gone"})
    with pytest.raises(ClusterError, match=r"the token file .*/gone .*No such file"):
        connect(file, None)


def test_impersonation_is_sent_with_every_request(tmp_path: Path) -> None:
    """User, uid, every group and every extra value, as client-go sends them."""
    user = {
        "token": "abc",
        "as": "system:serviceaccount:ops:tester",
        "as-uid": "7",
        "as-groups": ["ops", "night"],
        "as-user-extra": {"example.com/Why": ["a", "b"]},
    }
    headers: list[list[tuple[str, str]]] = []
    with serving(lambda _: VERSION) as api:
        connection = connect(kubeconfig(tmp_path, api.url, user), None)
        headers.append(list(connection.handshake("/exec", ()).headers))
        with connection.borrowed() as lent:
            sent_with = lent.param_serialize("GET", "/x", header_params={})[2]
        headers.append(list(sent_with.items()))
        connection.close()
    assert api.requests[0].headers["impersonate-user"] == "system:serviceaccount:ops:tester"
    for several in headers:
        told = [pair for pair in several if pair[0].startswith("Impersonate-")]
        assert told == [
            ("Impersonate-User", "system:serviceaccount:ops:tester"),
            ("Impersonate-Uid", "7"),
            ("Impersonate-Group", "ops"),
            ("Impersonate-Group", "night"),
            ("Impersonate-Extra-example.com%2FWhy", "a"),
            ("Impersonate-Extra-example.com%2FWhy", "b"),
        ]


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ({"token": "abc", "as-groups": ["ops"]}, "without as"),
        ({"token": "abc", "as": "x\ny"}, "a name to impersonate"),
        ({"auth-provider": {"name": "gcp"}}, "gcp was removed from Kubernetes' clients in 1.26"),
        ({"client-key-data": "%%%a"}, "client-key-data of the kubeconfig is not base64"),
    ],
)
def test_what_cannot_be_honoured_is_refused(
    tmp_path: Path, user: dict[str, Any], said: str
) -> None:
    """Nothing of a user entry is ignored."""
    file = kubeconfig(tmp_path, "http://127.0.0.1:1", user)
    with pytest.raises(ClusterError, match=said):
        connect(file, None)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; sys.exit('AADSTS70043: token=hunter2-planted expired')", "exit code 1: AADSTS70043"),
        ("print('no json')", "no ExecCredential"),
        ("print('{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {}}')", "no ExecCredential"),
        ("print('{\"apiVersion\": \"x/v1\", \"status\": {\"token\": \"abcd\"}}')", "answered in 'x/v1'"),
    ],
)  # fmt: skip
def test_a_plugin_that_fails_ends_the_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], program: str, said: str
) -> None:
    """It is named with its exit code and its message without secrets; no request is sent without a login."""
    with serving(lambda _: VERSION) as api:
        file = kubeconfig(tmp_path, api.url, plugin(tmp_path, program))
        with pytest.raises(ClusterError, match=said) as caught:
            connect(file, None)
    assert "helper 'kubelogin'" in str(caught.value)
    assert "hunter2" not in str(caught.value) + "".join(capfd.readouterr())
    assert api.requests == []


@pytest.mark.parametrize(
    ("command", "entry", "hint"),
    [
        ("gke-gcloud-auth-plugin", {}, "gcloud components install gke-gcloud-auth-plugin"),
        ("own-helper", {"installHint": "ask\nIT"}, "install it: ask IT"),
        ("own-helper", {}, "on the PATH"),
    ],
)
def test_a_missing_plugin_is_named_with_what_installs_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    entry: dict[str, Any],
    hint: str,
) -> None:
    """The kubeconfig's own hint first, else that of the managed cluster's documentation."""
    monkeypatch.setenv("PATH", str(tmp_path))
    user = plugin(tmp_path, "", **entry)
    user["exec"]["command"] = command
    with pytest.raises(ClusterError, match="cannot be started: No such file") as caught:
        connect(kubeconfig(tmp_path, "http://127.0.0.1:1", user), None)
    assert hint in caught.value.hint


GIVES = """
import json, os
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
print(json.dumps({"apiVersion": info["apiVersion"], "status": {"token": os.environ["WHICH"]}}))
"""


def test_a_plugin_s_token_is_sent_and_held_as_a_secret(tmp_path: Path) -> None:
    """It gets its variables and the request in its environment."""
    user = plugin(tmp_path, GIVES, env=[{"name": "WHICH", "value": SECRET}])
    assert sent(tmp_path, user)["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in without_held(base64.b64encode(SECRET.encode()).decode() + SECRET)


def test_embedded_keys_are_written_to_no_folder(tmp_path: Path) -> None:
    """Certificate and key are files in memory: nothing is left of them when the process is killed."""
    authority = trustme.CA()
    cert = authority.issue_cert("client")
    fields = {
        "client-certificate-data": cert.cert_chain_pems[0].bytes(),
        "client-key-data": cert.private_key_pem.bytes(),
    }
    user = {name: base64.b64encode(pem).decode() for name, pem in fields.items()}
    server = "https://127.0.0.1:1"
    configuration: client.Configuration = choose(
        kubeconfig(tmp_path, server, user), None
    ).configuration
    for path in (configuration.cert_file, configuration.key_file):
        assert path.startswith("/proc/self/fd/")
    assert Path(configuration.key_file).read_bytes() == cert.private_key_pem.bytes()


@pytest.mark.parametrize(("cluster", "proxied"), [({}, False), ({"proxy-url": "?"}, True)])
def test_a_loopback_server_has_a_proxy_only_if_the_kubeconfig_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: dict[str, str], *, proxied: bool
) -> None:
    """As Go's clients: the environment's is not used for loopback, ``proxy-url`` is."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serving(lambda _: VERSION) as proxy, serving(lambda _: VERSION) as api:
        to = dict.fromkeys(cluster, proxy.url)
        connect(kubeconfig(tmp_path, api.url, {"token": "abc"}, **to), None).close()
    assert (bool(proxy.requests), bool(api.requests)) == (proxied, not proxied)


COMMANDS = (
    *(["discover"], ["preflight"], ["plan"], ["render"], ["diagnose"], ["gc"], ["images"]),
    *(["explain", "x/api"], ["trace", "x/api"], ["calibrate"], ["job", "logs", "x"]),
    *(["job", "fetch", "x"], ["job", "apply", "--image=x"], ["forecast", "--to=kubernetes=1.36"]),
    *(["run"], ["watch", "--for=1m"], ["list", "checks"]),
)
"""Every command that takes a kubeconfig."""
PRINTS = f"""
import json, sys
print("login as {SECRET}", file=sys.stderr)
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "status": {{"token": "{SECRET}"}}}}))
"""
FAILS = f"""
import sys
print('{{"token": "{SECRET}"}} password={SECRET}', file=sys.stderr)
sys.exit(1)
"""
FORMS = (
    "token",
    "token of two lines",
    "token that no header carries",
    "token file",
    "name and password",
    "key",
    "key that is none",
    "impersonation",
    "plugin's token",
    "plugin's variable",
    "plugin that fails",
    "address of the server",
    "address of a proxy",
)
Form = tuple[dict[str, Any], dict[str, Any], str]


def forms(folder: Path, proxy: str = "127.0.0.1:9") -> dict[str, Form]:
    """Return users and clusters of kubeconfigs that hold the secret, with what stands before the server's name."""
    (folder / "token").write_text(f"{SECRET}\n")
    key = base64.b64encode(f"-----BEGIN PRIVATE KEY-----\n{SECRET}".encode()).decode()
    proxied = {"proxy-url": f"http://me:{SECRET}@{proxy}"}
    variable = {"env": [{"name": "WHICH", "value": SECRET}], "args": ["--quiet"]}
    return {
        "token": ({"token": SECRET}, {}, ""),
        "token of two lines": ({"token": f"{SECRET}\nx"}, {}, ""),
        "token that no header carries": ({"token": f"{SECRET}é"}, {}, ""),
        "token file": ({"tokenFile": str(folder / "token")}, {}, ""),
        "name and password": ({"username": "me", "password": SECRET}, {}, ""),
        "key": ({"client-key-data": key, "client-certificate-data": key}, {}, ""),
        "key that is none": ({"client-key-data": f"%{SECRET}"}, {}, ""),
        "impersonation": ({"token": SECRET, "as": "ops", "as-groups": ["ops"]}, {}, ""),
        "plugin's token": (plugin(folder, PRINTS), {}, ""),
        "plugin's variable": (plugin(folder, GIVES, **variable), {}, ""),
        "plugin that fails": (plugin(folder, FAILS), {}, ""),
        "address of the server": ({"token": "abcd"}, {}, f"me:{SECRET}@"),
        "address of a proxy": ({"token": "abcd"}, proxied, ""),
    }


def test_the_commands_are_all_that_take_a_kubeconfig() -> None:
    """A command that is added is tested too."""
    context = Context(main)
    job = main.get_command(context, "job")
    assert isinstance(job, Group)
    listed = {
        name
        for group in (main, job)
        for name in group.list_commands(context)
        if (command := group.get_command(context, name)) is not None
        and any("--kubeconfig" in option.opts for option in command.params)
    }
    assert listed == {command[1] if command[0] == "job" else command[0] for command in COMMANDS}


def test_every_form_is_tried(tmp_path: Path) -> None:
    """The list of their names, which parametrizes the next test, is complete."""
    assert tuple(forms(tmp_path)) == FORMS


@pytest.mark.parametrize("form", FORMS)
def test_no_command_repeats_a_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """Not on the terminal and in no file, where the server repeats the credential in all that it refuses."""

    def echo(request: Request) -> Reply:
        if request.path == "/version":
            return VERSION
        text = f"no rights for {request.headers.get('authorization')} {repeated}"
        return status(403, "Forbidden", text)

    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with serving(echo) as api:
        user, cluster, before = forms(tmp_path, api.url.removeprefix("http://"))[form]
        repeated = user.get("client-key-data", SECRET)
        file = kubeconfig(tmp_path, api.url.replace("//", f"//{before}"), user, **cluster)
        for command in COMMANDS:
            done: Result = CliRunner().invoke(main, [*command, "--kubeconfig", str(file)])
            shown = done.output + str(done.exception) + repr(done.exception)
            assert done.exit_code not in {0, 2, None}, command
            assert SECRET not in shown, command
            assert repeated not in shown, command
            assert base64.b64encode(SECRET.encode()).decode() not in shown, command
    for path in work.rglob("*"):
        assert not path.is_file() or SECRET not in path.read_text(errors="replace"), path


def test_frames_without_content_do_not_hold_an_exec(tmp_path: Path) -> None:
    """Empty messages that drip for ever restart no time-out."""
    over = threading.Event()

    def answer(request: Request) -> Reply:
        if "/exec" not in request.path:
            return VERSION
        return Reply(frames=drip(over))

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        execute = Exec(connection, "ns", "probe-1", "c", threading.Semaphore())
        try:
            with pytest.raises(ChannelError, match="did not end within"):
                execute.run(["hostname"], timeout=0.5)
        finally:
            over.set()
            connection.close()


class drip(tuple[bytes, ...]):  # noqa: N801 - stands for a tuple of frames
    """Frames of an empty message each, one every 50 ms until it is over."""

    __slots__ = ()
    _over: threading.Event

    def __new__(cls, over: threading.Event) -> "drip":
        made = super().__new__(cls)
        cls._over = over
        return made

    def __iter__(self) -> Any:
        while not self._over.wait(0.05):
            yield b"\x82\x00"
