import { CodecError } from '#codecs/bytes'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import type { EmitWithin } from '#src/events/index.ts'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { TakeAdvice } from '../networks/index.ts'
import { type AdviceData, idByReference, isAdvised } from '../transactions/advices.ts'
import { changed } from '../transactions/changes.ts'
import { transition } from '../transactions/domain.ts'
import { type CardTransaction, changeTransactions, lockTransaction } from '../transactions/store.ts'

/** Response codes: taken; no such transaction. */
const taken = '00'
const unknownHere = '25'

export type AdvicesDeps = {
  readonly sql: Client
  readonly emission: EmitWithin | undefined
  readonly logger: Logger
  readonly now: () => Date
}

/**
 * Takes what networks tell of their own accord. A reversal that they made (0420) ends the authorization that it takes
 * back; if it is about anything else, the transaction needs attention. Each counts once, however often it is told. An
 * administrative advice (0620) is noted with its transaction, and never refused.
 */
export const createAdvices =
  ({ sql, emission, logger, now }: AdvicesDeps): TakeAdvice =>
  async ({ network, message }) => {
    const { mti, stan, transmissionDateTime: transmission, rrn } = message
    const numbers = { network, mti, stan, rrn }
    const isAdministrative = mti.startsWith('06')
    try {
      const id = rrn && (await idByReference(sql, network, rrn.trimEnd()))
      if (!id || stan === undefined || transmission === undefined) {
        logger.warn(numbers, 'an advice of the card network belongs to no transaction')
        return isAdministrative ? taken : unknownHere
      }
      const data = { mti: isAdministrative ? '0620' : '0420', stan, transmission } as const
      await sql.begin(async (tx) => {
        const before = await lockTransaction(tx, id)
        if (before === undefined || (await isAdvised(tx, id, data))) return
        const after = isAdministrative ? before : reversed(before, message, now())
        await note(tx, before, after, data, emission)
        logger.warn({ ...numbers, transaction: id }, 'an advice of the card network was taken')
      })
      return taken
    } catch (err) {
      logger.error({ ...numbers, err }, 'an advice of the card network was not kept')
      return undefined
    }
  }

const note = async (
  tx: Transaction,
  before: CardTransaction,
  after: CardTransaction,
  data: AdviceData,
  emission: EmitWithin | undefined,
): Promise<void> => {
  const isOpen = after.needsAttention && after.status === before.status && after !== before
  const events = [{ type: 'network_advice', data: { ...data, attention: String(isOpen) } }]
  await changeTransactions(tx, [{ before, after, events }], emission)
}

/** The transaction after its network has reversed what the message names. */
const reversed = (before: CardTransaction, message: CardMessage, at: Date): CardTransaction => {
  if (isOfAll(before, message) && transition(before, 'reversed_by_network') !== undefined) {
    const fields = { reason: 'reversed_by_network', voidedAt: at }
    return changed(before, 'reversed_by_network', fields, at)
  }
  // Nothing is on hold, or what is on hold is being taken back in any case.
  const { status, operation } = before
  const isOver = status === 'voided' || status === 'declined' || status === 'verified'
  if (isOver || operation === 'reversing_authorization') return before
  return { ...before, needsAttention: true, updatedAt: at }
}

/** Whether the message takes back the whole authorization, by the numbers that it gives. */
const isOfAll = (
  { stan, transmission, amountCents }: CardTransaction,
  { amount = '', originalData, replacementAmounts }: CardMessage,
): boolean => {
  if (!/^\d{12}$/.test(amount) || BigInt(amount) !== amountCents) return false
  if (replacementAmounts !== undefined && /[1-9]/.test(replacementAmounts)) return false
  if (originalData === undefined) return true
  try {
    const original = parseOriginalData(originalData)
    return original.stan === stan && original.transmissionDateTime === transmission
  } catch (error) {
    if (error instanceof CodecError) return false
    throw error
  }
}
