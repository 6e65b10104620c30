"""What is called a secret: fields of objects, environment variables, and flags of commands."""

import pytest

from nettests.redaction.names import LONGEST, is_secret_field, is_secret_variable, takes_secret

NUMBERED = ("password1", "token_2", "secret-123")


@pytest.mark.parametrize(
    "name",
    [
        *("password", "passwd", "passphrase", "pwd", "secret", "clientSecret", "credentials"),
        *("connectionString", "token", "identitytoken", "refresh_token", "authorization", "jwt"),
        *("client-key-data", "client-certificate-data", "secretAccessKey", "access_key_id"),
        *("apiKey", "ssh-key", "vault.test/token", "auth", "_auth", ".dockerconfigjson"),
        *("tls.key", "ssh-privatekey", "kubeconfig", "KubeConfig", "DB_PASSWORD", "BASIC_AUTH"),
        *("kubectl.kubernetes.io/last-applied-configuration", *NUMBERED),
    ],
)
def test_a_field_that_holds_a_secret_is_known_by_its_name(name: str) -> None:
    """Names of people and of machines, of annotations and files, and constants like variables."""
    assert is_secret_field(name)


@pytest.mark.parametrize(
    "name",
    [
        *("PWD", "OLDPWD", "compass", "bypass", "tokenExpirationSeconds", "secretName"),
        *(
            "passed",
            "key",
            "keys",
            "certificate-authority-data",
            "author",
            "authority",
        ),
        *("hostkeyAlgorithms", "podCIDR", "serviceAccountName", "Key", "sas", ""),
    ],
)
def test_a_field_that_explains_a_network_stays(name: str) -> None:
    """Working directories, names of Secrets, lifetimes, words that only contain such a word, and public certificates."""
    assert not is_secret_field(name)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("DB_PASSWORD", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("GITHUB_TOKEN_RO", True),
        ("BASIC_AUTH", True),
        ("SSH_KEY", True),
        ("STORAGE_SAS", True),
        ("SENTRY_DSN", True),
        ("KUBECONFIG", True),
        ("PWD", False),
        ("OLDPWD", False),
        ("AUTHOR", False),
        ("KEYBOARD", False),
        ("KUBERNETES_SERVICE_HOST", False),
        ("PATH", False),
    ],
)
def test_a_variable_is_known_wherever_the_word_stands(name: str, *, secret: bool) -> None:
    """Also before an ending of its own; a working directory is none."""
    assert is_secret_variable(name) is secret


def test_what_is_longer_than_a_name_is_none() -> None:
    """A text of that length in the place of a name is not searched."""
    longest = "a" * (LONGEST - len("password")) + "password"
    assert is_secret_field(longest)
    assert is_secret_variable(longest)
    assert not is_secret_field(f"a{longest}")
    assert not is_secret_variable(f"a{longest}")
    flag = "--" + longest[2:]
    assert not takes_secret(f"-{flag}", "x")


@pytest.mark.parametrize(
    ("flag", "following", "secret"),
    [
        ("--token", "abc", True),
        ("-password", "abc", True),
        ("--client-key-data", "abc", True),
        ("--registry-password", "abc", True),
        ("--token", "--verbose", False),
        ("-u", "user:password", True),
        ("-u", "user", False),
        ("--proxy-user", "user:password", True),
        ("--user", "1000", False),
        ("--token-ttl", "24h", False),
        ("token", "abc", False),
        ("--port", "443", False),
    ],
)
def test_the_word_after_a_flag_is_a_secret(flag: str, following: str, *, secret: bool) -> None:
    """Where the flag is called so and no other flag follows; a login only with its password."""
    assert takes_secret(flag, following) is secret
