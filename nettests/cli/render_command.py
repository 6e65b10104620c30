"""``nettests render``: every object that a run would create, for review or for GitOps.

Uses the same functions as deployment. Reads the cluster; nothing is created.
"""

import click

from nettests import probes, terminal
from nettests.cli.discover_commands import planned_on
from nettests.cli.help import Command
from nettests.cli.options import CHECKS, CLUSTER, IDS, IMAGES, PULL, CommonOptions, cluster_options
from nettests.cluster.ownership import lease_object
from nettests.model.yaml_writing import write_yaml
from nettests.session.holding import ownership
from nettests.session.prepare import blank_of
from nettests.session.report_dir import new_run_id

_WITHOUT_ADDRESSES = "in a run with the addresses of its pods, and owned by the Service"


@click.command(
    cls=Command, example="nettests render --kubeconfig ~/.kube/config --namespace=net-tests"
)
@cluster_options(CLUSTER, IMAGES, PULL, CHECKS, IDS)
def render(*, common: CommonOptions) -> None:
    """Print every object that a run would create.

    Objects are printed in the order of creation, with a comment on what they expose.

    The last ones are short-lived: Pods that pull images, and Pods of single checks. Services that disruptive
    checks recreate are printed as they are created first.
    """
    profile, blueprint = planned_on(common)
    facts, run_id = blueprint.facts, new_run_id()
    marks = ownership(run_id)
    namespace = facts.namespace or f"nettests-{run_id}"
    blank = blank_of(marks.labels, profile, facts, namespace)
    items = [marks.marked(item) for item in probes.rendered(blueprint.plan, facts, blank)]
    if items:
        lease = lease_object(marks, namespace, profile.timing.lease)
        items.insert(0 if blank.existing else 1, lease)
    ports = probes.exposed_ports(items)
    for item in items:
        subject = f"{item['kind']} {item['metadata']['name']}"
        terminal.line("---")
        for port in ports:
            if port.object == subject:
                terminal.line(
                    f"# exposed: {port.way} leads to {port.protocol} {port.port}, {port.server}"
                )
        if item["kind"] == "EndpointSlice":
            terminal.line(f"# {_WITHOUT_ADDRESSES}")
        # Control characters are escaped; the YAML keeps its meaning.
        terminal.block(write_yaml(_without_secrets(item), ascii_only=True))


def _without_secrets(item: probes.Object) -> probes.Object:
    """Return an object without a Secret's content, which stays in the user's file."""
    if item["kind"] != "Secret":
        return item
    return {**item, "data": dict.fromkeys(item["data"], "")}
