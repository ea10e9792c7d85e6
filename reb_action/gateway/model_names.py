"""Decides which model names mean the same model: vendor prefixes, dates, -latest, versions."""

import re
from typing import Final

# OpenRouter and LiteLLM write vendor/model, Gemini models/model, Bedrock region.vendor.model-v1:0.
_PREFIX: Final = re.compile(
    r"^(?:[a-z0-9_.~-]+/)+|^(?:(?:us|eu|apac|global)\.)?"
    r"(?:anthropic|openai|google|deepseek|meta|mistral|qwen)\."
)
_SUFFIX: Final = re.compile(
    r"(?:-latest|@latest|-v\d+:\d+|@\d{8}|-\d{8}|-\d{4}-\d{2}-\d{2}|-preview-\d{2}-(?:\d{2}|\d{4})"
    r"|-00\d|-(?:0[1-9]|1[0-2])[0-3]\d)$"
)
# Routes to the same model at OpenRouter; `:online` is not one of them, since it adds web search.
_ROUTE: Final = re.compile(r":(?:free|nitro|floor|exacto|extended|thinking)$")
_VENDORS: Final = {
    "claude-": "api.anthropic.com",
    "gemini-": "generativelanguage.googleapis.com",
    "gpt-": "api.openai.com",
    "deepseek-": "api.deepseek.com",
    "glm-": "api.z.ai",
    "kimi-": "api.moonshot.ai",
    "qwen": "dashscope-intl.aliyuncs.com",
    "minimax-": "api.minimax.io",
}
# OpenAI's codex, pro and deep-research models have no Chat Completions.
_RESPONSES_ONLY: Final = re.compile(
    r"gpt-5.*-codex.*|codex-.*|(?:o[1-4]|gpt-[5-9].*)-pro|o\d.*-deep-research|gpt-daybreak-.*"
)


def canonical_name(model: str) -> str:
    """Return the name without vendor prefix, route, date and `-latest`, in lower case."""
    name = _ROUTE.sub("", model.strip().lower())
    name = _PREFIX.sub("", name)
    while (shorter := _SUFFIX.sub("", name)) != name and shorter:
        name = shorter
    # OpenRouter writes claude-sonnet-4.5, Anthropic claude-sonnet-4-5.
    return re.sub(r"(?<=\d)\.(?=\d)", "-", name)


def is_same_model(first: str, second: str) -> bool:
    """Return whether two names mean the same model."""
    return first == second or canonical_name(first) == canonical_name(second)


def vendor_host(model: str) -> str | None:
    """Return the host of the vendor that serves models of this name; None for other names."""
    name = model.lower()
    return next((host for prefix, host in _VENDORS.items() if name.startswith(prefix)), None)


def needs_responses(model: str) -> bool:
    """Return whether OpenAI serves this model by its Responses API only."""
    return _RESPONSES_ONLY.fullmatch(canonical_name(model)) is not None


def adds_search(model: str) -> bool:
    """Return whether the vendor searches the web for this model without a tool in the request."""
    name = model.lower()
    is_search_model = "-search-preview" in name or "-search-api" in name
    return name.endswith(":online") or is_search_model or canonical_name(name).startswith("sonar")
