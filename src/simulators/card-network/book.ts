/** One payment as the network knows it, for audits; amounts in cents. */
export type BookEntry = {
  /** MTI of the message that opened it. */
  readonly mti: string
  readonly stan: string
  readonly rrn: string
  /** MMDD of DE 7. */
  readonly day: string
  readonly responseCode: string
  readonly authCode: string | undefined
  readonly authorizedAmount: number
  capturedAmount: number
  reversedAmount: number
  /** How often the message that opened it came; more than 1 is a fault of the sender. */
  requests: number
  /** How many 0400 and 0401 came for it or for its captures. */
  reversals: number
}

export type Original = { readonly stan: string; readonly rrn: string; readonly day: string }

type Capture = { readonly entry: BookEntry; readonly amount: number; isReversed: boolean }

const keyOf = ({ stan, rrn, day }: Original): string => `${day}:${stan}:${rrn}`

/** What the network authorized, captured and reversed; the oldest go when there are `entriesMax`. */
export class Book {
  private readonly opened = new Map<string, BookEntry>()
  private readonly captures = new Map<string, Capture>()
  private readonly byRrn = new Map<string, BookEntry>()
  private readonly entriesMax: number

  constructor(entriesMax: number) {
    this.entriesMax = entriesMax
  }

  entries(): readonly Readonly<BookEntry>[] {
    return [...this.opened.values()]
  }

  find(original: Original): BookEntry | undefined {
    return this.opened.get(keyOf(original))
  }

  findByRrn(rrn: string): BookEntry | undefined {
    return rrn === '' ? undefined : this.byRrn.get(rrn)
  }

  open(entry: BookEntry): void {
    this.opened.set(keyOf(entry), entry)
    this.byRrn.set(entry.rrn, entry)
    if (this.opened.size <= this.entriesMax) return
    const [oldest] = this.opened
    if (oldest === undefined) return
    this.opened.delete(oldest[0])
    if (this.byRrn.get(oldest[1].rrn) === oldest[1]) this.byRrn.delete(oldest[1].rrn)
  }

  findCapture(original: Original): Capture | undefined {
    return this.captures.get(keyOf(original))
  }

  capture(entry: BookEntry, by: Original, amount: number): void {
    entry.capturedAmount += amount
    this.captures.set(keyOf(by), { entry, amount, isReversed: false })
    if (this.captures.size <= this.entriesMax) return
    const [oldest] = this.captures.keys()
    if (oldest !== undefined) this.captures.delete(oldest)
  }

  /** Takes one capture back; the authorization stands again. */
  reverseCapture(capture: Capture): void {
    if (capture.isReversed) return
    capture.isReversed = true
    capture.entry.capturedAmount -= capture.amount
  }

  /** Takes the whole payment back; a second time changes nothing. */
  reverse(entry: BookEntry): void {
    entry.reversedAmount = entry.authorizedAmount
    entry.capturedAmount = 0
  }
}
