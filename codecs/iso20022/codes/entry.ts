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
  /**
   * What an institution does when it receives the code: our own advice, which we draw from the meaning, as no source
   * gives any; undefined where we have none.
   */
  readonly remedy?: { readonly en: string; readonly pt: string } | undefined
  /** Empty if the sources do not say. */
  readonly raisedBy: readonly RaisedBy[]
  /** The first and the last version of the message that have it, unless all have it. */
  readonly since?: string
  readonly until?: string
}

export type CodeList = ReadonlyMap<string, CodeEntry>

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
