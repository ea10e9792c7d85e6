"""The agents that are really installed and run."""

AGENTS = (
    *("claude-code", "codex", "opencode", "gemini-cli", "qwen-code", "mini-swe-agent"),
    # Skipped where they cannot be installed from their repositories.
    *("nexau", "nexau-paper"),
)
