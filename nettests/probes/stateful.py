"""StatefulSets of single checks: whether a deleted Pod is recreated under its name.

``starting`` creates and removes them, ``workloads`` puts the set around a Pod. ``parse.start`` reads the record.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from nettests.model.channel import ExecAnswer
from nettests.model.cluster_profile import Timing
from nettests.model.dns_names import POD_FQDN
from nettests.model.facts import ClusterFacts
from nettests.model.json_text import Object
from nettests.parse import start
from nettests.probes.addresses import domain_of
from nettests.probes.pending import RESOLVER_SECONDS
from nettests.probes.seams import Pods

PAUSE = 1.0


def member(item: Object) -> Object:
    """Return the one Pod of a StatefulSet, under its stable name."""
    template, metadata = item["spec"]["template"], item["metadata"]
    named = {
        **template["metadata"],
        "name": f"{metadata['name']}-0",
        "namespace": metadata["namespace"],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": template["spec"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """Deletes a set's Pod and inspects its replacement."""

    pods: Pods
    facts: ClusterFacts
    timing: Timing
    run: Callable[[tuple[str, ...]], ExecAnswer]
    """Runs a process in the Pod's first container."""

    def look(self, item: Object, pod: Object, service: str) -> Object:
        """Return the hostname and DNS record of the Pod that replaces the deleted one."""
        namespace, name = item["metadata"]["namespace"], item["metadata"]["name"]
        before = pod["metadata"]["uid"]
        self.pods.delete_pod(namespace, name)
        self.pods.wait_gone(namespace, name, seconds=self.timing.stuck, uid=before)
        after = self.pods.follow_pod(
            namespace,
            name,
            settled=lambda now: now["metadata"]["uid"] != before and start.started(now),
            seconds=self.timing.ready,
            stuck=self.timing.stuck,
        )
        record = {"name": name, "uids": [before, after["metadata"]["uid"]]}
        if not start.started(after):
            return {**record, "stays": "the Pod that came in its place is not Ready"}
        address = str(after["status"].get("podIP"))
        probed = POD_FQDN.format(
            pod=name, subdomain=service, namespace=namespace, domain=domain_of(self.facts)
        )
        return {
            **record,
            "address": address,
            "hostname": self.run(("hostname",)).stdout.strip(),
            "lookup": self._lookup(probed, address),
        }

    def _lookup(self, probed: str, address: str) -> Object:
        """Query DNS until the name leads to the Pod: caches keep answers for up to 30 s.

        A resolver that is silent for this long has repeated its query, so nothing was cached.
        """
        deadline = time.monotonic() + min(self.timing.names_cached, self.timing.convergence)
        while True:
            began = time.monotonic()
            got = self.run(("nslookup", probed))
            silent = got.exit_code != 0 and time.monotonic() - began >= RESOLVER_SECONDS
            if address in got.stdout or silent or time.monotonic() > deadline:
                return {"asked": probed, "stdout": got.stdout, "stderr": got.stderr}
            time.sleep(PAUSE)
