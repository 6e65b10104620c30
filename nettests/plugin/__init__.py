"""The pytest plugin: options, and the rest of it only if a cluster is tested.

As a pytest entry point it is loaded in every pytest run of the environment: without our options it
costs an import and does nothing. With them, ``controller`` prepares and observes, ``collect`` turns
the plan into test parameters, the fixtures of ``outcome`` get verdicts and pytest outcomes, and
``reporter`` prints.
"""

import pytest

from nettests.plugin import pytest_options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a run, which the command line shares."""
    pytest_options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Load the working parts, in a worker or in the main process."""
    if hasattr(config, "workerinput"):
        if pytest_options.WORKER_KEY in config.workerinput:
            from nettests.plugin import worker  # noqa: PLC0415 - imported by runs only

            worker.register(config)
    elif pytest_options.probed(config):
        from nettests.plugin import controller  # noqa: PLC0415

        controller.register(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Refuse a suite's test in a run without a cluster."""
    actions = hasattr(metafunc.function, "nettests_flow")
    if actions and not metafunc.config.pluginmanager.has_plugin(pytest_options.COLLECTOR):
        raise pytest.UsageError(
            f"{metafunc.function.__name__} tests a cluster, and none was given: "
            "add --kubeconfig=FILE, --context=NAME or --lab"
        )
