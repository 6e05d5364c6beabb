/**
 * One result for a message of one or many transactions: the top-level fields are the first's, `transactions`
 * holds all of them in the same shape where there is more than one, `transaction_count` is always there.
 */
export const withTransactions = (transactions: readonly object[]): object => {
  const result = { ...transactions[0], transaction_count: transactions.length }
  return transactions.length === 1 ? result : { ...result, transactions }
}
