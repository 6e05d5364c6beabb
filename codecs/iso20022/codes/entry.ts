/** Who may write a code: `R` the receiving participant, `P` the paying one, `S` the SPI itself. */
export type RaisedBy = 'R' | 'P' | 'S'

/**
 * How sure a meaning is: from the central bank's own table for this message (`official`); reported by others who read
 * its catalogue; inferred from the same code in another message; or unknown, when we know only the code.
 */
export type CodeCertainty = 'official' | 'reported' | 'inferred' | 'unknown'

/** One code of a list, with its meaning for people. */
export type CodeEntry = {
  readonly code: string
  readonly certainty: CodeCertainty
  /** Undefined if it is not known. */
  readonly meaning: { readonly en: string; readonly pt: string } | undefined
  /** What the institution that is told of it does; undefined where we have no advice. */
  readonly remedy?: { readonly en: string; readonly pt: string } | undefined
  /** Empty if the sources do not say. */
  readonly raisedBy: readonly RaisedBy[]
  /** The first and the last version of the message that have it, unless all have it. */
  readonly since?: string
  readonly until?: string
}

export type CodeList = ReadonlyMap<string, CodeEntry>

/**
 * Code, raisers (for example `R`, `RS` or nothing), English, Portuguese, and what differs from the rest of the list.
 */
export type CodeRow = readonly [
  code: string,
  raisedBy: string,
  en: string,
  pt: string,
  other?: Partial<Pick<CodeEntry, 'certainty' | 'since' | 'until' | 'remedy'>>,
]

/** @param certainty of the rows that name none */
export const codeList = (
  rows: readonly CodeRow[],
  certainty: CodeCertainty = 'official',
): CodeList =>
  new Map(
    rows.map(([code, raisedBy, en, pt, other]) => [
      code,
      { code, certainty, meaning: { en, pt }, raisedBy: raisersOf(raisedBy), ...other },
    ]),
  )

type Advice = NonNullable<CodeEntry['remedy']>

/** Code, raisers, meaning in English and Portuguese, and what who is told of it does, in both. */
export type AdvisedRow = readonly [
  code: string,
  raisedBy: string,
  en: string,
  pt: string,
  remedyEn: string,
  remedyPt: string,
]

/** A list with our advice for each code. */
export const advised = (rows: readonly AdvisedRow[], certainty: CodeCertainty): CodeList =>
  codeList(
    rows.map(([code, raisedBy, en, pt, remedyEn, remedyPt]) => [
      ...([code, raisedBy, en, pt] as const),
      { remedy: { en: remedyEn, pt: remedyPt } },
    ]),
    certainty,
  )

/** Codes of which only the letters are known, and what can be done without their meaning. */
export const bareCodes = (codes: string, raisedBy: string, remedy: Advice): CodeList =>
  new Map(
    codes.split(' ').map((code) => [
      code,
      {
        code,
        certainty: 'unknown',
        meaning: undefined,
        remedy,
        raisedBy: raisersOf(raisedBy),
      },
    ]),
  )

/** Codes of versions up to one. */
export const untilVersion = (version: string, list: CodeList): CodeList =>
  new Map([...list].map(([code, entry]) => [code, { ...entry, until: version }]))

/** Several lists as one, by code. */
export const joined = (...lists: readonly CodeList[]): CodeList =>
  new Map(
    lists
      .flatMap((list) => [...list])
      .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)),
  )

export const isOfVersion = ({ since, until }: CodeEntry, version: string): boolean =>
  (since === undefined || minorOf(since) <= minorOf(version)) &&
  (until === undefined || minorOf(version) <= minorOf(until))

/**
 * The codes that a version of the message has.
 *
 * @example codesOf(statusReasons, '1.14').map(({ code }) => code)
 */
export const codesOf = (list: CodeList, version: string): readonly CodeEntry[] =>
  [...list.values()].filter((entry) => isOfVersion(entry, version))

/** The versions of a message differ only behind the point. */
const minorOf = (version: string): number => Number(version.slice(version.indexOf('.') + 1))

const raisers: readonly RaisedBy[] = ['R', 'P', 'S']

const raisersOf = (letters: string): readonly RaisedBy[] =>
  raisers.filter((one) => letters.includes(one))
