"""Validation of pods, Services and names, in the words of the API server."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from nettests.lab.apiserver import ApiSettings, defaults, pod_validation, services, validation
from nettests.lab.apiserver.status import FieldError

Json = dict[str, Any]


def _pod(**spec: Any) -> Json:
    pod = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i:1"}], **copy.deepcopy(spec)},
    }
    defaults.fill_pod(pod)
    return pod


def _texts(errors: Sequence[FieldError]) -> list[str]:
    return [f"{error.field}: {error.text}" for error in errors]


def _container(**fields: Any) -> Json:
    return {"containers": [{"name": "c", "image": "i:1", **fields}]}


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        ({"containers": [{"name": "c"}]}, "spec.containers[0].image: Required value"),
        ({"containers": [{"image": "i"}]}, "spec.containers[0].name: Required value"),
        (
            {"containers": [{"name": "c", "image": "i"}] * 2},
            'spec.containers[1].name: Duplicate value: "c"',
        ),
        (
            _container(volumeMounts=[{"name": "v", "mountPath": "/m"}]),
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        (
            _container(ports=[{"containerPort": 70000}]),
            (
                "spec.containers[0].ports[0].containerPort: Invalid value: 70000: "
                "must be between 1 and 65535, inclusive"
            ),
        ),
        (
            _container(ports=[{"containerPort": 80, "protocol": "ICMP"}]),
            (
                'spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": '
                'supported values: "SCTP", "TCP", "UDP"'
            ),
        ),
        (
            _container(ports=[{"containerPort": 80, "name": "a-name-of-sixteen"}]),
            (
                'spec.containers[0].ports[0].name: Invalid value: "a-name-of-sixteen": '
                "must be no more than 15 characters"
            ),
        ),
        (
            _container(imagePullPolicy="Sometimes"),
            (
                'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": '
                'supported values: "Always", "IfNotPresent", "Never"'
            ),
        ),
        (
            {"restartPolicy": "Now"},
            (
                'spec.restartPolicy: Unsupported value: "Now": '
                'supported values: "Always", "Never", "OnFailure"'
            ),
        ),
        (
            {"dnsPolicy": "None"},
            (
                "spec.dnsConfig.nameservers: Required value: "
                "must provide at least one DNS nameserver when `dnsPolicy` is None"
            ),
        ),
        (
            {"tolerations": [{"key": "k", "effect": "Now"}]},
            (
                'spec.tolerations[0].effect: Unsupported value: "Now": '
                'supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"'
            ),
        ),
        (
            {"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]},
            "spec.volumes[0]: Forbidden: may not specify more than 1 volume type",
        ),
    ],
)
def test_an_invalid_pod_is_explained_by_field(spec: Json, complaint: str) -> None:
    """One mistake gives one cause, with the path and the words of the real server."""
    assert _texts(pod_validation.pod_spec(_pod(**spec)["spec"])) == [complaint]


def test_a_template_is_explained_where_it_stands() -> None:
    """The path of a Deployment's template leads the field."""
    errors = pod_validation.pod_spec(_pod(containers=[])["spec"], "spec.template.spec")
    assert _texts(errors) == ["spec.template.spec.containers: Required value"]


def test_host_network_takes_the_container_port_as_host_port() -> None:
    """The default makes the two equal, and that is valid."""
    pod = _pod(hostNetwork=True, **_container(ports=[{"containerPort": 80}]))
    assert pod["spec"]["containers"][0]["ports"][0]["hostPort"] == 80
    assert pod_validation.pod_spec(pod["spec"]) == []


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        (lambda spec: spec["containers"][0].update(image="i:2"), True),
        (lambda spec: spec.update(activeDeadlineSeconds=5), True),
        (lambda spec: spec.update(tolerations=[{"key": "k", "operator": "Exists"}]), True),
        (lambda spec: spec.update(nodeName="n9"), False),
        (lambda spec: spec["containers"][0].update(args=["x"]), False),
        (lambda spec: spec["containers"].append({"name": "d", "image": "i"}), False),
        (lambda spec: spec.update(terminationGracePeriodSeconds=1), False),
    ],
)
def test_only_some_fields_of_a_pod_may_change(
    change: Callable[[Json], None], allowed: bool
) -> None:
    """Images, deadline and added tolerations; nothing else."""
    old = _pod()
    new = copy.deepcopy(old)
    change(new["spec"])
    assert (pod_validation.pod_update(old, new) == []) is allowed


