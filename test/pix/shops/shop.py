"""The same with the client library of PyPI; see shops.mjs, whose proxy it comes through."""

import json
import socket
import sys
import time

given = json.loads(sys.argv[1])
lookup = socket.getaddrinfo


def leads(host, port, *more, **named):
    return lookup("127.0.0.1", given["port"], *more, **named) if port == 443 else lookup(host, port, *more, **named)


socket.getaddrinfo = leads

from efipay import EfiPay  # noqa: E402

client, txid = given["client"], given["txid"]
api = EfiPay(
    {
        "client_id": client["id"],
        "client_secret": client["secret"],
        "sandbox": True,
        "certificate": client["pem"],
    }
)


def becomes(status, ask):
    while True:
        found = ask()
        if found["status"] == status:
            return found
        time.sleep(0.03)


api.pix_config_webhook(params={"chave": client["pixKey"]}, body={"webhookUrl": given["hook"]})
body = {"calendario": {"expiracao": 3600}, "valor": {"original": "37.00"}, "chave": client["pixKey"]}
api.pix_create_charge(params={"txid": txid}, body=body)
print("charge efipay", txid, flush=True)
paid = becomes("CONCLUIDA", lambda: api.pix_detail_charge(params={"txid": txid}))
back = {"e2eId": paid["pix"][0]["endToEndId"], "id": "d1"}
api.pix_devolution(params=back, body={"valor": "1.00"})
becomes("DEVOLVIDO", lambda: api.pix_detail_devolution(params=back))
print("done efipay", back["e2eId"], flush=True)
