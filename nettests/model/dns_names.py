"""The forms of names in the cluster's DNS, as templates over service, Pod, namespace and cluster domain.

Sources: "DNS for Services and Pods". Suites give them to ``NameForm``; ``probes.addresses`` fills them in.
"""

DEFAULT_DOMAIN = "cluster.local"
"""The cluster domain where it could not be discovered: Kubernetes' default."""
NAMESPACE_DOMAIN = "{namespace}.svc.{domain}"
"""What the names of all Services of a namespace end with."""
SERVICE_FQDN = "{service}." + NAMESPACE_DOMAIN
"""The form of a Service's name that resolves everywhere."""
HEADLESS_FQDN = "{subdomain}." + NAMESPACE_DOMAIN
"""Of the headless Service over all servers."""
POD_FQDN = "{pod}." + HEADLESS_FQDN
"""Of a server, which has its name below that Service's."""
KUBERNETES_FQDN = "kubernetes.default.svc.{domain}"
"""The API server's Service, which every cluster has."""
DOMAIN_ENDING = "{domain}"
"""How a form ends that is whole without a search list."""
DEFAULT_SEARCH = "default.svc.{domain}"
"""The search domain of Pods of the namespace ``default``."""


def absolute(template: str) -> str:
    """Return a whole name that no search list is applied to, by its final dot.

    Names of the cluster have fewer dots than ``ndots:5``: resolvers try each search domain before the name as it is, and a
    DNS that is silent costs their time-outs once for each (resolv.conf(5)).
    """
    return f"{template}." if is_whole(template) else template


def is_whole(template: str) -> bool:
    """Whether a form names one thing without a search list, unless a resolver applies it all the same."""
    return template.endswith(DOMAIN_ENDING)
