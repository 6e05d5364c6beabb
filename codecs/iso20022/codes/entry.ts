/** Who may write a code: `R` the receiving participant, `S` the SPI itself. */
export type RaisedBy = 'R' | 'S'

/** One code of a list, with its meaning for people. */
export type CodeEntry = {
  readonly code: string
  readonly meaning: { readonly en: string; readonly pt: string }
  /** Empty where the sources do not say. */
  readonly raisedBy: readonly RaisedBy[]
}

export type CodeList = ReadonlyMap<string, CodeEntry>

/** Rows of code, raiser (`R`, `S`, `RS` or nothing), English, Portuguese. */
export const codeList = (
  rows: readonly (readonly [code: string, raisedBy: string, en: string, pt: string])[],
): CodeList =>
  new Map(
    rows.map(([code, raisedBy, en, pt]) => [
      code,
      { code, meaning: { en, pt }, raisedBy: [...raisedBy] as RaisedBy[] },
    ]),
  )
