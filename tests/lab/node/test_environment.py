"""The variables of a container: of its image, of Services, of its own; which of them wins."""

from typing import Any

import pytest

from nettests.lab.node.environment import ConfigError, field, linux_variables, variables
from tests.lab.node import nowhere

Json = dict[str, Any]


def environment(
    container: Json | None = None,
    services: list[Json] | None = None,
    **spec: Any,
) -> dict[str, str]:
    """Return the variables of a container of the pod ``ns/p``."""
    return variables(
        nowhere.pod(**spec),
        container or {},
        {"status.podIP": "10.244.1.2"},
        services or [],
        linux_variables("p"),
    )


def literal(**values: str) -> Json:
    """Return a container with these variables."""
    return {"env": [{"name": name, "value": value} for name, value in values.items()]}


def service(name: str, *ports: Json, address: str | None = "10.96.0.7") -> Json:
    """Return a Service of the pod's namespace."""
    return {
        "metadata": {"namespace": "ns", "name": name},
        "spec": {"clusterIP": address, "ports": list(ports)},
    }


def test_a_service_of_two_ports_has_docker_s_links_too() -> None:
    """The first port counts where a variable names none; names become upper case with underscores."""
    web = service(
        "my-web",
        {"port": 80, "protocol": "TCP", "name": "http-1"},
        {"port": 53, "protocol": "UDP"},
    )
    made = environment(services=[web])
    assert {name: value for name, value in made.items() if name.startswith("MY_WEB")} == {
        "MY_WEB_SERVICE_HOST": "10.96.0.7",
        "MY_WEB_SERVICE_PORT": "80",
        "MY_WEB_SERVICE_PORT_HTTP_1": "80",
        "MY_WEB_PORT": "tcp://10.96.0.7:80",
        "MY_WEB_PORT_80_TCP": "tcp://10.96.0.7:80",
        "MY_WEB_PORT_80_TCP_PROTO": "tcp",
        "MY_WEB_PORT_80_TCP_PORT": "80",
        "MY_WEB_PORT_80_TCP_ADDR": "10.96.0.7",
        "MY_WEB_PORT_53_UDP": "udp://10.96.0.7:53",
        "MY_WEB_PORT_53_UDP_PROTO": "udp",
        "MY_WEB_PORT_53_UDP_PORT": "53",
        "MY_WEB_PORT_53_UDP_ADDR": "10.96.0.7",
    }


@pytest.mark.parametrize("address", ["None", "", None])
def test_a_service_without_an_address_has_none(address: str | None) -> None:
    """Headless ones, and those of type ExternalName."""
    made = environment(services=[service("w", {"port": 80, "protocol": "TCP"}, address=address)])
    assert not any(name.startswith("W_") for name in made)


def test_a_pod_s_own_variable_wins() -> None:
    """Over that of a Service, and over that of the image."""
    web = service("web", {"port": 80, "protocol": "TCP"})
    made = environment(literal(WEB_SERVICE_HOST="mine", PATH="here"), [web])
    assert (made["WEB_SERVICE_HOST"], made["PATH"]) == ("mine", "here")


def test_a_value_refers_to_what_stands_before_it() -> None:
    """Variables of Services and earlier ones; later ones stay as they are written."""
    web = service("web", {"port": 80, "protocol": "TCP"})
    made = environment(
        literal(EARLY="$(LATE)", URL="http://$(WEB_SERVICE_HOST)/$(EARLY)", LATE="x"), [web]
    )
    assert made["EARLY"] == "$(LATE)"
    assert made["URL"] == "http://10.96.0.7/$(LATE)"


def test_variables_from_a_whole_config_map_are_refused() -> None:
    """``envFrom`` is a configuration error."""
    with pytest.raises(ConfigError, match="envFrom is not supported by this node"):
        environment({"envFrom": [{"configMapRef": {"name": "m"}}]})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.namespace", "ns"),
        ("metadata.uid", "u"),
        ("metadata.annotations['a/b']", "noted"),
        ("metadata.annotations['none']", ""),
        ("metadata.labels['none']", ""),
        ("spec.serviceAccountName", "default"),
        ("spec.nodeName", ""),
        ("status.podIP", "10.244.1.2"),
    ],
)
def test_fields_of_a_pod_by_path(path: str, value: str) -> None:
    """A label that the pod has not is empty, as the kubelet has it."""
    pod = nowhere.pod()
    pod["metadata"]["annotations"] = {"a/b": "noted"}
    assert field(pod, path, {"status.podIP": "10.244.1.2"}) == value


@pytest.mark.parametrize("path", ["status.phase", "metadata.labels", "spec.containers"])
def test_a_field_that_is_not_given_is_a_configuration_error(path: str) -> None:
    """By its path."""
    with pytest.raises(ConfigError, match=f"unsupported fieldPath: {path}"):
        field(nowhere.pod(), path, {})
