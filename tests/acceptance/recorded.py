"""What was created on a lab since a moment: the history that its API server's watches replay.

Reached over HTTPS as any client may; nothing of the harness or the lab is imported.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Self

import requests
from kubernetes import config

from nettests.model.json_text import Object


@dataclass(slots=True)
class Record:
    """The API server of a lab, and what its objects were when the record began."""

    session: requests.Session
    server: str
    certificate: Path
    since: dict[str, str] = field(default_factory=dict)

    @classmethod
    def begin(cls, kubeconfig: str) -> Self:
        """Note the present version of every collection that can be watched."""
        with config.new_client_from_config(kubeconfig) as api:
            given = api.configuration
            certificate = Path(given.ssl_ca_cert).read_bytes()
            headers = {"Authorization": given.auth_settings()["BearerToken"]["value"]}
            server = given.host
        with NamedTemporaryFile(delete=False, suffix=".crt") as file:
            file.write(certificate)
        session = requests.Session()
        session.trust_env = False
        session.headers.update(headers)
        record = cls(session=session, server=server, certificate=Path(file.name))
        for path in record.collections():
            record.since[path] = record.get(path)["metadata"]["resourceVersion"]
        return record

    def close(self) -> None:
        """Close the connections."""
        self.session.close()
        self.certificate.unlink()

    def get(self, path: str, **query: str) -> Object:
        """Read something."""
        answer = self.session.get(
            f"{self.server}{path}", params=query, verify=str(self.certificate), timeout=30
        )
        answer.raise_for_status()
        found: Object = answer.json()
        return found

    def create(self, path: str, item: Object, **query: str) -> Object:
        """Create an object, or try to with ``dryRun``; the answer is the object with its defaults."""
        answer = self.session.post(
            f"{self.server}{path}",
            params=query,
            json=item,
            verify=str(self.certificate),
            timeout=30,
        )
        assert answer.ok, answer.text
        made: Object = answer.json()
        return made

    def collections(self) -> Iterator[str]:
        """Yield the path of every kind of object that the API server lets one watch."""
        groups = [group["preferredVersion"] for group in self.get("/apis")["groups"]]
        for prefix in ("/api/v1", *(f"/apis/{group['groupVersion']}" for group in groups)):
            for resource in self.get(prefix)["resources"]:
                if "watch" in resource["verbs"]:
                    yield f"{prefix}/{resource['name']}"

    def created(self) -> Iterator[Object]:
        """Yield everything that was created since the record began, as it was stored first."""
        for path, version in self.since.items():
            answer = self.session.get(
                f"{self.server}{path}",
                params={"watch": "1", "resourceVersion": version, "timeoutSeconds": "1"},
                verify=str(self.certificate),
                timeout=30,
            )
            for line in answer.text.splitlines():
                event = json.loads(line)
                assert event["type"] != "ERROR", event
                if event["type"] == "ADDED":
                    yield event["object"]
