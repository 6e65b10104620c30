"""The forms of names in the cluster's DNS, as templates over service, Pod, namespace and cluster domain.

Sources: "DNS for Services and Pods". Suites give them to ``NameForm``; ``probes.addresses`` fills them in.
"""

DEFAULT_DOMAIN = "cluster.local"
"""Kubernetes' default, which stands in for no cluster's own: only texts that anybody may know are told by it."""
NAMESPACE_DOMAIN = "{namespace}.svc.{domain}"
"""The suffix of the names of all Services of a namespace."""
SERVICE_FQDN = "{service}." + NAMESPACE_DOMAIN
"""The form of a Service's name that resolves everywhere."""
HEADLESS_FQDN = "{subdomain}." + NAMESPACE_DOMAIN
"""Of the headless Service over all servers."""
POD_FQDN = "{pod}." + HEADLESS_FQDN
"""Of a server, which has its name below that Service's."""
KUBERNETES_FQDN = "kubernetes.default.svc.{domain}"
"""The API server's Service, which every cluster has."""
DOMAIN_ENDING = "{domain}"
"""The suffix of forms that are fully qualified without a search list."""
DEFAULT_SEARCH = "default.svc.{domain}"
"""The search domain of Pods of the namespace ``default``."""


def absolute(template: str) -> str:
    """Return a fully qualified name with a final dot, so that no search list is applied.

    Names of the cluster have fewer dots than ``ndots:5``: resolvers try each search domain before the name as it is, and a
    DNS that is silent costs their time-outs once for each (resolv.conf(5)).
    """
    return f"{template}." if is_whole(template) else template


def is_whole(template: str) -> bool:
    """Whether a form is fully qualified, even if a resolver may apply the search list to it."""
    return template.endswith(DOMAIN_ENDING)
