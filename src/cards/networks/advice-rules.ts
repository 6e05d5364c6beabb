import { z } from 'zod'
import type { Content } from '../content/index.ts'
import { amountCentsMax, type Currency, currencyNumbers } from '../transactions/domain.ts'

/** What may be decided here while a network is away, and told to it afterwards. */
const advisableOperations = ['authorization', 'capture', 'refund', 'void'] as const
type AdvisableOperation = (typeof advisableOperations)[number]

const expiryHoursDefault = 24
const expiryHoursMax = 720
const currencies = Object.keys(currencyNumbers) as [Currency, ...Currency[]]

/** `advices` of a network: its rules for what goes on without it. */
export const adviceRulesForm = z.strictObject({
  operations: z.array(z.enum(advisableOperations)).min(1),
  /** In minor units; an authorization above that of its currency, or in one without, is refused. */
  floor_limits: z
    .partialRecord(z.enum(currencies), z.int().min(1).max(Number(amountCentsMax)))
    .default({}),
  expiry_hours: z.int().min(1).max(expiryHoursMax).default(expiryHoursDefault),
})

export type AdviceRules = {
  readonly may: (operation: AdvisableOperation) => boolean
  /** Up to which amount an authorization is approved; 0n for none. */
  readonly floorCents: (currency: Currency) => bigint
  /** Hours after which an advice that was not answered is given up. */
  readonly expiryHours: number
}

/** The message that tells of each; a void is told by its reversal. */
const messages = {
  authorization: 'authorization_advice',
  capture: 'capture_advice',
  refund: 'refund_advice',
  void: 'reversal',
} as const

/** @throws Error for an operation that the network takes no message of, or that no amount is small enough for */
export const adviceRulesOf = (
  form: z.infer<typeof adviceRulesForm>,
  content: Content,
): AdviceRules => {
  const operations = new Set(form.operations)
  for (const operation of operations) {
    if (content.has(messages[operation])) continue
    throw new Error(`advices: the content has no ${messages[operation]}`)
  }
  const hasLimit = Object.keys(form.floor_limits).length > 0
  if (operations.has('authorization') !== hasLimit) {
    throw new Error('advices: authorization and floor_limits need each other')
  }
  return {
    may: (operation) => operations.has(operation),
    floorCents: (currency) => BigInt(form.floor_limits[currency] ?? 0),
    expiryHours: form.expiry_hours,
  }
}
