"""An emulated mixed Kubernetes cluster in network namespaces, with real packets.

A separate product: it imports nothing of the harness, and the harness knows it only through a
kubeconfig and a cluster profile. Outcomes come from mechanisms (routes, nftables, conntrack, VXLAN), never
from tables of limitations. ``LIMITS.md`` beside this file says where the emulation is not faithful.

    cli            the command line
    lifecycle      start, run and end a lab
    folders        where running labs are noted, and how they are told what to do
    topology       which cluster: values, profile files, switched mechanisms
    installers     what a cluster holds before any user comes
    kubeconfig     with what others enter it
    apiserver      the Kubernetes API;  client  how components use it
    controllers    scheduler, endpoints, workloads, service proxies
    node           kubelets;  programs  what runs in containers;  dns  names
    network        packets: namespaces, switches, rules of Services
    outside        the world around the cluster
    faults         what can be broken;  selftest  whether the harness notices

``interfaces``, the seams between these, and ``errors`` belong to none of them.
"""
