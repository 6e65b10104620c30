"""An emulated mixed Kubernetes cluster in network namespaces, with real packets.

A separate product: it imports nothing of the harness, and the harness knows it only through a
kubeconfig and a cluster profile. Outcomes come from mechanisms (routes, nftables, conntrack, VXLAN), never
from tables of limitations. ``LIMITS.md`` beside this file lists where the emulation is not faithful.

    cli            the command line
    lifecycle      start, run and stop a lab
    folders        records of running labs, and their control sockets
    topology       the emulated cluster: values, profile files, switched mechanisms
    installers     the objects of a new cluster
    kubeconfig     credentials for users of the lab
    apiserver      the Kubernetes API;  client  how components use it
    controllers    scheduler, endpoints, workloads, service proxies
    node           kubelets;  programs  what runs in containers;  dns  names
    network        packets: namespaces, switches, rules of Services
    outside        the external host and proxies
    faults         faults to inject;  selftest  whether the harness detects them

``interfaces`` has the protocols between these packages.
"""
