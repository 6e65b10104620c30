"""Who refused an object, and whose step is next."""

import pytest

from nettests.judge.refusals import is_of_rbac, refusal_of

KYVERNO = (
    'admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/nettests-a/probe was blocked due to the '
    "following policies \n\nlimits-wanted:\n  every-container: 'validation error: limits are required. rule every-container failed at path /a/'\n"
)
WARDEN = (
    'admission webhook "warden-validating.common-webhooks.networking.gke.io" denied the request: GKE Warden rejected the request because it '
    'violates one or more constraints.\nViolations details: {"[denied by autogke-disallow-hostnamespaces]":["enabling hostNetwork is not allowed."]}'
)


@pytest.mark.parametrize(
    ("message", "why", "step"),
    [
        ('admission webhook "validation.gatekeeper.sh" denied the request: [limits-wanted] Container "probe" has none',
         'Gatekeeper constraint limits-wanted: Container "probe" has none', "excludedNamespaces"),
        ('admission webhook "validation.gatekeeper.sh" denied the request: [denied by limits-wanted] none',
         "Gatekeeper constraint limits-wanted: none", "webhook"),
        ('admission webhook "validation.gatekeeper.sh" denied the request: [azurepolicy-noprivilege-e12c] Privileged container',
         "Azure Policy, constraint azurepolicy-noprivilege-e12c: Privileged container", "assignment of that Azure Policy"),
        (KYVERNO, "Kyverno policy limits-wanted, rule every-container: validation error: limits are required. rule every-container failed at path /a/",
         "PolicyException"),
        ('admission webhook "vpol.validate.kyverno.svc-fail" denied the request: Policy no-latest failed: no tag', "Kyverno policy no-latest: no tag",
         "PolicyException"),
        (WARDEN, 'GKE Warden, constraint autogke-disallow-hostnamespaces: enabling hostNetwork is not allowed."]}', "Standard cluster"),
        ('admission webhook "a.b" denied the request without explanation', 'admission webhook "a.b" denied the request without explanation',
         "admission webhook a.b"),
        ('Internal error occurred: failed calling webhook "a.b": failed to call webhook: Post "https://c": no endpoints available',
         'Internal error occurred: failed calling webhook "a.b": failed to call webhook: Post "https://c": no endpoints available', "does not reach webhook a.b"),
        ("pods \"p\" is forbidden: ValidatingAdmissionPolicy 'images' with binding 'all' denied request: from us only",
         "ValidatingAdmissionPolicy 'images' with binding 'all' denied request: from us only", "meet the policy images"),
        ('pods "p" is forbidden: unable to validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user or serviceaccount]',
         'unable to validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user or serviceaccount]', "SCC"),
        ('pods "p" is forbidden: violates PodSecurity "baseline:latest": hostProcess', 'violates PodSecurity "baseline:latest": hostProcess', "Pod Security"),
        ('pods "p" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2', "exceeded quota: small", "ResourceQuota small"),
        ('pods "p" is forbidden: failed quota: cpu: must specify limits.cpu for: probe', "failed quota: cpu: must specify limits.cpu for: probe",
         "ResourceQuota cpu"),
        ('pods "p" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, cpu max limit to request ratio per Pod is 2, but provided ratio is 9]',
         "[maximum cpu usage per Container is 1, but limit is 2, cpu max limit to request ratio per Pod is 2, but provided ratio is 9]", "LimitRange"),
        ('pods "p" is forbidden: error looking up service account a/default: serviceaccount "default" not found',
         'error looking up service account a/default: serviceaccount "default" not found', "ServiceAccount"),
        ('pods "p" is forbidden: unable to create new content in namespace a because it is being terminated',
         "unable to create new content in namespace a because it is being terminated", "wait until it is gone"),
    ],
)  # fmt: skip
def test_policy_and_constraint_are_named(message: str, why: str, step: str) -> None:
    """The title has their names, and the next step is theirs: no role would change it."""
    refusal = refusal_of(message)
    assert refusal is not None
    assert refusal.why == why
    assert step in refusal.next_step
    assert "manifests/rbac" not in refusal.next_step
    assert not is_of_rbac(message)


def test_rbac_is_no_refusal_of_an_object() -> None:
    """Who lacks a permission is told to get it."""
    message = 'pods is forbidden: User "a" cannot create resource "pods" in API group "" in the namespace "b"'
    assert refusal_of(message) is None
    assert is_of_rbac(message)
