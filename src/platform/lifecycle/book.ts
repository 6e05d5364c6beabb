/** What a feature's tables hold of one kind, by the database's clock. */
export type BookLine = {
  /** As an operator says it: `instant payments QUEUED`. */
  readonly what: string
  /** Those that have not ended, up to {@link bookCountedMax}. */
  readonly open: number
  /** When the oldest open one was made; null: none is open. */
  readonly oldestOpen: Date | null
  /** When the last one was made, open or not; null: there is none, or the line is of a part. */
  readonly last: Date | null
}

/** More are not counted: looking must cost little on a database of any size. */
export const bookCountedMax = 10_000
