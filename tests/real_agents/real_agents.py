"""The agents that are really installed and run."""

AGENTS = (
    *("claude-code", "codex", "opencode", "gemini-cli", "qwen-code", "mini-swe-agent"),
    # Skipped where it cannot be installed from its repository.
    "nexau",
)
