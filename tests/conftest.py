"""Fixtures for all tests."""

from gateway_fixtures import model_server, opened
from github_api.fixtures import api, enterprise_api
from sandbox_fixtures import container, sandbox, scratch, start

__all__ = [
    "api",
    "container",
    "enterprise_api",
    "model_server",
    "opened",
    "sandbox",
    "scratch",
    "start",
]
