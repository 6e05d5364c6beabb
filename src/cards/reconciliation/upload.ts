import { CodecError } from '#codecs/bytes'
import type { CardMessage } from '#codecs/iso8583'
import type { Client } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Merchants } from '../merchants.ts'
import { type ExchangeOutcome, type Network, undecidedCodes } from '../networks/index.ts'
import { type Uploaded, uploadMessage } from '../networks/messages.ts'
import type { TraceNumbers } from '../transactions/stan.ts'
import { type CardTransaction, transactionById } from '../transactions/store.ts'
import { cardOr, type Vault } from '../vault/index.ts'
import { standingAfter, type UploadedMovement } from './movements.ts'
import * as store from './store.ts'

type Uploading = Pick<Network, 'name' | 'timeoutMs' | 'content' | 'answers' | 'exchange'>

export type UploadDeps = {
  readonly sql: Client
  readonly vault: Vault
  readonly merchants: Merchants
  /** DE 11 and DE 7 for a message that is to be sent now. */
  readonly nextStan: () => Promise<TraceNumbers>
  readonly logger: Logger
}

/** What became of one message; `again`: neither taken nor refused, so send it again. */
type Verdict = 'taken' | 'refused' | 'again'

/**
 * Sends the next transaction of the day, a 0320, or repeats as 0321 with the same STAN and DE 7 what was not answered,
 * unless it was taken back since: what follows it is told of under numbers of its own. After the last one the totals are compared again. One at a time, in the order of booking: whatever process goes on,
 * begins where the network has answered.
 *
 * @returns whether it has to be sent again, and whether no byte of what was begun was written
 */
export const uploadNext = async (
  { sql, vault, merchants, nextStan, logger }: UploadDeps,
  network: Uploading,
  due: store.Due,
): Promise<{ readonly isAgain: boolean; readonly isUnsent: boolean }> => {
  const movement = await standingAfter(sql, due)
  if (movement === undefined) {
    const { network, day, currency } = due
    await store.endUpload(sql, due)
    logger.info({ network, day, currency }, 'the transactions of a business day are uploaded')
    return { isAgain: false, isUnsent: false }
  }
  const transaction = await transactionById(sql, movement.transactionId)
  const card = transaction && (await cardOr(vault, transaction.cardToken))
  if (card === 'vault_unavailable') return { isAgain: true, isUnsent: false }
  if (transaction === undefined || card === undefined || card === 'token_unknown') {
    // It was deleted here or in the vault meanwhile, so we cannot tell the network of it.
    await store.uploaded(sql, due, movement.id, 'refused')
    return { isAgain: false, isUnsent: false }
  }
  let sent: Promise<ExchangeOutcome | undefined>
  const begun = begunOf(due, movement)
  const isRepeat = begun !== undefined && due.attempts > 0
  try {
    const numbers = begun ?? (await nextStan())
    if (!(await store.beginUploading(sql, due, movement, numbers)))
      return { isAgain: false, isUnsent: false }
    const { pan, expiry } = card
    const beside = { expiry, profile: merchants.get(transaction.merchantId) }
    const subject = { ...transaction, ...movedBy(movement, transaction), day: due.day }
    const build = () => uploadMessage(network.content, numbers, subject, pan, beside, isRepeat)
    sent = exchanged(network, build, (err) =>
      logger.error({ err, transaction: transaction.id }, 'a transaction could not be uploaded'),
    )
  } finally {
    card.pan.fill(0)
  }
  const outcome = await sent
  if (outcome === undefined) {
    await store.uploaded(sql, due, movement.id, 'refused')
    return { isAgain: false, isUnsent: false }
  }
  const verdict = verdictOf(network, outcome, isRepeat)
  if (verdict === 'again') return { isAgain: true, isUnsent: outcome.kind === 'not_sent' }
  await store.uploaded(sql, due, movement.id, verdict)
  return { isAgain: false, isUnsent: false }
}

/**
 * Undefined if the message cannot be made, or not be carried by the network's dialect: no byte of it is written, now or
 * later. The card number is not used after the call.
 */
export const exchanged = async (
  network: Pick<Network, 'exchange' | 'timeoutMs'>,
  build: () => CardMessage,
  onFault: (error: unknown) => void,
): Promise<ExchangeOutcome | undefined> => {
  let message: CardMessage
  try {
    message = build()
  } catch (error) {
    onFault(error)
    return undefined
  }
  try {
    return await network.exchange(message, network.timeoutMs)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    onFault(error)
    return undefined
  }
}

/** The numbers of a 0320 that has begun; undefined where it tells of another movement, or of more or less of it. */
const begunOf = (
  { stan, transmission, uploadedTo, uploadingId, uploadingCents }: store.Due,
  { id, cents }: UploadedMovement,
): Pick<TraceNumbers, 'stan' | 'transmission'> | undefined => {
  if (stan === null || transmission === null) return undefined
  // Older versions do not store what they tell of: there is nothing, or what the network has answered for since.
  const isTold = uploadingId !== null && uploadingId > (uploadedTo ?? 0n)
  const isSame = !isTold || (uploadingId === id && uploadingCents === cents)
  return isSame ? { stan, transmission } : undefined
}

const movedBy = (
  { kind, cents, stan, transmission, isAdvised, isIncrement }: UploadedMovement,
  transaction: CardTransaction,
) => {
  const sale = stan === transaction.stan ? 'authorization' : 'capture'
  const name = kind === 'credit' ? 'refund' : sale
  const advised = isAdvised ? (`${name}_advice` as const) : name
  const moved: Uploaded['moved'] = isIncrement ? 'increment' : advised
  return { moved, movedStan: stan, movedTransmission: transmission, amountCents: cents }
}

const verdictOf = (
  { answers }: Uploading,
  outcome: ExchangeOutcome,
  isRepeat: boolean,
): Verdict => {
  if (outcome.kind !== 'answered') return 'again'
  const { mti, responseCode } = outcome.response
  outcome.response.wipe()
  if (mti !== '0330' || responseCode === undefined || undecidedCodes.has(responseCode))
    return 'again'
  const isDone = isRepeat && answers.ofReversal(responseCode, true) === 'done'
  return isDone || answers.of(responseCode) === 'approved' ? 'taken' : 'refused'
}
