/**
 * One result for a message of one or many transactions: the top-level fields are the first's, `transactions`
 * holds all of them in the same shape where there is more than one, `transaction_count` is always there.
 *
 * @param transactions of each the members as JSON, without braces; at least one
 */
export const withTransactions = (transactions: readonly string[]): string => {
  const result = `${transactions[0]},"transaction_count":${transactions.length}`
  if (transactions.length === 1) return `{${result}}`
  return `{${result},"transactions":[{${transactions.join('},{')}}]}`
}
