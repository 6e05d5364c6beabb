import type { BuildableMessage, BuildProblem } from '#codecs/iso20022'
import { faultsInParams, isMadeNear } from '../../messages/value-rules.ts'
import { recordOf } from './domain.ts'

export type RuleContext = {
  /** This institution's. */
  readonly ispb: string
  readonly nowMs: number
}

type Fields = Readonly<Record<string, unknown>>

/** Who may have made an id, or may not, and in words. */
type Makers = { readonly ispbs: readonly unknown[]; readonly expected: string }

type IdRule = {
  readonly field: string
  /** Ids that begin otherwise are of something else. */
  readonly letter?: string
  /** True: it is made when its message is. */
  readonly near?: (message: Fields) => boolean
  /** One of them made it; undefined: anybody may have. */
  readonly by?: (one: Fields, context: RuleContext, message: Fields) => Makers | undefined
  /** True: it stands once in its message. */
  readonly once?: true
  /** None of them made it. */
  readonly notBy?: (one: Fields, context: RuleContext) => Makers
}

type MessageRules = {
  /** The list with its parts; without it, the parameters themselves are the one part. */
  readonly list: string | undefined
  readonly ids: readonly IdRule[]
  /** The field of the institution that is paid, and whether it is the one that pays. */
  readonly settles?: readonly [field: string, isOwn: (one: Fields, context: RuleContext) => boolean]
}

/** The receiver makes the id of a recurring payment, with the charge, days before. */
const isRecurring = (message: Fields): boolean => message['local_instrument'] === 'AUTO'

const always = (): boolean => true

const own =
  (expected: string) =>
  (_: Fields, { ispb }: RuleContext): Makers => ({ ispbs: [ispb], expected })

const byPayer: IdRule['by'] = (payment, { ispb }, message) =>
  isRecurring(message)
    ? undefined
    : {
        ispbs: [
          ispb,
          recordOf(payment['debtor'])['ispb'],
          String(payment['initiator_document'] ?? '').slice(0, 8),
        ],
        expected: 'the ISPB of the sender or debtor, or the start of the initiator\u2019s CNPJ',
      }

const byReturner: IdRule['by'] = ({ returning_ispb: returning }, { ispb }) => ({
  ispbs: [ispb, returning ?? ispb],
  expected: 'the ISPB of the sender or of the institution that returns',
})

const byCreditor: IdRule['by'] = (charge, { ispb }) => ({
  ispbs: [ispb, recordOf(charge['creditor'])['ispb']],
  expected: 'the ISPB of the sender or creditor',
})

const byOther = ({ counterparty_ispb: other }: Fields): Makers => ({
  ispbs: [other],
  expected: 'an id of the one who asks, not of the counterparty',
})

/** Where nobody is named, who made the EndToEndId is paid, which may be this institution. */
const isReturnedToItself = (one: Fields, { ispb }: RuleContext): boolean => {
  const receiving = one['receiving_ispb'] ?? String(one['original_end_to_end_id']).slice(1, 9)
  return receiving === ispb || receiving === (one['returning_ispb'] ?? ispb)
}

/**
 * What each message must be beyond what its values must be: of the ids that this institution makes, when and by whom;
 * of those it cites, by whom not; and that money goes to another institution.
 */
const messageRules: Readonly<Partial<Record<BuildableMessage, MessageRules>>> = {
  PACS008: {
    list: 'transactions',
    ids: [
      {
        field: 'end_to_end_id',
        once: true,
        near: (message) => !isRecurring(message),
        by: byPayer,
      },
    ],
    settles: ['creditor/ispb', (one, { ispb }) => recordOf(one['creditor'])['ispb'] === ispb],
  },
  PACS004: {
    list: 'transactions',
    ids: [{ field: 'return_id', once: true, near: always, by: byReturner }],
    settles: ['receiving_ispb', isReturnedToItself],
  },
  PACS002: {
    list: 'transactions',
    ids: [
      {
        field: 'original_instruction_id',
        letter: 'D',
        near: always,
        notBy: own('the return of another institution: its receiver answers'),
      },
    ],
  },
  PAIN013: {
    list: 'charges',
    ids: [{ field: 'end_to_end_id', once: true, by: byCreditor }],
  },
  CAMT055: { list: undefined, ids: [{ field: 'cancellation_id', notBy: byOther }] },
  CAMT029: {
    list: undefined,
    ids: [
      {
        field: 'cancellation_id',
        notBy: own('an id of the counterparty, whose request is answered'),
      },
    ],
  },
}

