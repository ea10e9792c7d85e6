"""Which names mean the same model."""

import pytest

from reb_action.gateway.model_names import adds_search, is_same_model, needs_responses


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4.5"),
        ("claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5@20250929"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("gpt-5.1", "gpt-5.1-2025-11-13"),
        ("gpt-5.1", "openai/gpt-5.1"),
        ("gpt-4", "gpt-4-0613"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro-preview-06-05"),
        ("gemini-2.0-flash", "gemini-2.0-flash-001"),
        ("z-ai/glm-4.7", "GLM-4.7"),
        ("deepseek/deepseek-chat:free", "deepseek-chat"),
        ("accounts/fireworks/models/kimi-k2", "moonshotai/kimi-k2"),
    ],
)
def test_prefix_date_and_route_do_not_make_another_model(first, second):
    assert is_same_model(first, second)
    assert is_same_model(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("claude-sonnet-4-5", "claude-haiku-4-5"),
        ("claude-sonnet-4-5", "claude-sonnet-4"),
        ("gpt-5.1", "gpt-5.1-codex"),
        ("gpt-5.1", "gpt-5.1-mini"),
        ("gpt-5", "gpt-5.1"),
        ("scripted-1", "cheap-model-9"),
        ("gpt-5", "gpt-5:online"),
        ("gemini-2.5-pro", "gemini-2.5-flash"),
        ("m", ""),
    ],
)
def test_other_models_stay_others(first, second):
    assert not is_same_model(first, second)


def test_models_that_search_and_models_without_chat_are_known_by_name():
    assert adds_search("openai/gpt-5:online")
    assert not adds_search("gpt-5")
    assert needs_responses("openai/gpt-5.1-codex-max")
    assert not needs_responses("gpt-5.1")
