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
DEFAULT_SEARCH = "default.svc.{domain}"
"""The search domain of Pods of the namespace ``default``."""
