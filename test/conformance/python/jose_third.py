"""PyJWT and jwcrypto as peers of JOSE: a JSON list of requests on stdin, the list of answers on stdout.

A request names the library, the operation, the key (JWK), and the token or the text with its header. `detached` says
that the payload is not in the token. What is refused is answered with null.
"""

import json
import sys


def pyjwt(request):
    from jwt import PyJWK
    from jwt.api_jws import PyJWS

    signs = request["operation"] == "sign"
    members = {name: value for name, value in request["key"].items() if signs or name in ("kty", "n", "e")}
    key = PyJWK(members, algorithm=request["header"]["alg"]).key
    detached = request.get("detached", False)
    if signs:
        header = {name: value for name, value in request["header"].items() if name != "alg"}
        return PyJWS().encode(
            request["text"].encode(), key, request["header"]["alg"], header, is_payload_detached=detached
        )
    payload = request["text"].encode() if detached else None
    found = PyJWS().decode(request["token"], key, [request["header"]["alg"]], detached_payload=payload)
    return found.decode()


def jwcrypto(request):
    from jwcrypto import jwe, jwk, jws

    key = jwk.JWK(**{name: value for name, value in request["key"].items() if name != "kid"})
    header = json.dumps(request.get("header", {}))
    operation = request["operation"]
    if operation == "sign":
        token = jws.JWS(request["text"].encode())
        token.add_signature(key, None, header, None)
        if request.get("detached"):
            token.detach_payload()
        return token.serialize(compact=True)
    if operation == "verify":
        token = jws.JWS()
        token.deserialize(request["token"])
        if request.get("detached"):
            token.verify(key, detached_payload=request["text"].encode())
            return request["text"]
        token.verify(key)
        return token.payload.decode()
    if operation == "encrypt":
        token = jwe.JWE(request["text"].encode(), header)
        token.add_recipient(key)
        return token.serialize(compact=True)
    token = jwe.JWE()
    token.deserialize(request["token"], key)
    return token.payload.decode()


def answer(request):
    library = {"PyJWT": pyjwt, "jwcrypto": jwcrypto}[request["library"]]
    try:
        return library(request)
    except ImportError:
        raise
    except Exception as error:  # whatever a library calls its refusal
        print(repr(error), file=sys.stderr)
        return None


print(json.dumps([answer(request) for request in json.load(sys.stdin)]))
