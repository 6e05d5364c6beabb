"""A gRPC client of another make: grpcio and protobuf, told the types by descriptors of buf."""

import base64
import json
import sys

import grpc
from google.protobuf import descriptor_pool, message_factory

given = json.load(sys.stdin)
pool = descriptor_pool.DescriptorPool()
for serialized in given["descriptors"]:
    pool.AddSerializedFile(base64.b64decode(serialized))


def type_of(name):
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


Request = type_of("spigw.v1.TransformRequest")
Response = type_of("spigw.v1.TransformResponse")
ListRequest = type_of("spigw.v1.ListTransformationsRequest")
ListResponse = type_of("spigw.v1.ListTransformationsResponse")
HealthRequest = type_of("grpc.health.v1.HealthCheckRequest")
HealthResponse = type_of("grpc.health.v1.HealthCheckResponse")

if "ca" in given:
    channel = grpc.secure_channel(
        given["target"],
        grpc.ssl_channel_credentials(
            given["ca"].encode(), given["key_pem"].encode(), given["cert_pem"].encode()
        ),
    )
else:
    channel = grpc.insecure_channel(given["target"])

service = "/spigw.v1.TransformationService/"
key = [("authorization", "Bearer " + given["key"])]
write = lambda message: message.SerializeToString()
transform = channel.unary_unary(service + "Transform", write, Response.FromString)
stream = channel.stream_stream(service + "TransformStream", write, Response.FromString)
listing = channel.unary_unary(service + "ListTransformations", write, ListResponse.FromString)
check = channel.unary_unary("/grpc.health.v1.Health/Check", write, HealthResponse.FromString)


def code_of(call):
    try:
        call()
        return "OK"
    except grpc.RpcError as error:
        return error.code().name


good = Request(source_format="pacs.008", message=given["message"].encode())
good.options.enrich = True
bad = Request(source_format="pacs.008", message=b"<a>")
answer, call = transform.with_call(good, metadata=key, timeout=10)
answers = list(stream(iter([good, bad] * given["pairs"]), metadata=key, timeout=30))
zipped = transform(good, metadata=key, timeout=10, compression=grpc.Compression.Gzip)
json.dump(
    {
        "status": answer.status,
        "id": answer.transformation_id,
        "result": answer.result.decode(),
        "request_id": dict(call.initial_metadata()).get("x-request-id"),
        "zipped": zipped.status,
        "stream": [item.status for item in answers],
        "listed": len(listing(ListRequest(), metadata=key, timeout=10).transformations),
        "health": check(HealthRequest(), timeout=10).status,
        "no_key": code_of(lambda: transform(good, timeout=10)),
        "weak_key": code_of(
            lambda: transform(
                good, metadata=[("authorization", "Bearer " + given["weak_key"])], timeout=10
            )
        ),
        "unary_bad": transform(bad, metadata=key, timeout=10).status,
        "too_large": code_of(
            lambda: transform(Request(message=b" " * 9_000_000), metadata=key, timeout=10)
        ),
    },
    sys.stdout,
)
