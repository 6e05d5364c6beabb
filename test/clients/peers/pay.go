// One payment per rail with the client that openapi-generator made for Go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	trilho "github.com/trilho/client"
)

func main() {
	configuration := trilho.NewConfiguration()
	configuration.Servers = trilho.ServerConfigurations{{URL: os.Getenv("URL")}}
	client := trilho.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), trilho.ContextAccessToken, os.Getenv("KEY"))

	debtor := trilho.NewSendPaymentRequestPacs008ParamsTransactionsItemDebtor(
		os.Getenv("ISPB"), "Maria de Exemplo", "12345678909", "500100", "CACC")
	creditor := trilho.NewSendPaymentRequestPacs008ParamsTransactionsItemCreditor(
		"87654321", "98765432100", "600200", "TRAN")
	transaction := trilho.NewSendPaymentRequestPacs008ParamsTransactionsItem(12345, *debtor, *creditor)
	params := trilho.NewSendPaymentRequestPacs008Params(
		"MANU", []trilho.SendPaymentRequestPacs008ParamsTransactionsItem{*transaction})
	payment := trilho.NewSendPaymentRequestPacs008("PACS008", *params)
	pix, _, err := client.InstantPaymentsAPI.SendPayment(ctx).
		SendPaymentRequest(trilho.SendPaymentRequest{SendPaymentRequestPacs008: payment}).
		IdempotencyKey("go-pix").Execute()
	if err != nil {
		log.Fatal(err)
	}

	card, _, err := client.CardsAPI.AuthorizeCard(ctx).
		CardAuthorization(*trilho.NewCardAuthorization("tok_visa_approved", 10000, "BRL", "MERCHANT000001")).
		IdempotencyKey("go-card").Execute()
	if err != nil {
		log.Fatal(err)
	}

	transfer, _, err := client.DigitalCurrencyAPI.CreateTransfer(ctx).
		CreateTransferRequest(*trilho.NewCreateTransferRequest(os.Getenv("FROM"), os.Getenv("TO"), "1.50")).
		IdempotencyKey("go-transfer").Execute()
	if err != nil {
		log.Fatal(err)
	}

	fmt.Printf("{\"pix\":%q,\"card\":%q,\"transfer\":%q}\n", pix.Status, card.Status, transfer.Status)
}
