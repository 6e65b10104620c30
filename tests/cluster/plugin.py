"""An exec plugin that gives tokens, and a server that accepts one of them at a time."""

import sys
from collections.abc import Iterable
from pathlib import Path

from ruamel.yaml import YAML

from tests.cluster.api import Api, Reply, Request, status, write_kubeconfig

VERSION = Reply(body={"gitVersion": "v1.29.4"})
PLUGIN = """
import json, pathlib, sys
count = pathlib.Path(sys.argv[1])
number = int(count.read_text() or 0) + 1 if count.exists() else 1
count.write_text(str(number))
status = {"token": "t" + str(min(number, int(sys.argv[2])))}
if sys.argv[3:]:
    status["expirationTimestamp"] = sys.argv[3]
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1",
                  "kind": "ExecCredential", "status": status}))
"""
"""Gives tokens t1, t2 … up to a last one, and counts how often it ran."""


class Server:
    """Accepts one token at a time and answers by a list."""

    def __init__(self, accepted: str = "t1", replies: Iterable[Reply] = ()) -> None:
        self.accepted = accepted
        self.replies = iter(replies)

    def __call__(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {self.accepted}":
            return status(401, "Unauthorized", "Unauthorized")
        if request.path == "/version":
            return VERSION
        return next(self.replies, Reply(body={"kind": "Node"}))


def with_plugin(tmp_path: Path, api: Api, *, last: int, expires: str = "") -> Path:
    """Write a kubeconfig whose user is an exec plugin."""
    file = write_kubeconfig(tmp_path / "k", api.url)
    program = tmp_path / "plugin.py"
    program.write_text(PLUGIN)
    arguments = [str(program), str(tmp_path / "count"), str(last), *([expires] if expires else [])]
    config = YAML(typ="safe").load(file)
    config["users"][0]["user"] = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": arguments,
            "interactiveMode": "Never",
        }
    }
    YAML().dump(config, file)
    return file
