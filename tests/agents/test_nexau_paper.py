"""NexAU's configuration of the paper, as its public repository has it."""

import yaml

from reb_action.agents.catalogue import load_packaged
from reb_action.agents.spec import Source, Task

SPEC = load_packaged("nexau-paper")
FILES = {file.name: file.content.decode() for file in SPEC.files}
CONFIG = yaml.safe_load(FILES["agent.yaml"])
PARAMETERS = {
    "web_search": {"query", "num_results"},
    "web_read": {"url"},
    "todo_write": {"todos"},
    "grep": {
        *("pattern", "path", "glob", "output_mode", "context_before", "context_after"),
        *("context_around", "show_line_numbers", "case_insensitive", "type", "head_limit"),
        "multiline",
    },
    "glob": {"pattern", "path"},
    "file_read": {"file_path", "offset", "limit"},
    "file_write": {"file_path", "content"},
    "file_edit": {"file_path", "old_string", "new_string"},
    "bash": {"command", "timeout", "description"},
    "ls": {"path", "ignore"},
    "multiedit": {"file_path", "edits"},
    "run_code": {
        *("code_block", "kernel_type", "timeout", "description", "reset_kernel"),
        "shutdown_after",
    },
}


def test_version_is_the_papers_fork():
    install = SPEC.install
    assert (install.source, install.version[:7]) == (Source.GIT, "2da4426")
    assert SPEC.paper.root
    assert SPEC.paper.task is Task.NEXAU


def test_twelve_tools_have_the_papers_names_and_parameters():
    tools = {tool["name"]: tool for tool in CONFIG["tools"]}
    assert list(tools) == list(PARAMETERS)
    for name, tool in tools.items():
        described = yaml.safe_load(FILES[tool["yaml_path"].removeprefix("./")])
        assert set(described["input_schema"]["properties"]) == PARAMETERS[name], name
        assert set(described["input_schema"]["required"]) <= PARAMETERS[name], name


def test_model_and_compaction_have_the_papers_values():
    model = CONFIG["llm_config"]
    assert (model["temperature"], model["max_tokens"], model["stream"]) == (0.2, 4096, True)
    assert (model["api_type"], CONFIG["tool_call_mode"]) == (
        "anthropic_chat_completion",
        "anthropic",
    )
    assert CONFIG["max_context_tokens"] == 100_000
    (middleware,) = CONFIG["middlewares"]
    values = middleware["params"]
    assert (values["max_context_tokens"], values["threshold"]) == (100_000, 0.75)
    assert values["compaction_strategy"] == "tool_result_compaction"
