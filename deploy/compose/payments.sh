#!/bin/sh
# Makes a payment on each rail at $URL, with the key in $KEY_FILE, and shows what came of each. Ends with 0 when the
# central bank has accepted, the card is authorized and the transfer is confirmed.
set -eu

key=$(sed -n 's/.*"key": *"\([^"]*\)".*/\1/p' "$KEY_FILE")

# call <method> <path> [body]: prints the answer.
call() {
  if [ $# -eq 3 ]; then
    set -- -X "$1" "$URL$2" -H 'Content-Type: application/json' -d "$3"
  else
    set -- -X "$1" "$URL$2"
  fi
  curl -sS --fail-with-body --max-time 30 -H "Authorization: Bearer $key" "$@"
}

# field <name>: its first text in the JSON of standard input.
field() { sed -n "s/.*\"$1\": *\[\{0,1\}\"\([^\"]*\)\".*/\1/p"; }

# settled <path> <text>: waits until the answer has the text, two minutes at the most, and prints it.
settled() {
  left=600
  until answer=$(call GET "$1") && case $answer in *"$2"*) true ;; *) false ;; esac; do
    left=$((left - 1))
    if [ "$left" -eq 0 ]; then
      echo "still without $2: $answer" >&2
      exit 1
    fi
    sleep 0.2
  done
  echo "$answer"
}

echo 'Instant payments: 10.50 to 99999A04'
sent=$(call POST /v1/spi/send '{"message_type":"PACS008","params":{"local_instrument":"MANU","transactions":[{"amount":1050,"purpose":"IPAY","debtor":{"ispb":"12345678","name":"Maria Souza","document":"12345678909","account_num":"500100","account_type":"CACC"},"creditor":{"ispb":"99999A04","name":"João Lima","document":"98765432100","account_num":"600200","account_type":"CACC"}}]}}')
settled "/v1/messages/e2e/$(echo "$sent" | field end_to_end_ids)" '"status":"ACCEPTED"'

echo 'Cards: 100.00'
card=$(call POST /v1/transactions/authorize '{"card_token":"tok_visa_approved","amount":10000,"currency":"BRL","merchant_id":"MERCHANT000001","terminal_id":"TERM01","installments":1}')
echo "$card"
case $card in *'"status":"authorized"'*) ;; *) exit 1 ;; esac

echo 'Digital currency: 12.50 from one wallet to another'
from=$(call POST /v1/wallets '{"type":"managed","label":"compose-from"}' | field address)
to=$(call POST /v1/wallets '{"type":"managed","label":"compose-to"}' | field address)
for wallet in "$from" "$to"; do
  call POST /v1/drex/sandbox/fund "{\"wallet\":\"$wallet\",\"amount\":\"100.00\"}" >/dev/null
  settled "/v1/drex/balance/$wallet" '"balance":"100.00"' >/dev/null
done
transfer=$(call POST /v1/drex/transfers "{\"from_wallet\":\"$from\",\"to_wallet\":\"$to\",\"amount\":\"12.50\",\"reference\":\"compose\"}")
settled "/v1/drex/transfers/$(echo "$transfer" | field transfer_id)" '"status":"confirmed"'

echo 'A payment was made on each rail.'
