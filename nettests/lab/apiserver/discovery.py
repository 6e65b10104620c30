"""Discovery: versions, groups, resources in the plain form, and health paths. Pure.

The aggregated form (KEP-3352) is not served: clients then use the plain one, as with servers before 1.26.
``/openapi/v3`` has only the parameters of PATCH, which ``kubectl`` reads before it relies on server-side field
validation; ``/openapi/v2`` is a document without definitions, so that kubectl leaves all validation to the server.
"""

from collections.abc import Callable, Mapping

from nettests.lab.apiserver import resources
from nettests.lab.apiserver.settings import ApiSettings, Version
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

_READY_CHECKS = ("ping", "log", "informer-sync", "poststarthook/storage-readiness", "shutdown")
OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


def _version(release: Version) -> Json:
    return {
        "major": release.major,
        "minor": str(release.minor),
        "emulationMajor": release.major,
        "emulationMinor": str(release.minor),
        "minCompatibilityMajor": release.major,
        "minCompatibilityMinor": str(release.minor - 1),
        "gitVersion": release.git,
        "gitCommit": release.commit,
        "gitTreeState": "clean",
        "buildDate": release.build_date,
        "goVersion": release.go,
        "compiler": "gc",
        "platform": release.platform,
    }


def health(path: str, *, verbose: bool) -> str:
    """Return the text of ``/healthz``, ``/livez`` or ``/readyz``."""
    if not verbose:
        return "ok"
    lines = [f"[+]{check} ok" for check in _READY_CHECKS]
    return "\n".join([*lines, f"{path.strip('/')} check passed", ""])


def metrics(requests: Mapping[tuple[str, str, str], int]) -> str:
    """Return ``/metrics``: the only metric kept here, in Prometheus' text format."""
    name = "apiserver_request_total"
    lines = [
        f'{name}{{resource="{resource}",subresource="{subresource}",verb="{verb.upper()}"}} {count}'
        for (verb, resource, subresource), count in sorted(requests.items())
    ]
    help_text = f"# HELP {name} Counter of apiserver requests"
    return "\n".join([help_text, f"# TYPE {name} counter", *lines, ""])


def _group(name: str, version_name: str) -> Json:
    group_version = {"groupVersion": f"{name}/{version_name}", "version": version_name}
    return {"name": name, "versions": [group_version], "preferredVersion": group_version}


def resource_list(group_name: str, version_name: str, minor: int) -> Json | None:
    """Return ``/api/v1`` or ``/apis/<group>/<version>`` of Kubernetes 1.``minor``, if it is served."""
    served = resources.in_group(group_name, version_name, minor)
    if not served:
        return None
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": served[0].api_version,
        "resources": [entry for resource in served for entry in _entries(resource)],
    }


def _entries(resource: resources.Resource) -> list[Json]:
    entry: Json = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    return [entry, *(_subentry(resource, name) for name in resource.subresources)]


_SUBRESOURCES = read_yaml(__package__, "kinds.yaml")["subresources"]


def _subentry(resource: resources.Resource, name: str) -> Json:
    verbs, kind, group_name, version_name = _SUBRESOURCES[name]
    if name == "proxy":
        kind = f"{resource.kind}ProxyOptions"
    entry: Json = {
        "name": f"{resource.plural}/{name}",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": kind or resource.kind,
        "verbs": list(verbs),
    }
    if group_name:
        entry |= {"group": group_name, "version": version_name}
    return entry


def openapi_v2() -> bytes:
    """Return ``/openapi/v2`` in protobuf: a gnostic ``Document`` of swagger 2.0 with its title."""
    title, version_name = b"Kubernetes", b"unversioned"
    info = b"\x0a%c%s\x12%c%s" % (len(title), title, len(version_name), version_name)
    return b"\x0a\x032.0\x12%c%s" % (len(info), info)


def _openapi(group_name: str, version_name: str, minor: int) -> Json | None:
    served = resources.in_group(group_name, version_name, minor)
    if not served:
        return None
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": dict(_patch_path(resource) for resource in served if "patch" in resource.verbs),
        "components": {"schemas": {}},
    }


def _patch_path(resource: resources.Resource) -> tuple[str, Json]:
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else "/api/v1"
    where = "/namespaces/{namespace}" if resource.namespaced else ""
    names = ("dryRun", "fieldManager", "fieldValidation", "force")
    group_version = {"group": resource.group, "version": resource.version}
    operation = {
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string"}} for name in names
        ],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {**group_version, "kind": resource.kind},
    }
    return f"{root}{where}/{resource.plural}/{{name}}", {"patch": operation}


def document(path: str, settings: ApiSettings) -> Json | None:
    """Return the document at a path without a resource, if there is one."""
    minor = settings.version.minor
    groups = dict(resources.groups(minor))
    match path.strip("/").split("/"):
        case ["version"]:
            return _version(settings.version)
        case ["api"]:
            address = {"clientCIDR": "0.0.0.0/0", "serverAddress": settings.server_address}
            versions = {"kind": "APIVersions", "versions": ["v1"]}
            return {**versions, "serverAddressByClientCIDRs": [address]}
        case ["apis"]:
            listed = [_group(*group) for group in groups.items()]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
        case ["openapi", "v3"]:
            names = ["api/v1", *(f"apis/{name}/{version}" for name, version in groups.items())]
            return {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}"} for name in names}}
        case ["openapi", "v3", *rest]:
            return _of_version(rest, minor, _openapi)
        case ["apis", name] if name in groups:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, groups[name])}
        case rest:
            return _of_version(rest, minor, resource_list)


def _of_version(
    parts: list[str], minor: int, make: Callable[[str, str, int], Json | None]
) -> Json | None:
    match parts:
        case ["api", version_name]:
            return make("", version_name, minor)
        case ["apis", name, version_name]:
            return make(name, version_name, minor)
    return None
