"""Default ports of Kubernetes, its components and VXLAN that several modules use.

Ports of the probes are set where their objects are created (``probes.objects``).
"""

KUBE_PROXY_HEALTH = 10256
"""kube-proxy's ``healthzBindAddress``; ``--forward-healthcheck-vip`` serves it on balancers."""
KUBE_PROXY_METRICS = 10249
"""kube-proxy's ``metricsBindAddress``, on the loopback address."""
NODE_PORTS = range(30000, 32768)
"""The API server's default; ``--service-node-port-range`` changes it."""
VXLAN = 4789
"""The assigned UDP port (RFC 7348, section 5), the only one that Windows uses for VXLAN."""
VXLAN_OF_LINUX = 8472
"""The port that Linux used before; Flannel's default there."""
FIRST_VNI = 4096
"""The first VXLAN network id (VNI) that Windows accepts."""
GENEVE = 6081
"""The assigned UDP port (RFC 8926), which Antrea and OVN use."""
