"""One payment per rail with the client that openapi-python-client made."""

import json
import os

from client import AuthenticatedClient
from client.api.cards import authorize_card
from client.api.digital_currency import create_transfer
from client.api.instant_payments import send_payment
from client.models import CardAuthorization, CreateTransferRequest, SendPaymentRequestPacs008

client = AuthenticatedClient(base_url=os.environ["URL"], token=os.environ["KEY"])
payment = SendPaymentRequestPacs008.from_dict(
    {
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
)
pix = send_payment.sync(client=client, body=payment, idempotency_key="attrs-pix")
card = authorize_card.sync(
    client=client,
    body=CardAuthorization.from_dict(
        {
            "card_token": "tok_visa_approved",
            "amount": 10000,
            "currency": "BRL",
            "merchant_id": "MERCHANT000001",
        }
    ),
    idempotency_key="attrs-card",
)
transfer = create_transfer.sync(
    client=client,
    body=CreateTransferRequest(
        from_wallet=os.environ["FROM"], to_wallet=os.environ["TO"], amount="1.50"
    ),
    idempotency_key="attrs-transfer",
)
print(json.dumps({"pix": pix.status, "card": card.status, "transfer": transfer.status}))
