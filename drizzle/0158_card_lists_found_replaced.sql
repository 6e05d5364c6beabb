-- expand
DROP INDEX "card_transactions_merchant";
DROP INDEX "card_transactions_authorized";