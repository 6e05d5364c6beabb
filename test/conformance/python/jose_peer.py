"""A second implementation of JOSE (joserfc): one JSON request on stdin, one answer on stdout."""

import json
import sys

from joserfc import jwe, jws
from joserfc.jwk import ECKey, RSAKey

request = json.load(sys.stdin)
kind = RSAKey if request["key"]["kty"] == "RSA" else ECKey
key = kind.import_key(request["key"])
algorithms = [request["alg"]]

if request["operation"] == "verify":
    answer = jws.deserialize_compact(request["token"], key, algorithms=algorithms).payload.decode()
elif request["operation"] == "sign":
    header = {"alg": request["alg"], "kid": request["kid"]}
    answer = jws.serialize_compact(header, request["text"], key, algorithms=algorithms)
elif request["operation"] == "decrypt":
    allowed = algorithms + [request["enc"]]
    answer = jwe.decrypt_compact(request["token"], key, algorithms=allowed).plaintext.decode()
else:
    header = {"alg": request["alg"], "enc": request["enc"], "kid": request["kid"]}
    allowed = algorithms + [request["enc"]]
    answer = jwe.encrypt_compact(header, request["text"], key, algorithms=allowed)
print(json.dumps(answer))
