"""What is left out where the cluster's DNS domain is not known before Pods stand."""

from dataclasses import replace

from nettests.model.facts import unknown
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import mixed


def test_a_pod_with_a_search_list_of_its_own_needs_the_clusters_domain() -> None:
    """The list is a part of the Pod; all other names are looked up once Pods have told the domain."""
    facts = replace(mixed(), cluster_domain=unknown("no Corefile"))
    names = ("dns-policy-none", "dns-other-namespace")
    flows = [flow for flow in load([suites_path()]).flows if flow.name in names]
    why = {skip.id: skip.reason for skip in build(facts, flows).skips}
    assert {skip.split("/")[0] for skip in why} == {"dns-policy-none"}
    assert all("domain is not known: no Corefile" in reason for reason in why.values())