def test_an_existing_toleration_cannot_be_removed() -> None:
    """Tolerations may only be added."""
    old = _pod(tolerations=[{"key": "k", "operator": "Exists"}])
    errors = pod_validation.pod_update(old, _pod())
    assert _texts(errors) == [
        (
            "spec.tolerations: Forbidden: existing toleration can not be modified "
            "except its tolerationSeconds"
        )
    ]


@pytest.mark.parametrize(
    ("limits", "requests", "expected"),
    [
        ({}, {}, "BestEffort"),
        ({"cpu": "1", "memory": "1Gi"}, {}, "Guaranteed"),
        ({"cpu": "1"}, {}, "Burstable"),
        ({}, {"memory": "1Gi"}, "Burstable"),
    ],
)
def test_quality_of_service_follows_requests_and_limits(
    limits: Json, requests: Json, expected: str
) -> None:
    """Limits become requests first, then the class is read off."""
    pod = _pod(**_container(resources={"limits": limits, "requests": requests}))
    assert pod["status"]["qosClass"] == expected


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("web", "Always"),
        ("web:latest", "Always"),
        ("web:1", "IfNotPresent"),
        ("host:5000/web", "Always"),
        ("host:5000/web:1", "IfNotPresent"),
        ("web@sha256:0", "IfNotPresent"),
    ],
)
def test_images_are_pulled_always_when_their_tag_moves(image: str, policy: str) -> None:
    """``latest`` and no tag mean Always."""
    pod = _pod(containers=[{"name": "c", "image": image}])
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy


def _service(**spec: Any) -> Json:
    service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], **copy.deepcopy(spec)}}
    services.fill(service)
    return service


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({"ports": []}, "spec.ports: Required value"),
        (
            {"ports": [{"port": 80}, {"port": 81, "name": "b"}]},
            "spec.ports[0].name: Required value",
        ),
        (
            {"ports": [{"port": 0}]},
            "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (
            {"type": "Odd"},
            (
                'spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", '
                '"LoadBalancer", "NodePort"'
            ),
        ),
    ],
)
def test_an_invalid_service_is_explained_by_field(spec: Json, complaint: str) -> None:
    """One mistake gives one cause."""
    assert complaint in _texts(services.validate(_service(**spec)))


def _complete(service: Json, others: Sequence[Json] = ()) -> list[str]:
    return _texts(services.complete(service, others, ApiSettings(tokens={})))


def test_cluster_addresses_come_from_the_service_network_and_differ() -> None:
    """A hundred Services get a hundred addresses, none from the part kept for static choice."""
    made: list[Json] = []
    for _ in range(100):
        service = _service()
        assert _complete(service, made) == []
        made.append(service)
    addresses = {service["spec"]["clusterIP"] for service in made}
    assert len(addresses) == 100
    assert all(address.startswith("10.96.") for address in addresses)
    assert not addresses & {f"10.96.0.{last}" for last in range(256)}


def test_node_ports_differ_per_protocol_and_stay_in_range() -> None:
    """TCP and UDP have ranges of their own; a port is taken once in each."""
    ports = [{"name": f"p{n}", "port": n, "protocol": "TCP"} for n in range(1, 60)]
    service = _service(type="NodePort", ports=ports)
    assert _complete(service) == []
    chosen = [port["nodePort"] for port in service["spec"]["ports"]]
    assert len(set(chosen)) == len(chosen)
    assert all(30000 <= port <= 32767 for port in chosen)
    udp = _service(type="NodePort", ports=[{"port": 1, "protocol": "UDP", "nodePort": chosen[0]}])
    assert _complete(udp, [service]) == []
    tcp = _service(type="NodePort", ports=[{"port": 1, "nodePort": chosen[0]}])
    assert _complete(tcp, [service]) == [
        f"spec.ports[0].nodePort: Invalid value: {chosen[0]}: provided port is already allocated"
    ]


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("10.97.0.1", "is not in the valid range. The range of valid IPs is 10.96.0.0/16"),
        ("x", "must be a valid IP address"),
    ],
)
def test_a_chosen_address_must_be_free_and_of_the_network(address: str, complaint: str) -> None:
    """The reason is told under ``spec.clusterIPs``."""
    (text,) = _complete(_service(clusterIP=address))
    assert text.startswith(("spec.clusterIPs: Invalid value", "spec.clusterIPs[0]: Invalid value"))
    assert complaint in text


