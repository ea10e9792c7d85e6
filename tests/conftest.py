"""Fixtures for all tests."""

from github_api.fixtures import api, enterprise_api
from sandbox_fixtures import container, sandbox, scratch, start

__all__ = ["api", "container", "enterprise_api", "sandbox", "scratch", "start"]
