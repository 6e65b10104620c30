"""The forms of names in the cluster's DNS, as templates over service, Pod, namespace and cluster domain.

Sources: "DNS for Services and Pods". Suites give them to ``NameForm``; ``probes.addresses`` fills them in.
"""

DEFAULT_DOMAIN = "cluster.local"
"""Kubernetes' default cluster domain, which identifies no cluster."""
NAMESPACE_DOMAIN = "{namespace}.svc.{domain}"
"""The suffix of the names of all Services of a namespace."""
SERVICE_FQDN = "{service}." + NAMESPACE_DOMAIN
"""The form of a Service's name that resolves everywhere."""
HEADLESS_FQDN = "{subdomain}." + NAMESPACE_DOMAIN
"""The form of the headless Service's name over all servers."""
POD_FQDN = "{pod}." + HEADLESS_FQDN
"""The form of a server Pod's name, below the headless Service's."""
KUBERNETES_FQDN = "kubernetes.default.svc.{domain}"
"""The name of the API server's Service, which every cluster has."""
DOMAIN_ENDING = "{domain}"
"""The suffix of forms that are fully qualified without a search list."""
DEFAULT_SEARCH = "default.svc.{domain}"
"""The search domain of Pods of the namespace ``default``."""


def absolute(template: str) -> str:
    """Return a fully qualified name with a final dot, so that no search list is applied.

    Cluster names have fewer dots than ``ndots:5``: resolvers try each search domain before the name
    as it is, and silent DNS costs their time-outs for each (resolv.conf(5)).
    """
    return f"{template}." if is_whole(template) else template


def is_whole(template: str) -> bool:
    """Whether a form is fully qualified, even if a resolver may apply the search list to it."""
    return template.endswith(DOMAIN_ENDING)
