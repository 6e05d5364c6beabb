"""Judges answers by schemas of the official description: its components and [schema, value] come in, complaints go out."""
import json
import re
import sys

import jsonschema

given = json.load(sys.stdin)
components = given["components"]

# Where the description contradicts itself: patterns with slashes, members that are required and nowhere described.
NOWHERE = {"idCob", "cobs", "retentativa", 'atualizacao"'}
ADDRESS = {"logradouro", "cidade", "uf", "cep"}


def mend(node):
    if isinstance(node, dict):
        pattern = node.get("pattern")
        if isinstance(pattern, str):
            bare = pattern[1:-1] if pattern.startswith("/") and pattern.endswith("/") else pattern
            # Nowhere does it mean a part of the text.
            node["pattern"] = f"^(?:{bare})\\Z"
        if isinstance(node.get("required"), list):
            node["required"] = [name for name in node["required"] if name not in NOWHERE]
            # The address is of the receiver, and required beside it.
            if "recebedor" in node.get("properties", {}):
                node["required"] = [name for name in node["required"] if name not in ADDRESS]
            # Of a request there is neither: the one is recPayload, the other destinatario.
            if "SolicRecId" in str(node.get("allOf")):
                node["required"] = [name for name in node["required"] if name != "rec"]
            if "destinatario" in node.get("properties", {}):
                node["required"] = [name for name in node["required"] if name != "pagador"]
            # The participant is the payer's, and shown beside its other members.
            if "pagador" in node.get("properties", {}):
                node["required"] = [name for name in node["required"] if name != "ispbParticipante"]
            if "PayloadLocation" in str(node.get("allOf")):
                node["required"] = [name for name in node["required"] if name != "txid"]
        # A text is none of the objects that it should be.
        if node.get("type") == "string":
            node.pop("anyOf", None)
        # Alternatives that tell themselves apart by a member, which none of them requires.
        for branch in node.get("oneOf", []):
            members = list(branch.get("properties", {}))
            if len(members) == 1 and "required" not in branch:
                branch["required"] = members
        for value in node.values():
            mend(value)
    elif isinstance(node, list):
        for value in node:
            mend(value)


FORMATS = {
    "date": r"\d{4}-\d\d-\d\d",
    "date-time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    # Locations are without a scheme.
    "uri": r"([\w.~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+",
}
formats = jsonschema.FormatChecker(())
for name, form in FORMATS.items():
    formats.checks(name)(lambda value, form=form: not isinstance(value, str) or re.fullmatch(form, value, re.ASCII))

mend(components)
complaints = []
for schema, value in given["answers"]:
    whole = {"$ref": f"#/components/schemas/{schema}", "components": components}
    for error in jsonschema.Draft4Validator(whole, format_checker=formats).iter_errors(value):
        complaints.append(f"{schema}: {'/'.join(map(str, error.path))}: {error.message[:200]}")
print(json.dumps(complaints))
