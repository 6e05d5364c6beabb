import { z } from 'zod'

/**
 * What codes of DE 39 mean at a network. Data, because hosts differ. A code of none of the lists may mean that the
 * network holds money: the caller hears that it was declined, and it is reversed.
 */
export type AnswerCodes = {
  /** All of what was asked for. */
  readonly approved: readonly string[]
  /** A part of what was asked for; DE 4 of the answer says how much. */
  readonly partial: readonly string[]
  /** Codes that say nothing against a card that we only ask about. */
  readonly verified: readonly string[]
  /** Certainly nothing, to a request as to a void; single codes and ranges. */
  readonly declined: readonly string[]
  /** To a reversal: it is done. */
  readonly reversed: readonly string[]
  /** To a repeated reversal: the network has it already. */
  readonly repeated: readonly string[]
  /** To a reversal: the network does not know the original, which may still be on its way. */
  readonly unknown: readonly string[]
}

const letters = ['N0-N9', 'P0-P9', 'Q0-Q9', 'R0-R9', 'S0-S9', 'T0-T9', 'Z0-Z9']

/** Too late, cut-over under way, issuer away, malfunction: the network itself does not know what was done. */
export const undecidedCodes: ReadonlySet<string> = new Set(['68', '90', '91', '96'])

/**
 * ISO 8583:1987. Not declined are the undecided ones, and 08 (identify the holder), 09 (in progress), 10 (a part), 11 and
 * 16 (approved), 32 (in part) and 85 (nothing against it).
 */
export const answerCodes1987: AnswerCodes = {
  approved: ['00'],
  partial: ['10'],
  verified: ['00', '85'],
  declined: ['01-07', '12-15', '17-31', '33-67', '69-84', '86-89', '92-95', '97-98', ...letters],
  reversed: ['00'],
  repeated: ['94'],
  unknown: ['12', '21', '25', '76'],
}

const written = z.array(z.string().regex(/^[0-9A-Z]{2}(-[0-9A-Z]{2})?$/)).max(200)

/** The form of {@link AnswerCodes} in the networks file; what is left out is that of ISO 8583:1987. */
export const answerCodesForm = z.strictObject({
  approved: written.default([...answerCodes1987.approved]),
  partial: written.default([...answerCodes1987.partial]),
  verified: written.default([...answerCodes1987.verified]),
  declined: written.default([...answerCodes1987.declined]),
  reversed: written.default([...answerCodes1987.reversed]),
  repeated: written.default([...answerCodes1987.repeated]),
  unknown: written.default([...answerCodes1987.unknown]),
})

/** The meaning of an answer's code to a request; `unwanted` may have moved money. */
type AnswerMeaning = 'approved' | 'declined' | 'unwanted'
/** The meaning of an answer's code to a reversal. */
type ReversalMeaning = 'done' | 'not_known' | 'refused'

export type AnswerRules = {
  readonly of: (code: string) => AnswerMeaning
  readonly isPartial: (code: string) => boolean
  readonly isVerified: (code: string) => boolean
  readonly ofReversal: (code: string, isRepeat: boolean) => ReversalMeaning
}

const rangesOf = (codes: readonly string[]) =>
  codes.map((one) => {
    const [from = '', to = from] = one.split('-')
    return { from, to }
  })

const contains = (codes: readonly string[]): ((code: string) => boolean) => {
  const ranges = rangesOf(codes)
  return (code) => code.length === 2 && ranges.some(({ from, to }) => from <= code && code <= to)
}

/** A code that both have: where two ranges meet, one of them begins. */
const commonOf = (some: readonly string[], others: readonly string[]): string | undefined => {
  const [isOfSome, isOfOthers] = [contains(some), contains(others)]
  const starts = rangesOf([...some, ...others]).map(({ from }) => from)
  return starts.find((code) => isOfSome(code) && isOfOthers(code))
}

/** @throws Error when a code by which the network moves money is declined, too: nobody would take it back */
export const createAnswerRules = (codes: AnswerCodes): AnswerRules => {
  const [isApproved, isDeclined, isReversed, isRepeated, isUnknown] = [
    codes.approved,
    codes.declined,
    codes.reversed,
    codes.repeated,
    codes.unknown,
  ].map(contains) as [Test, Test, Test, Test, Test]
  for (const moving of ['approved', 'partial'] as const) {
    const both = commonOf(codes[moving], codes.declined)
    if (both !== undefined) throw new Error(`code ${both} is both ${moving} and declined`)
  }
  return {
    isPartial: contains(codes.partial),
    isVerified: contains(codes.verified),
    of: (code) => (isApproved(code) ? 'approved' : isDeclined(code) ? 'declined' : 'unwanted'),
    ofReversal: (code, isRepeat) => {
      if (isReversed(code) || (isRepeat && isRepeated(code))) return 'done'
      return isUnknown(code) ? 'not_known' : 'refused'
    },
  }
}

type Test = (code: string) => boolean
