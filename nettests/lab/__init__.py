"""An emulated mixed Kubernetes cluster in network namespaces, with real packets.

A separate product: it imports nothing of the harness, and the harness knows it only through a
kubeconfig and a cluster profile. ``topology`` holds its values, ``interfaces`` the seams between its
parts. Outcomes come from mechanisms (routes, nftables, conntrack, VXLAN), never from tables of
limitations. ``LIMITS.md`` beside this file says where the emulation is not faithful.
"""
