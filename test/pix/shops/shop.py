"""The same with the client library of PyPI; see shops.mjs, whose proxy it comes through."""

import datetime
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

# Pix Automático: the payer is asked, authorises and is charged.
hook = {"webhookUrl": given["hook"]}
api.pix_config_webhook_recurrence_automatic(body=hook)
api.pix_config_webhook_automatic_charge(body=hook)
due = (datetime.date.today() + datetime.timedelta(days=6)).isoformat()
rec = api.pix_create_recurrence_automatic(
    body={
        "vinculo": {"contrato": "1", "devedor": {"cpf": "45164632481", "nome": "Fulano de Tal"}},
        "calendario": {"dataInicial": due, "periodicidade": "MENSAL"},
        "valor": {"valorRec": "35.00"},
        "politicaRetentativa": "NAO_PERMITE",
    }
)
id_rec = {"idRec": rec["idRec"]}
asked = api.pix_create_request_recurrence_automatic(
    body={
        **id_rec,
        "calendario": {"dataExpiracaoSolicitacao": f"{due}T12:00:00Z"},
        "destinatario": {"cpf": "45164632481", "conta": "550689", "ispbParticipante": given["payer"]},
    }
)
id_asked = {"idSolicRec": asked["idSolicRec"]}
becomes("ACEITA", lambda: api.pix_detail_request_recurrence_automatic(params=id_asked))
becomes("APROVADA", lambda: api.pix_detail_recurrence_automatic(params=id_rec))
api.pix_create_automatic_charge_txid(
    params={"txid": given["collected"]},
    body={
        **id_rec,
        "calendario": {"dataDeVencimento": due},
        "valor": {"original": "35.00"},
        "recebedor": {"conta": "12682", "tipoConta": "CORRENTE"},
    },
)


def find():
    return api.pix_detail_automatic_charge(params={"txid": given["collected"]})


scheduled = becomes("ATIVA", find)
print("scheduled efipay", scheduled["tentativas"][0]["endToEndId"], flush=True)
collected = becomes("CONCLUIDA", find)
print("collected", rec["idRec"], collected["pix"][0]["endToEndId"], flush=True)
print("done efipay", back["e2eId"], flush=True)
