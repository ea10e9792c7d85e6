"""Fixtures for all tests."""

from sandbox_fixtures import container, sandbox, scratch, start

__all__ = ["container", "sandbox", "scratch", "start"]
