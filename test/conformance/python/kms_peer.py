"""A second implementation of AWS requests (botocore): judges captured KMS requests, one verdict each on stdout."""

import base64
import json
import re
import sys

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import botocore.session
import botocore.validate


def verdict(request, credentials, region, model):
    sent = request["headers"]
    names = re.search(r"SignedHeaders=([^,]+)", sent["authorization"]).group(1).split(";")
    signer = botocore.auth.SigV4Auth(credentials, "kms", region)
    again = botocore.awsrequest.AWSRequest(
        method=request["method"],
        url=request["url"],
        data=request["body"].encode(),
        headers={name: sent[name] for name in names},
    )
    again.context["timestamp"] = sent["x-amz-date"]
    canonical = signer.canonical_request(again)
    signature = signer.signature(signer.string_to_sign(again, canonical), again)
    if not sent["authorization"].endswith("Signature=" + signature):
        return "another signature"
    operation = sent["x-amz-target"].removeprefix("TrentService.")
    parameters = json.loads(request["body"])
    if "Message" in parameters:
        parameters["Message"] = base64.b64decode(parameters["Message"], validate=True)
    shape = model.operation_model(operation).input_shape
    unknown = set(parameters) - set(shape.members)
    report = botocore.validate.ParamValidator().validate(parameters, shape)
    if unknown or report.has_errors():
        return f"unknown {sorted(unknown)}; {report.generate_report()}"
    for name, value in parameters.items():
        allowed = getattr(shape.members[name], "enum", None)
        if allowed and value not in allowed:
            return f"{name} is not one of {allowed}"
    return "ok"


given = json.load(sys.stdin)
model = botocore.session.Session().get_service_model("kms")
credentials = botocore.credentials.Credentials(
    given["accessKeyId"], given["secretAccessKey"], given.get("sessionToken")
)
print(json.dumps([verdict(each, credentials, given["region"], model) for each in given["requests"]]))
