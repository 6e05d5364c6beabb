/** The balances of all: every movement is between two accounts, so the sum never changes. */

import { dayAt } from '#src/platform/runtime/index.ts'

export type Account = {
  readonly ispb: string
  available: bigint
  held: bigint
  /** How many amounts came or went, by the day of Brazil, YYYY-MM-DD. */
  readonly entriesByDay: Map<string, number>
}

/** How many entries a day has; all days together where none is named. */
export const entriesOf = ({ entriesByDay }: Account, day: string): number =>
  day === ''
    ? [...entriesByDay.values()].reduce((sum, entries) => sum + entries, 0)
    : (entriesByDay.get(day) ?? 0)

export class Ledger {
  private readonly openingBalance: (ispb: string) => bigint
  private readonly byIspb = new Map<string, Account>()
  /** The sum that accounts were opened with. */
  openedCents = 0n

  /** @param openingBalance cents by ISPB */
  constructor(openingBalance: (ispb: string) => bigint) {
    this.openingBalance = openingBalance
  }

  /** The account, opened with the opening balance when it is new. */
  open(ispb: string): Account {
    const known = this.byIspb.get(ispb)
    if (known !== undefined) return known
    const available = this.openingBalance(ispb)
    const account: Account = { ispb, available, held: 0n, entriesByDay: new Map() }
    this.openedCents += available
    this.byIspb.set(ispb, account)
    return account
  }

  /** Whether the account is open, or there is room to open it. */
  mayOpen(ispb: string, accountsMax: number): boolean {
    return this.byIspb.has(ispb) || this.byIspb.size < accountsMax
  }

  /** False, and nothing changes, when less than that is available. */
  hold(ispb: string, cents: bigint): boolean {
    const account = this.open(ispb)
    if (account.available < cents) return false
    account.available -= cents
    account.held += cents
    return true
  }

  /** Moves the held amount to the other account. */
  settle(from: string, to: string, cents: bigint, nowMs: number): void {
    const payer = this.open(from)
    const receiver = this.open(to)
    payer.held -= cents
    receiver.available += cents
    const day = dayAt(nowMs)
    for (const { entriesByDay } of [payer, receiver]) {
      entriesByDay.set(day, (entriesByDay.get(day) ?? 0) + 1)
    }
  }

  /** Makes the held amount available again. */
  release(ispb: string, cents: bigint): void {
    const account = this.open(ispb)
    account.held -= cents
    account.available += cents
  }

  accounts(): readonly Account[] {
    return [...this.byIspb.values()]
  }
}
