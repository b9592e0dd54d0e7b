import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "recipes: docs/ADDING.md carried out on a copy of the tree")
