"""One payment per rail with the client that openapi-generator made for Python."""

import json
import os

import trilho

configuration = trilho.Configuration(host=os.environ["URL"], access_token=os.environ["KEY"])
with trilho.ApiClient(configuration) as client:
    payment = {
        "message_type": "PACS008",
        "params": {
            "local_instrument": "MANU",
            "transactions": [
                {
                    "amount": 12345,
                    "debtor": {
                        "ispb": os.environ["ISPB"],
                        "name": "Maria de Exemplo",
                        "document": "12345678909",
                        "account_num": "500100",
                        "account_type": "CACC",
                    },
                    "creditor": {
                        "ispb": "87654321",
                        "document": "98765432100",
                        "account_num": "600200",
                        "account_type": "TRAN",
                    },
                }
            ],
        },
    }
    pix = trilho.InstantPaymentsApi(client).send_payment(
        trilho.SendPaymentRequest(trilho.SendPaymentRequestPacs008.from_dict(payment)),
        idempotency_key="python-pix",
    )
    card = trilho.CardsApi(client).authorize_card(
        trilho.CardAuthorization(
            card_token="tok_visa_approved",
            amount=10000,
            currency="BRL",
            merchant_id="MERCHANT000001",
        ),
        idempotency_key="python-card",
    )
    transfer = trilho.DigitalCurrencyApi(client).create_transfer(
        trilho.CreateTransferRequest(
            from_wallet=os.environ["FROM"], to_wallet=os.environ["TO"], amount="1.50"
        ),
        idempotency_key="python-transfer",
    )
    print(json.dumps({"pix": pix.status, "card": card.status, "transfer": transfer.status}))
