"""An agent small enough to read: it asks a model in Anthropic's dialect and does what that says."""

from pathlib import Path

SCRIPT = r"""
import json, os, subprocess, sys, urllib.error, urllib.request
url = os.environ["ASK_URL"] + "/v1/messages"
tool = {"name": "bash", "description": "Run it.", "input_schema": {
    "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}
task = sys.stdin.read()
messages = [{"role": "user", "content": task}]
if sys.argv[2:]:
    with open(os.environ["ASK_STATE"] + "/session.jsonl") as kept:
        messages = json.loads(kept.read().splitlines()[-1])
    cut = [{"type": "tool_result", "tool_use_id": part["id"], "content": "interrupted"}
           for part in messages[-1]["content"] if part["type"] == "tool_use"]
    messages.append({"role": "user", "content": [*cut, {"type": "text", "text": task}]})
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
while True:
    body = {"model": sys.argv[1], "max_tokens": 1000, "messages": messages, "tools": [tool]}
    headers = {"x-api-key": os.environ["ASK_KEY"], "anthropic-version": "2023-06-01",
               "content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        answer = json.load(opener.open(request, timeout=60))
    except urllib.error.HTTPError as error:
        sys.exit("the model said %d" % error.code)
    messages.append({"role": "assistant", "content": answer["content"]})
    calls = [part for part in answer["content"] if part["type"] == "tool_use"]
    for part in answer["content"]:
        print(json.dumps(part), flush=True)
    with open(os.environ["ASK_STATE"] + "/session.jsonl", "a") as kept:
        kept.write(json.dumps(messages) + "\n")
    if not calls:
        break
    results = []
    for call in calls:
        argv = ["sh", "-c", call["input"]["command"]]
        done = subprocess.run(argv, capture_output=True, text=True)
        print(done.stdout + done.stderr, flush=True)
        results.append({"type": "tool_result", "tool_use_id": call["id"],
                        "content": done.stdout + done.stderr})
    messages.append({"role": "user", "content": results})
"""


FINAL = '{"type": "result", "subtype": "success", "is_error": false, "num_turns": 3}'
STAY = f"print({FINAL!r}, flush=True)\nimport time; time.sleep(3600)"


def talker(
    folder: Path, *, first: str = "", last: str = "", parser: str = "none", resumes: bool = False
) -> Path:
    """Write the agent's file, and return where it is.

    `first` is what it does before it asks, `last` what it does in the end. One that `resumes` can
    continue its session.
    """
    path = folder / "talker.yaml"
    imports, _, rest = SCRIPT.strip().partition("\n")
    script = "".join(
        f"    {line}\n"
        for line in (imports, *first.splitlines(), *rest.splitlines(), *last.splitlines())
    )
    path.write_text(
        "name: talker\ntitle: Talker\ndialect: anthropic-messages\n"
        f"files:\n  talker.py: |\n{script}"
        "argv: [python3, '{agent}/talker.py', '{model}']\n"
        + ("resume: [python3, '{agent}/talker.py', '{model}', resume]\n" if resumes else "")
        + "env: {ASK_URL: '{base_url}', ASK_KEY: '{key}', ASK_STATE: '{state}'}\n"
        f"stdin: prompt\nsessions: ['*.jsonl']\nparser: {parser}\n",
        encoding="utf-8",
    )
    return path
