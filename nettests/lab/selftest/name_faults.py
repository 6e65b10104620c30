"""Named DNS faults: the cluster's DNS server and the resolver settings of Pods. Values."""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE, EVERYWHERE, NAMES, OLD_BRIDGE, OVERLAY

_SILENCE = (
    NamedFault(
        name="dns-down",
        summary="packets to the DNS are lost",
        profiles=EVERYWHERE,
        injections=inject("dns-down"),
        must=(
            Checks(flow="dns-via-service"),
            Checks(flow="dns-via-pod"),
            Checks(flow="pod-to-service-fqdn"),
            Checks(flow="pod-to-external-dns"),
        ),
        may=NAMES,
        names=("dns",),
    ),
    NamedFault(
        name="dns-tcp-lost",
        summary="TCP packets to the DNS are lost, UDP passes",
        profiles=(BRIDGE,),
        injections=inject("dns-down", protocol="tcp"),
        must=(Checks(flow="dns-via-service", protocol="tcp"),),
        may=(Checks(flow="dns-via-*", protocol="tcp"),),
        names=("dns", "tcp"),
    ),
    NamedFault(
        name="dns-loses-queries",
        summary="the DNS loses one packet of three",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("dns-down", rate=0.33),
        must=(Checks(flow="dns-*"),),
        may=NAMES,
        names=("dns",),
    ),
    NamedFault(
        name="dns-slow",
        summary="the DNS answers after 6 s",
        profiles=(BRIDGE,),
        injections=inject("dns-slow", seconds=6),
        must=(Checks(flow="dns-via-service"), Checks(flow="pod-to-service-fqdn")),
        may=NAMES,
        names=("dns",),
    ),
    NamedFault(
        name="dns-late",
        summary="the DNS answers after 3 s, sooner than resolvers query again",
        profiles=(BRIDGE,),
        injections=inject("dns-slow", seconds=3),
        must=(Checks(flow="pod-to-service-fqdn"), Checks(flow="pod-to-pod-name")),
        may=NAMES,
        names=("dns", "answered only after"),
    ),
    NamedFault(
        name="dns-upstream-down",
        summary="the resolver that the DNS forwards to is out of reach",
        profiles=(BRIDGE,),
        injections=inject("dns-upstream-down"),
        must=(Checks(flow="pod-to-external-dns"),),
        may=(
            *(
                Checks(flow=flow)
                for flow in ("dns-policy-*", "service-external-name", "node-to-external-name")
            ),
        ),
        names=("external|outside|out of the cluster|dns",),
    ),
)

_LIES = (
    NamedFault(
        name="dns-wildcard",
        summary="names that do not exist resolve to an address outside",
        profiles=(BRIDGE, OLD_BRIDGE),
        injections=inject("dns-wildcard"),
        must=(Checks(flow="dns-no-such-name"),),
        may=NAMES,
        names=("dns", "dns-no-such-name|wrongly|resolve"),
    ),
    NamedFault(
        name="dns-replica-wrong",
        summary="one of two DNS replicas denies all names",
        profiles=(BRIDGE,),
        injections=inject("dns-replica-wrong"),
        must=(Checks(flow="dns-via-service"), Checks(flow="pod-to-service-fqdn")),
        may=NAMES,
        names=("dns",),
    ),
    NamedFault(
        name="dns-frozen",
        summary="the DNS takes no news: Services of a run have no names",
        profiles=(BRIDGE,),
        injections=inject("dns-frozen"),
        must=(Checks(flow="pod-to-service-fqdn"), Checks(flow="service-headless")),
        may=NAMES,
        names=("dns",),
    ),
    NamedFault(
        name="suffixes-wrong",
        summary="win-1's kubelet gives Pods the suffixes of another cluster domain",
        profiles=(BRIDGE,),
        injections=inject("wrong-cluster-domain", node="win-1"),
        must=(Checks(flow="pod-to-service-pqdn", source="win-1"),),
        may=(
            Checks(flow="pod-to-service-p*", source="win-1"),
            Checks(flow="pod-to-service-pqdn", source="win-1"),
            Checks(flow="dns-*", source="win-1"),
            Checks(flow="stateful-set-names", node="win-1"),
            Checks(flow="pod-hostname-fqdn", node="win-1"),
            Checks(id="windows-component-configuration/*/kubelet-cluster-domain"),
            Checks(id="hns-configuration/*/pod-dns-settings"),
        ),
        names=("dns", "win-1|windows"),
    ),
    NamedFault(
        name="suffixes-wrong-on-second-node",
        summary="win-2's kubelet gives Pods the suffixes of another cluster domain",
        profiles=(BRIDGE,),
        injections=inject("wrong-cluster-domain", node="win-2"),
        must=(Checks(flow="pod-to-service-pqdn"),),
        may=(Checks(node="win-2"),),
        names=("search list|dns", "win-2"),
    ),
    NamedFault(
        name="suffixes-wrong-on-linux",
        summary="linux-1's kubelet gives Pods the suffixes of another cluster domain",
        profiles=(OLD_BRIDGE,),
        injections=inject("wrong-cluster-domain", node="linux-1"),
        must=(Checks(flow="pod-to-service-pqdn", source="linux-1"),),
        may=(
            Checks(flow="pod-to-service-p*", source="linux-1"),
            Checks(flow="pod-to-service-pqdn", source="linux-1"),
            Checks(flow="dns-*", source="linux-1"),
            Checks(flow="stateful-set-names", node="linux-1"),
            Checks(flow="pod-hostname-fqdn", node="linux-1"),
        ),
        names=("dns", "linux-1|linux"),
    ),
)

NAME_FAULTS = (*_SILENCE, *_LIES)