def test_an_external_name_has_no_address() -> None:
    """ExternalName Services keep their name and get nothing allocated."""
    service = _service(type="ExternalName", externalName="server.outside.test", ports=[])
    assert services.validate(service) == []
    assert _complete(service) == []
    assert "clusterIP" not in service["spec"]


def test_an_update_keeps_address_and_node_port() -> None:
    """What an update leaves out is carried over; a changed address is refused."""
    old = _service(type="NodePort")
    _complete(old)
    new = _service(type="NodePort", selector={"a": "b"})
    assert services.keep(old, new) == []
    assert new["spec"]["clusterIP"] == old["spec"]["clusterIP"]
    assert new["spec"]["ports"][0]["nodePort"] == old["spec"]["ports"][0]["nodePort"]
    moved = _service(clusterIP="10.96.9.9")
    assert "may not change once set" in _texts(services.keep(old, moved))[0]


def test_a_service_that_becomes_internal_gives_its_node_ports_back() -> None:
    """From NodePort to ClusterIP."""
    old = _service(type="NodePort")
    _complete(old)
    new = _service(type="ClusterIP", ports=copy.deepcopy(old["spec"]["ports"]))
    services.keep(old, new)
    _complete(new)
    assert "nodePort" not in new["spec"]["ports"][0]


@pytest.mark.parametrize("name", ["a", "a-b", "a.b", "0a"])
def test_ordinary_names_are_subdomains(name: str) -> None:
    """Lower case, digits, dashes and dots."""
    assert validation.dns_subdomain(name) is None


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", ".a", "a" * 254])
def test_other_names_are_not(name: str) -> None:
    """Upper case, underscores, edges and length."""
    assert validation.dns_subdomain(name) is not None


@pytest.mark.parametrize(
    ("key", "valid"),
    [("app", True), ("example.com/app", True), ("a/b/c", False), ("-a", False), ("", False)],
)
def test_label_keys_are_qualified_names(key: str, valid: bool) -> None:
    """A prefix is a subdomain, the name has letters at its ends."""
    assert (validation.qualified_name(key) is None) is valid


def test_a_selector_must_select_its_template() -> None:
    """A Deployment whose template does not wear its labels is refused."""
    item = {
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {}}}}
    }
    assert (
        "`selector` does not match template `labels`" in _texts(validation.workload(item, None))[0]
    )


def test_balancers_with_local_policy_get_a_health_check_port() -> None:
    """From the range of node ports, one that no other Service has; it stays through updates."""
    balanced = _service(type="LoadBalancer", externalTrafficPolicy="Local")
    assert _complete(balanced) == []
    number = balanced["spec"]["healthCheckNodePort"]
    own = {port["nodePort"] for port in balanced["spec"]["ports"]}
    assert number in range(30000, 32768)
    assert number not in own
    other = _service(type="NodePort", ports=[{"port": 80, "nodePort": number}])
    assert _complete(other, [balanced]) == [
        f"spec.ports[0].nodePort: Invalid value: {number}: provided port is already allocated"
    ]
    changed = _service(type="LoadBalancer", externalTrafficPolicy="Local", selector={"a": "b"})
    assert services.keep(balanced, changed) == []
    assert changed["spec"]["healthCheckNodePort"] == number
    open_again = _service(type="LoadBalancer", healthCheckNodePort=number)
    assert services.keep(balanced, open_again) == []
    assert "healthCheckNodePort" not in open_again["spec"]
