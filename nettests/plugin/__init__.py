"""The pytest plugin: options, and the rest of it only if a cluster is tested.

It is a pytest entry point and therefore loaded in every pytest run of the environment: without our options it costs
an import and does nothing. With them, ``single`` or ``controller`` prepares and observes, ``collect`` turns the plan
into test parameters, ``fixtures`` take verdicts, ``outcome`` translates them, and ``reporter`` prints.
"""

import pytest

from nettests.plugin import pytest_options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a run; they are the command line's."""
    pytest_options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Load the working parts, in a worker or in the process that users started."""
    if hasattr(config, "workerinput"):
        if pytest_options.WORKER_KEY in config.workerinput:
            from nettests.plugin import worker  # noqa: PLC0415 - only runs pay for it

            worker.register(config)
    elif pytest_options.probed(config):
        from nettests.plugin import controller  # noqa: PLC0415

        controller.register(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Refuse a suite's test in a run that was given no cluster."""
    actions = hasattr(metafunc.function, "nettests_flow")
    if actions and not metafunc.config.pluginmanager.has_plugin(pytest_options.COLLECTOR):
        raise pytest.UsageError(
            f"{metafunc.function.__name__} tests a cluster, and none was given: "
            "add --kubeconfig=FILE, --context=NAME or --lab"
        )
