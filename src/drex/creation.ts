/** How services create something once for each request: check first, then write in one transaction. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { Caller } from '#src/platform/http/index.ts'
import type { Chain, Chains } from './chains.ts'
import type { SagaTerms } from './sagas.ts'
import type { Tokens } from './tokens/service.ts'
import type { Wallets } from './wallets/service.ts'

export type ServiceDeps = {
  readonly sql: Client
  readonly chains: Chains
  readonly wallets: Wallets
  readonly tokens: Tokens
  readonly expirySeconds: number
}

export type Creation<T> = {
  /** Writes it, in the transaction that also keeps the answer to its Idempotency-Key. */
  readonly write: (sql: Transaction) => Promise<T>
  /** Makes the answer for the caller after the commit, when we may know more. */
  readonly settle?: (written: T) => Promise<T>
}

/** The columns that say whose a new row is and who made it. */
export const madeBy = ({ owner: account, keyId: createdBy }: Caller) => {
  const createdAt = new Date()
  return { account, createdBy, createdAt }
}

/** The terms of what a caller begins now. */
export const termsOf = (
  { expirySeconds }: Pick<ServiceDeps, 'expirySeconds'>,
  { keyId: createdBy }: Caller,
  subject: string,
  network: string,
): SagaTerms => {
  const expiresAt = new Date(Date.now() + expirySeconds * 1_000)
  return { subject, network, createdBy, expiresAt }
}

/** With transactions for the engine, which looks at once. */
export const begun = <T>(
  { engine }: Chain,
  write: Creation<T>['write'],
  settle: (written: T) => T | Promise<T> = (written) => written,
): Creation<T> => ({
  write,
  async settle(written) {
    engine?.kick()
    return settle(written)
  },
})
