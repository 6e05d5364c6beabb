import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.CardsApi;
import org.openapitools.client.api.DigitalCurrencyApi;
import org.openapitools.client.api.InstantPaymentsApi;
import org.openapitools.client.model.*;

/** One payment per rail with the client that openapi-generator made for Java. */
public final class Pay {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("URL"));
    client.setRequestInterceptor(
        request -> request.header("Authorization", "Bearer " + System.getenv("KEY")));

    SendPaymentRequestPacs008ParamsTransactionsItem transaction =
        new SendPaymentRequestPacs008ParamsTransactionsItem()
            .amount(12_345L)
            .debtor(
                new SendPaymentRequestPacs008ParamsTransactionsItemDebtor()
                    .ispb(System.getenv("ISPB"))
                    .name("Maria de Exemplo")
                    .document("12345678909")
                    .accountNum("500100")
                    .accountType("CACC"))
            .creditor(
                new SendPaymentRequestPacs008ParamsTransactionsItemCreditor()
                    .ispb("87654321")
                    .document("98765432100")
                    .accountNum("600200")
                    .accountType("TRAN"));
    SendPaymentRequestPacs008 payment =
        new SendPaymentRequestPacs008()
            .messageType(SendPaymentRequestPacs008.MessageTypeEnum.PACS008)
            .params(
                new SendPaymentRequestPacs008Params()
                    .localInstrument("MANU")
                    .transactions(List.of(transaction)));
    SendPaymentAnswer pix =
        new InstantPaymentsApi(client).sendPayment(new SendPaymentRequest(payment), "java-pix");

    CardTransaction card =
        new CardsApi(client)
            .authorizeCard(
                new CardAuthorization()
                    .cardToken("tok_visa_approved")
                    .amount(10_000L)
                    .currency(CardAuthorization.CurrencyEnum.BRL)
                    .merchantId("MERCHANT000001"),
                "java-card");

    CreateTransferAnswer transfer =
        new DigitalCurrencyApi(client)
            .createTransfer(
                new CreateTransferRequest()
                    .fromWallet(System.getenv("FROM"))
                    .toWallet(System.getenv("TO"))
                    .amount("1.50"),
                null,
                "java-transfer");

    System.out.printf(
        "{\"pix\":\"%s\",\"card\":\"%s\",\"transfer\":\"%s\"}%n",
        pix.getStatus(), card.getStatus(), transfer.getStatus());
  }
}
