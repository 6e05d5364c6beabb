/** Who has how much: every movement is between two accounts, so the sum never changes. */

export type Account = {
  readonly ispb: string
  available: bigint
  held: bigint
  /** Amounts that came or went. */
  entries: number
}

export type Ledger = {
  /** The account, opened with the opening balance when it is new. */
  readonly open: (ispb: string) => Account
  readonly has: (ispb: string) => boolean
  readonly size: () => number
  /** False, and nothing changes, when less than that is available. */
  readonly hold: (ispb: string, cents: bigint) => boolean
  /** The held amount goes to the other account. */
  readonly settle: (from: string, to: string, cents: bigint) => void
  /** The held amount is available again. */
  readonly release: (ispb: string, cents: bigint) => void
  readonly accounts: () => readonly Account[]
  /** What accounts were opened with. */
  readonly openedCents: () => bigint
}

/** @param openingBalance cents by ISPB */
export const createLedger = (openingBalance: (ispb: string) => bigint): Ledger => {
  const accounts = new Map<string, Account>()
  let opened = 0n
  const open = (ispb: string): Account => {
    const known = accounts.get(ispb)
    if (known !== undefined) return known
    const available = openingBalance(ispb)
    const account: Account = { ispb, available, held: 0n, entries: 0 }
    opened += available
    accounts.set(ispb, account)
    return account
  }
  return {
    open,
    has: (ispb) => accounts.has(ispb),
    size: () => accounts.size,
    hold: (ispb, cents) => {
      const account = open(ispb)
      if (account.available < cents) return false
      account.available -= cents
      account.held += cents
      return true
    },
    settle: (from, to, cents) => {
      const payer = open(from)
      const receiver = open(to)
      payer.held -= cents
      receiver.available += cents
      payer.entries++
      receiver.entries++
    },
    release: (ispb, cents) => {
      const account = open(ispb)
      account.held -= cents
      account.available += cents
    },
    accounts: () => [...accounts.values()],
    openedCents: () => opened,
  }
}
