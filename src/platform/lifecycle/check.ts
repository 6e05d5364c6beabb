/** One thing `trilho doctor` looked at. */
export type Check = {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What to do; absent when all is well. */
  readonly fix?: string
}
