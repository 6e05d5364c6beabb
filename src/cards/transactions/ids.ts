/** Identifiers sort by their time of creation. */
export const newTransactionId = (): string => `txn_${Bun.randomUUIDv7().replaceAll('-', '')}`

/** What {@link newTransactionId} makes. */
export const transactionIdPattern = /^txn_[0-9a-f]{32}$/
