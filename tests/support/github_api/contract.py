"""Compares requests and answers with GitHub's own description, and fills answers up by it.

The description is OpenAPI 3.0, whose `nullable` is no JSON Schema: it is turned into one, and its
enums get the null that they mean. All that is corrected stands in
tests/support/github_api/README.md.
"""

import re
from dataclasses import dataclass

from jsonschema import Draft202012Validator

from tests.support.github_api import describe

JSON = "application/json"
MOMENT = "2026-01-02T03:04:05Z"
FORMATS = {
    "uri": "https://sample.invalid/",
    "date-time": MOMENT,
    "date": MOMENT[:10],
    "email": "sample@sample.invalid",
}


DEFECTS = (("workflow-run", "head_repository"), ("pull-request-simple", "head", "repo"))
"""Null where a fork was deleted, which the description does not say."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One verb of one path, with the values that stand in this address."""

    name: str
    values: dict
    spoken: dict


class Contract:
    """One edition's description."""

    def __init__(self, edition):
        cut = schema_of(corrected(describe.load(edition)))
        self.components = cut["components"]
        self.paths = [(pattern_of(path), path, verbs) for path, verbs in cut["paths"].items()]

    def operation(self, verb, path):
        """Return the operation of an address, or None where the description has none."""
        for pattern, name, verbs in self.paths:
            match = pattern.fullmatch(path)
            if match and verb.lower() in verbs:
                spoken = verbs[verb.lower()]
                spoken = {**spoken, "parameters": verbs["parameters"] + spoken["parameters"]}
                found = match.groupdict()
                return Operation(name=f"{verb} {name}", values=found, spoken=spoken)
        return None

    def request_faults(self, operation, query, body):
        """Return what is wrong with a request, as sentences."""
        known = {one["name"]: one for one in map(self.resolve, operation.spoken["parameters"])}
        faults = [f"unknown parameter {name}" for name in query if name not in known]
        for name, value in {**operation.values, **query}.items():
            schema = known.get(name, {}).get("schema", {})
            whole = schema.get("type") == "integer" and value.isdecimal()
            faults += self.faults(schema, int(value) if whole else value, name)
        wanted = operation.spoken.get("requestBody")
        if wanted is None:
            return faults + (["a body where none belongs"] if body is not None else [])
        schema = wanted["content"][JSON]["schema"]
        return faults + self.faults(schema, body, "body") + self.unknown(schema, body, "body")

    def unknown(self, schema, value, place):
        """Return the fields that the description does not name, which it would let pass."""
        schema = self.resolve(schema)
        if isinstance(value, list):
            inner = schema.get("items", {})
            return [x for item in value for x in self.unknown(inner, item, f"{place}[]")]
        if not isinstance(value, dict) or "properties" not in schema:
            return []
        named = schema["properties"]
        faults = [f"{place}.{name} is unknown" for name in value if name not in named]
        for name in value.keys() & named.keys():
            faults += self.unknown(named[name], value[name], f"{place}.{name}")
        return faults

    def answer_schema(self, operation, status):
        """Return the schema of an answer; errors that are not declared look like all errors."""
        declared = self.resolve(operation.spoken["responses"].get(str(status), {}))
        if JSON in declared.get("content", {}):
            return declared["content"][JSON]["schema"]
        return {"$ref": "#/components/schemas/basic-error"} if status >= 400 else None

    def faults(self, schema, value, place="answer"):
        """Return how a value departs from a schema."""
        validator = Draft202012Validator({**schema, "components": self.components})
        return [
            f"{place}{one.json_path[1:]}: {one.message[:200]}"
            for one in validator.iter_errors(value)
        ]

    def filled(self, schema, value):
        """Return a value with whatever else its schema requires, by type."""
        schema = self.resolve(schema)
        for choice in schema.get("oneOf", schema.get("anyOf", ())):
            candidate = self.filled(choice, value)
            if not self.faults(choice, candidate):
                return candidate
        if isinstance(value, list):
            return [self.filled(schema.get("items", {}), item) for item in value]
        if isinstance(value, dict):
            named = schema.get("properties", {})
            missing = {
                name: self.sample(named[name])
                for name in schema.get("required", ())
                if name not in value and name in named
            }
            return missing | {
                name: self.filled(named.get(name, {}), item) for name, item in value.items()
            }
        return value

    def sample(self, schema):
        """Return the smallest value of a schema."""
        schema = self.resolve(schema)
        if "enum" in schema:
            return schema["enum"][0]
        choices = schema.get("oneOf", schema.get("anyOf"))
        if choices:
            return self.sample(choices[0])
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match kind[0] if isinstance(kind, list) else kind:
            case "object":
                return self.filled(schema, {})
            case "array":
                return []
            case "boolean":
                return False
            case "integer" | "number":
                return 1
            case _:
                return FORMATS.get(schema.get("format"), "sample")

    def resolve(self, schema):
        """Return a schema without references or `allOf` at its top."""
        while "$ref" in schema:
            kind, name = schema["$ref"].split("/")[2:]
            schema = self.components[kind][name]
        if "allOf" in schema:
            merged = dict(schema)
            for part in map(self.resolve, merged.pop("allOf")):
                merged["properties"] = part.get("properties", {}) | merged.get("properties", {})
                merged["required"] = [*merged.get("required", ()), *part.get("required", ())]
            return merged
        return schema


def corrected(cut):
    """Return a description with null where GitHub really answers it."""
    for schema, *names, last in DEFECTS:
        place = cut["components"]["schemas"][schema]["properties"]
        for name in names:
            place = place[name]["properties"]
        place[last] = {"nullable": True, "allOf": [place[last]]}
    return cut


def pattern_of(path):
    """Return the pattern of addresses; branches and file paths may have slashes of their own."""
    escaped = re.escape(path).replace(r"\{", "{").replace(r"\}", "}")
    loose = re.sub(r"\{(ref|path)\}", r"(?P<\1>.+)", escaped)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", loose))


def schema_of(value):
    """Return a part of an OpenAPI 3.0 document as JSON Schema."""
    if isinstance(value, list):
        return [schema_of(item) for item in value]
    if not isinstance(value, dict):
        return value
    turned = {
        key: {name: schema_of(one) for name, one in item.items()}
        if key == "properties"
        else item
        if key in ("enum", "default")
        else schema_of(item)
        for key, item in value.items()
        if key not in ("example", "examples", "nullable")
    }
    if value.get("nullable") is not True:
        return turned
    if "enum" in turned:
        turned["enum"] = [*turned["enum"], None]
    if "type" in turned:
        return turned | {"type": [turned["type"], "null"]}
    return {"anyOf": [turned, {"type": "null"}]}
