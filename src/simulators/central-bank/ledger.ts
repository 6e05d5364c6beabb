/** Who has how much: every movement is between two accounts, so the sum never changes. */

export type Account = {
  readonly ispb: string
  available: bigint
  held: bigint
  /** Amounts that came or went. */
  entries: number
}

export class Ledger {
  private readonly openingBalance: (ispb: string) => bigint
  private readonly byIspb = new Map<string, Account>()
  /** What accounts were opened with. */
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
    const account: Account = { ispb, available, held: 0n, entries: 0 }
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
  settle(from: string, to: string, cents: bigint): void {
    const payer = this.open(from)
    const receiver = this.open(to)
    payer.held -= cents
    receiver.available += cents
    payer.entries++
    receiver.entries++
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
