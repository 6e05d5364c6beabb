-- expand
DROP INDEX "card_reversals_age";
DROP INDEX "card_transactions_open";