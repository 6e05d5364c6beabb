/** The bank's books, to audit what a participant believes. */
import type { Ledger } from './ledger.ts'
import type { Operation, Settlement } from './settlement.ts'

/** Amounts are cents. */
export type Book = {
  readonly accounts: readonly {
    readonly ispb: string
    readonly available: bigint
    readonly held: bigint
  }[]
  /** The sum of all accounts; always equals `openedCents`. */
  readonly totalCents: bigint
  /** The sum that all accounts were opened with. */
  readonly openedCents: bigint
  readonly balanced: boolean
  readonly operations: readonly BookEntry[]
}

type BookEntry = {
  readonly id: string
  readonly kind: Operation['kind']
  readonly endToEndId: string
  readonly payer: string
  readonly receiver: string
  readonly amountCents: bigint
  readonly state: Operation['state']
  readonly code: string | null
  readonly settledAt: string | null
}

export const bookOf = (ledger: Ledger, settlement: Settlement): Book => {
  const accounts = ledger.accounts().map(({ ispb, available, held }) => ({ ispb, available, held }))
  const totalCents = accounts.reduce((sum, { available, held }) => sum + available + held, 0n)
  const openedCents = ledger.openedCents
  const operations = [...settlement.operations().values()].map((operation): BookEntry => {
    const { id, kind, endToEndId, payer, receiver, cents: amountCents, state } = operation
    const { code = null, settledAtMs } = operation
    const settledAt = settledAtMs === undefined ? null : new Date(settledAtMs).toISOString()
    return { id, kind, endToEndId, payer, receiver, amountCents, state, code, settledAt }
  })
  return { accounts, totalCents, openedCents, balanced: totalCents === openedCents, operations }
}
