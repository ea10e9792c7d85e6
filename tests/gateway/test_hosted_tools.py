"""Tools that a vendor runs and addresses that it fetches do not pass a closed network."""

import json

import pytest

from reb_action.gateway.dialects import DIALECTS
from reb_action.gateway.hosted_tools import find_hosted_tools
from reb_action.gateway.settings import HostedTools
from reb_action.model.agent import Dialect
from tests.support.model_server.client import request

SHELL = {
    Dialect.ANTHROPIC: {"name": "Bash", "input_schema": {"type": "object"}},
    Dialect.RESPONSES: {"type": "function", "name": "exec_command", "parameters": {}},
    Dialect.CHAT: {"type": "function", "function": {"name": "bash", "parameters": {}}},
    Dialect.GEMINI: {"functionDeclarations": [{"name": "run_shell_command"}]},
}
HOSTED = [
    (Dialect.ANTHROPIC, {"type": "web_search_20250305", "name": "web_search"}),
    (Dialect.ANTHROPIC, {"type": "web_fetch_20250910", "name": "web_fetch"}),
    (Dialect.ANTHROPIC, {"type": "code_execution_20250825", "name": "code_execution"}),
    (Dialect.ANTHROPIC, {"type": "mcp_toolset", "mcp_server_name": "x"}),
    (Dialect.RESPONSES, {"type": "web_search", "external_web_access": True}),
    (Dialect.RESPONSES, {"type": "web_search_preview"}),
    (Dialect.RESPONSES, {"type": "mcp", "server_label": "x", "server_url": "https://evil.example"}),
    (Dialect.RESPONSES, {"type": "mcp", "server_label": "x", "connector_id": "connector_gmail"}),
    (Dialect.RESPONSES, {"type": "code_interpreter", "container": {"type": "auto"}}),
    (Dialect.RESPONSES, {"type": "shell", "environment": {"type": "container_auto"}}),
    (Dialect.RESPONSES, {"type": "file_search", "vector_store_ids": ["v"]}),
    (Dialect.RESPONSES, {"type": "image_generation"}),
    (Dialect.CHAT, {"type": "web_search", "web_search": {"enable": True}}),
    (Dialect.CHAT, {"type": "openrouter:web_search"}),
    (Dialect.CHAT, {"type": "mcp", "server_url": "https://evil.example"}),
    (Dialect.GEMINI, {"googleSearch": {}}),
    (Dialect.GEMINI, {"google_search_retrieval": {}}),
    (Dialect.GEMINI, {"urlContext": {}}),
    (Dialect.GEMINI, {"codeExecution": {}}),
    (Dialect.GEMINI, {"googleMaps": {}}),
    (
        Dialect.GEMINI,
        {"mcpServers": [{"streamableHttpTransport": {"url": "https://evil.example"}}]},
    ),
]
FIELDS = [
    (Dialect.ANTHROPIC, "mcp_servers", [{"type": "url", "url": "https://evil.example"}]),
    (Dialect.ANTHROPIC, "container", {"skills": [{"type": "anthropic", "skill_id": "pdf"}]}),
    (Dialect.RESPONSES, "background", True),
    (Dialect.RESPONSES, "prompt", {"id": "pmpt_1"}),
    (Dialect.CHAT, "web_search_options", {"search_context_size": "low"}),
    (Dialect.CHAT, "plugins", [{"id": "web"}]),
    (Dialect.CHAT, "search_parameters", {"mode": "on"}),
    (Dialect.CHAT, "enable_search", True),
    (Dialect.GEMINI, "cachedContent", "cachedContents/1"),
]
URL = "https://evil.example/picture.png"
CONTENT = [
    (Dialect.ANTHROPIC, {"type": "image", "source": {"type": "url", "url": URL}}),
    (Dialect.ANTHROPIC, {"type": "document", "source": {"type": "url", "url": URL}}),
    (Dialect.ANTHROPIC, {"type": "document", "source": {"type": "file", "file_id": "file_1"}}),
    (Dialect.CHAT, {"type": "image_url", "image_url": {"url": URL}}),
    (Dialect.CHAT, {"type": "image_url", "image_url": URL}),
    (Dialect.CHAT, {"type": "video_url", "video_url": {"url": URL}}),
    (Dialect.CHAT, {"type": "file", "file": {"file_data": URL}}),
    (Dialect.CHAT, {"type": "file", "file": {"file_id": "file-1"}}),
    (Dialect.RESPONSES, {"type": "input_image", "image_url": URL}),
    (Dialect.RESPONSES, {"type": "input_file", "file_url": URL}),
    (Dialect.RESPONSES, {"type": "input_file", "file_id": "file-1"}),
    (Dialect.GEMINI, {"fileData": {"fileUri": URL}}),
    (Dialect.GEMINI, {"file_data": {"file_uri": "gs://bucket/x"}}),
]
INLINE = [
    (Dialect.ANTHROPIC, {"type": "image", "source": {"type": "base64", "data": "AA=="}}),
    (Dialect.CHAT, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}),
    (Dialect.RESPONSES, {"type": "input_image", "image_url": "data:image/png;base64,AA=="}),
    (Dialect.GEMINI, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
]


def sent(live):
    """Return the body that the vendor got."""
    return json.loads(live.run.seen[-1].body)


def conversation(dialect, part):
    """Return the fields of a request whose user sends this part of content."""
    if dialect is Dialect.GEMINI:
        return {"contents": [{"role": "user", "parts": [{"text": "see"}, part]}]}
    key = "input" if dialect is Dialect.RESPONSES else "messages"
    return {key: [{"role": "user", "content": [{"type": "text", "text": "see"}, part]}]}