/**
 * Returns the business rules that a message breaks whose parameters are well formed: those of its values, then those of
 * its type.
 */
export const brokenRules = (
  messageType: BuildableMessage | 'CAMT060',
  params: unknown,
  context: RuleContext,
): readonly BuildProblem[] => {
  const faults = faultsInParams(params)
  const unreal = new Set(faults.map(({ pointer }) => pointer))
  const rules = messageType === 'CAMT060' ? undefined : messageRules[messageType]
  if (rules === undefined) return faults
  const message = recordOf(params)
  const parts = partsOf(message, rules.list)
  const broken = parts.flatMap(([place, one]) => [
    ...rules.ids
      .filter(({ field }) => !unreal.has(`${place}/${field}`))
      .flatMap((rule) => brokenById(rule, one, message, context).map(at(`${place}/${rule.field}`))),
    ...brokenBySettlement(rules, one, context).map(at(`${place}/${rules.settles?.[0]}`)),
  ])
  return [...faults, ...broken, ...repeatedIds(rules, parts)]
}

type Problem = Omit<BuildProblem, 'pointer'>

const at =
  (pointer: string) =>
  (problem: Problem): BuildProblem => ({ pointer, ...problem })

const partsOf = (
  message: Fields,
  list: string | undefined,
): readonly (readonly [place: string, one: Fields])[] => {
  const all = list === undefined ? undefined : message[list]
  if (!Array.isArray(all)) return [['', message]]
  return all.map((one, index) => [`/${list}/${index}`, recordOf(one)])
}

const repeatedIds = (
  { ids }: MessageRules,
  parts: readonly (readonly [place: string, one: Fields])[],
): readonly BuildProblem[] =>
  ids
    .filter(({ once }) => once)
    .flatMap(({ field }) => {
      const given = parts.map(([, one]) => one[field])
      const isRepeated = (id: unknown, index: number) =>
        id !== undefined && given.indexOf(id) < index
      return parts.flatMap(([place], index) =>
        isRepeated(given[index], index) ? [at(`${place}/${field}`)(repeated)] : [],
      )
    })

const repeated: Problem = {
  rule: 'unique',
  message: 'stands in the message before',
  expected: 'an id of its own',
}

const brokenById = (
  { field, letter = '', near, by, notBy }: IdRule,
  one: Fields,
  message: Fields,
  context: RuleContext,
): readonly Problem[] => {
  const id = one[field]
  if (typeof id !== 'string' || !id.startsWith(letter)) return []
  const isFar = near?.(message) === true && !isMadeNear(id, context.nowMs)
  // The ISPB stands behind the letters: one of an operation, two of what lasts.
  const maker = id.slice(field === 'cancellation_id' ? 2 : 1).slice(0, 8)
  const makers = by?.(one, context, message)
  const others = notBy?.(one, context)
  return [
    ...(isFar ? [farFromNow] : []),
    ...(makers === undefined || makers.ispbs.includes(maker) ? [] : [madeByOther(makers)]),
    ...(others?.ispbs.includes(maker) === true ? [madeByWrongOne(others)] : []),
  ]
}

const farFromNow: Problem = {
  rule: 'date',
  message: 'has a moment more than 12 hours from now',
  expected: 'a UTC minute within 12 hours of now',
}

const madeByOther = ({ expected }: Makers): Problem => ({
  rule: 'ispb',
  message: 'was made by another institution',
  expected,
})

const madeByWrongOne = ({ expected }: Makers): Problem => ({
  rule: 'ispb',
  message: 'was made by the wrong institution',
  expected,
})

const brokenBySettlement = (
  { settles }: MessageRules,
  one: Fields,
  context: RuleContext,
): readonly Problem[] =>
  settles?.[1](one, context) === true
    ? [
        {
          rule: 'settlement',
          message: 'is the same institution: what stays within it is not settled over the SPI',
          expected: 'the ISPB of another institution',
        },
      ]
    : []
