"""Default port numbers of Kubernetes, its components and VXLAN that several modules use.

The ports of the probes themselves are chosen where their objects are made (``probes.objects``).
"""

KUBE_PROXY_HEALTH = 10256
"""kube-proxy's ``healthzBindAddress``; ``--forward-healthcheck-vip`` makes it answer at load balancers' addresses."""
KUBE_PROXY_METRICS = 10249
"""kube-proxy's ``metricsBindAddress``, with the loopback address."""
NODE_PORTS = range(30000, 32768)
"""The API server's default; another range is set by ``--service-node-port-range``."""
VXLAN = 4789
"""The assigned UDP port (RFC 7348, section 5), and the only one that Windows uses for VXLAN."""
VXLAN_OF_LINUX = 8472
"""The port that Linux used before, and Flannel's default there."""
FIRST_VNI = 4096
"""Windows takes VXLAN network ids from here on."""
GENEVE = 6081
"""The assigned UDP port (RFC 8926), which Antrea and OVN use."""
