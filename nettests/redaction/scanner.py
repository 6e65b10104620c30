"""Shapes of tokens as the kept secret scanner knows them: the expressions of detect-secrets' own plugins. Pure.

Only plugins whose expressions begin with a token's own letters. Left out: entropy, which takes uids, hashes
and HNS' ids for secrets; keywords, which ``shapes`` knows by what Kubernetes writes; addresses of the internet,
which are what a run is about; Artifactory, whose expression takes words for passwords; Discord, Telegram, npm,
OpenAI and JSON Web Tokens, whose expressions try every letter of a text or are quadratic.
"""

import re
from functools import cache

_HINTS = {
    "aws": ("aws", "akia", "asia", "abia", "acca", "a3t"),
    "azure_storage_key": ("accountkey=",),
    "github_token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "gitlab_token": (
        *("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "gr1348941"),
        *("glcbt-", "glimt-", "glptt-", "glagent-", "gloas-"),
    ),
    "mailchimp": ("-us",),
    "pypi_token": ("pypi-",),
    "sendgrid": ("sg.",),
    "slack": ("xox", "hooks.slack.com"),
    "square_oauth": ("sq0csp-",),
    "stripe": ("k_live_",),
    "twilio": ("ac", "sk"),
}
"""What a text holds, in small letters, in which a plugin can find anything."""


@cache
def expressions() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    """Return name, hints and expression of each; imported when something is first written: it takes half a second."""
    from detect_secrets.plugins import (  # noqa: PLC0415
        aws,
        azure_storage_key,
        github_token,
        gitlab_token,
        mailchimp,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        twilio,
    )

    plugins = {
        "aws": aws.AWSKeyDetector,
        "azure_storage_key": azure_storage_key.AzureStorageKeyDetector,
        "github_token": github_token.GitHubTokenDetector,
        "gitlab_token": gitlab_token.GitLabTokenDetector,
        "mailchimp": mailchimp.MailchimpDetector,
        "pypi_token": pypi_token.PypiTokenDetector,
        "sendgrid": sendgrid.SendGridDetector,
        "slack": slack.SlackDetector,
        "square_oauth": square_oauth.SquareOAuthDetector,
        "stripe": stripe.StripeDetector,
        "twilio": twilio.TwilioKeyDetector,
    }
    return tuple(
        (name, _HINTS[name], expression)
        for name, plugin in plugins.items()
        for expression in plugin.denylist
    )