@pytest.mark.parametrize(("dialect", "tool"), HOSTED)
def test_tool_of_the_vendor_is_removed_and_recorded(open_gateway, dialect, tool):
    with open_gateway("text", dialect, hosted_tools=HostedTools.REMOVE) as live:
        assert live.ask(dialect, tools=[SHELL[dialect], tool]).status == 200
        assert sent(live)["tools"] == [SHELL[dialect]]
        assert "evil.example" not in json.dumps(sent(live))
        (name,) = live.vendor.removed
        assert name == (next(iter(tool)) if dialect is Dialect.GEMINI else tool["type"])
        assert live.vendor.offered == {}


@pytest.mark.parametrize(("dialect", "tool"), HOSTED)
def test_tool_of_the_vendor_passes_an_open_network_and_is_recorded(open_gateway, dialect, tool):
    with open_gateway("text", dialect) as live:
        assert live.ask(dialect, tools=[SHELL[dialect], tool]).status == 200
        assert sent(live)["tools"] == [SHELL[dialect], tool]
        assert list(live.vendor.offered.values()) == [1]
        assert live.vendor.removed == {}


@pytest.mark.parametrize(("dialect", "tool"), HOSTED)
def test_request_with_no_other_tool_loses_its_tools(open_gateway, dialect, tool):
    with open_gateway("text", dialect, hosted_tools=HostedTools.REMOVE) as live:
        choice = {"type": tool.get("type", "x"), "name": tool.get("name", "x")}
        assert live.ask(dialect, tools=[tool], tool_choice=choice).status == 200
        assert not {"tools", "tool_choice"} & sent(live).keys()


@pytest.mark.parametrize(("dialect", "field", "value"), FIELDS)
def test_field_of_the_vendor_is_removed_and_recorded(open_gateway, dialect, field, value):
    with open_gateway("text", dialect, hosted_tools=HostedTools.REMOVE) as live:
        assert live.ask(dialect, **{field: value}).status == 200
        assert field not in sent(live)
        assert live.vendor.removed == {field: 1}


@pytest.mark.parametrize(("dialect", "field", "value"), FIELDS)
def test_field_of_the_vendor_passes_an_open_network(open_gateway, dialect, field, value):
    with open_gateway("text", dialect) as live:
        assert live.ask(dialect, **{field: value}).status == 200
        assert sent(live)[field] == value
        assert live.vendor.offered == {field: 1}


@pytest.mark.parametrize(("dialect", "part"), CONTENT)
def test_address_in_the_content_is_replaced_by_a_note(open_gateway, dialect, part):
    with open_gateway("text", dialect, hosted_tools=HostedTools.REMOVE) as live:
        assert live.ask(dialect, **conversation(dialect, part)).status == 200
        text = json.dumps(sent(live))
        assert "evil.example" not in text
        assert "removed: this trial's network" in text
        assert sum(live.vendor.removed.values()) == 1


def test_address_in_the_result_of_a_tool_is_replaced(open_gateway):
    image = {"type": "image", "source": {"type": "url", "url": URL}}
    with open_gateway("text", Dialect.ANTHROPIC, hosted_tools=HostedTools.REMOVE) as live:
        assert live.ask(Dialect.ANTHROPIC, results=1, output=[image]).status == 200
        assert "evil.example" not in json.dumps(sent(live))


@pytest.mark.parametrize(("dialect", "part"), INLINE)
def test_content_within_the_request_passes_unchanged(open_gateway, dialect, part):
    with open_gateway("text", dialect, hosted_tools=HostedTools.REMOVE) as live:
        fields = conversation(dialect, part)
        assert live.ask(dialect, **fields).status == 200
        key = next(iter(fields))
        assert sent(live)[key] == fields[key]
        assert live.vendor.removed == {}


@pytest.mark.parametrize("dialect", Dialect)
def test_request_without_anything_hosted_passes_byte_for_byte(open_gateway, dialect):
    with open_gateway("ok", dialect, hosted_tools=HostedTools.REMOVE) as live:
        live.ask(dialect, results=2)
        _, _, body = request(dialect, key="", results=2)
        assert live.run.seen[-1].body == json.dumps(body).encode()
        assert live.vendor.removed == {}


def test_single_object_where_a_list_belongs_is_checked_too():
    fields = {
        "contents": {"role": "user", "parts": {"fileData": {"fileUri": URL}}},
        "tools": {"googleSearch": {}},
    }
    rules = DIALECTS[Dialect.GEMINI].hosted
    assert sorted(find_hosted_tools(fields, rules, remove=True)) == ["file address", "googleSearch"]
    assert "tools" not in fields
    assert "evil.example" not in json.dumps(fields)


@pytest.mark.parametrize("dialect", Dialect)
def test_key_in_another_case_does_not_escape(open_gateway, dialect):
    with open_gateway("text", dialect, hosted_tools=HostedTools.REMOVE) as live:
        assert live.ask(dialect, Tools=[{"type": "web_search"}]).status == 200
        assert "Tools" not in sent(live)
        assert live.vendor.removed == {"Tools": 1}


def test_tools_within_a_namespace_are_split(open_gateway):
    inner = [SHELL[Dialect.RESPONSES], {"type": "web_search"}]
    namespace = {"type": "namespace", "name": "n", "tools": inner}
    with open_gateway("text", Dialect.RESPONSES, hosted_tools=HostedTools.REMOVE) as live:
        live.ask(Dialect.RESPONSES, tools=[namespace])
        assert sent(live)["tools"] == [{**namespace, "tools": inner[:1]}]
        assert live.vendor.removed == {"web_search": 1}
