"""Keys of vendors: each contestant has one, and no vendor gets the key of another."""

import pytest

from reb_action.errors import UsageError
from reb_action.workflow.safety import KeyUser, demand_keys


def user(contestant, host, *, key="model", chose_url=False):
    return KeyUser(contestant=contestant, key=key, host=host, chose_url=chose_url)


def test_no_user_of_a_model_needs_no_key():
    demand_keys((), keys=())


def test_contestant_without_its_key_is_refused():
    demand_keys([user("codex", "api.openai.com")], keys=("model",))
    with pytest.raises(UsageError) as caught:
        demand_keys([user("codex", "api.openai.com", key="openai")], keys=("model",))
    assert str(caught.value) == (
        "codex needs a key that this run does not have: set the secret openai-key"
        " (pull requests from forks have no secrets)"
    )


def test_vendor_does_not_get_the_key_of_another():
    pair = [user("codex", "api.openai.com"), user("claude-code", "api.anthropic.com")]
    with pytest.raises(UsageError) as caught:
        demand_keys(pair, keys=("model",))
    assert str(caught.value) == (
        "the key 'model' would go to several vendors (api.anthropic.com, api.openai.com) for codex,"
        " claude-code; give each contestant the name of its vendor's key in a contestants file, or"
        " set model-url to one URL for all"
    )


def test_vendors_with_a_key_each_or_one_url_for_all_are_accepted():
    pair = [
        user("codex", "api.openai.com", key="openai"),
        user("claude-code", "api.anthropic.com", key="anthropic"),
    ]
    demand_keys(pair, keys=("openai", "anthropic"))
    one = [user(name, "proxy.example", chose_url=True) for name in ("codex", "claude-code")]
    demand_keys(one, keys=("model",))
