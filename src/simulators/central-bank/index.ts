/**
 * The central bank's message interface for instant payments, on this machine. Participants send and read messages
 * over HTTP on two channels; payments settle between their accounts. All state is in memory.
 */

import { versionOf } from '#codecs/iso20022'
import { every } from '#src/platform/jobs/index.ts'
import { steadyClock } from '../steady-clock.ts'
import { mandateAuthorized } from './authorizations.ts'
import { type Book, bookOf } from './book.ts'
import { type Authorize, createControl, type PayCode, type PayIn } from './control.ts'
import { mandateRequest } from './drafts.ts'
import { createFaultPlan, type Fault } from './faults.ts'
import { createIdentifiers } from './identifiers.ts'
import { Intake } from './intake.ts'
import { createMessageInterface } from './interface.ts'
import { Ledger } from './ledger.ts'
import {
  type CentralBankOptions,
  type Channel,
  isVirtual,
  payingPsp,
  type ResolvedOptions,
  resolveOptions,
} from './options.ts'
import { createOtherMessages } from './others.ts'
import { createPayers, type Payers } from './payers.ts'
import { createPostOffice, type IsFull } from './post-office.ts'
import { payableOf, tellOrder } from './reading.ts'
import { type ChannelServer, serveChannel } from './server.ts'
import { Settlement } from './settlement.ts'
import { createSignatureCheck } from './signatures.ts'
import { createTokenBuckets } from './token-bucket.ts'

export { type Revision, revisions } from '#codecs/iso20022'

export type { Fault } from './faults.ts'
export {
  acceptingPsp,
  batchMessagesMax,
  bodyBytesMax,
  type CentralBankOptions,
  type Channel,
  participantsMax,
  payingPsp,
  streamsMax,
} from './options.ts'

export type CentralBank = {
  /** The address of the primary channel: `http://127.0.0.1:port`. */
  readonly url: string
  readonly secondaryUrl: string
  readonly statistics: () => Statistics
  readonly book: () => Book
  /** Replaces all faults. */
  readonly setFaults: (faults: readonly Fault[]) => void
  /** Makes the paying PSP pay a participant. @returns the EndToEndId */
  readonly payIn: PayIn
  /**
   * Makes the paying PSP read the code of a charge, and pay what it asks for.
   *
   * @returns the EndToEndId
   * @throws UnpaidError
   */
  readonly payCode: PayCode
  /** Makes the paying PSP ask a payer of a participant for a mandate (pain.009). @returns its MndtId */
  readonly askMandate: (to: string) => string
  /** Makes the accepting PSP give a payment back. @returns RtrId; undefined: it was not paid so much */
  readonly giveBack: (endToEndId: string, amountCents: bigint, reason: string) => string | undefined
  /** Makes the institution of a payer pay a charge of Pix Automático before its time. @returns false: none is scheduled */
  readonly payCharge: Payers['payCharge']
  /** Puts a message of any type and sender in a participant's mailbox. */
  readonly deliver: (to: string, bytes: Uint8Array) => void
  readonly stop: () => Promise<void>
}

/** A virtual participant never runs out of money. */
const virtualBalanceCents = 10n ** 17n
const sweepMs = 250
const payInTickMs = 20
const payInDefaultCents = 1_000n

/** Starts the bank on both channels. */
export const createCentralBank = async (given: CentralBankOptions = {}): Promise<CentralBank> => {
  const options = resolveOptions(given)
  const parts = createParts(options)
  const { post, settlement, faults, payers, now } = parts
  const { payCharge } = payers
  const payIn: PayIn = (asked) => {
    const { to, amountCents, channel = 'primary', charge, endToEndId } = asked
    return settlement.payIn(to, amountCents, channel, charge, endToEndId)
  }
  const payCode: PayCode = async (asked) => {
    const endToEndId = parts.ids.endToEndId(payingPsp)
    const { directory } = options
    const payable = await payableOf(asked, { directory, now, endToEndId })
    payIn({ ...payable, endToEndId })
    if (directory !== undefined && asked.receiver === undefined) {
      await tellOrder(directory, endToEndId)
    }
    return endToEndId
  }
  const giveBack: CentralBank['giveBack'] = (...asked) => settlement.giveBackHere(...asked)
  const askMandate = (to: string): string => {
    const [id, requestId] = [parts.ids.dated('RR', payingPsp), parts.ids.dated('SC', payingPsp)]
    post.send(to, 'primary', mandateRequest({ id, requestId, from: payingPsp, to }))
    return id
  }
  const authorize: Authorize = (shown, journey) => {
    const asked = { requestId: parts.ids.dated('IS', payingPsp), from: payingPsp, journey }
    post.send(shown.recebedor.ispbParticipante, 'primary', mandateAuthorized(shown, asked))
  }
  const statistics = () => statisticsOf(parts)
  const book = () => bookOf(parts.ledger, settlement)
  const control = createControl({
    faults,
    payIn,
    payCode,
    giveBack,
    payCharge,
    askMandate,
    authorize,
    book,
    statistics,
    isFull: parts.isFull,
  })
  const { hostname, tls, hostWithoutPort, revision } = options
  const serve = (channel: Channel, port: number): Promise<ChannelServer> => {
    const answer = createMessageInterface({ ...parts, channel, revision })
    return serveChannel({ channel, hostname, port, tls, hostWithoutPort, answer, control, faults })
  }
  const primary = await serve('primary', options.port)
  let secondary: ChannelServer
  try {
    secondary = await serve('secondary', options.secondaryPort)
  } catch (error) {
    settlement.stop()
    await Promise.all([post.stop(), primary.stop()])
    throw error
  }
  const stopSweep = every(sweepMs, () => {
    for (const mailbox of post.mailboxes().values()) mailbox.abandon(options.streamIdleMs)
    payers.payDue()
  })
  const stopLoad = startLoad(options.payIn, payIn, parts)
  return {
    url: primary.url,
    secondaryUrl: secondary.url,
    statistics,
    book,
    setFaults: faults.set,
    payIn,
    payCode,
    giveBack,
    payCharge,
    askMandate,
    deliver: (to, bytes) =>
      post.mailbox(to, 'primary').put({ resourceId: parts.resourceId(), bytes }),
    stop: async () => {
      stopSweep()
      stopLoad()
      settlement.stop()
      await Promise.all([post.stop(), primary.stop(), secondary.stop()])
    },
  }
}

/** Makes every part of the bank but the servers of its channels. */
const createParts = (options: ResolvedOptions) => {
  const { now, revision, validate, limits } = options
  const faults = createFaultPlan(options.random)
  const ids = createIdentifiers(now)
  const ledger = new Ledger((ispb) =>
    isVirtual(ispb) ? virtualBalanceCents : options.openingBalanceCents,
  )
  const post = createPostOffice(options, ids, faults.mailbox)
  const settlement = new Settlement({
    ledger,
    post,
    ids,
    now,
    options,
    paymentVersion: versionOf('pacs.008', revision).version,
    returnVersion: versionOf('pacs.004', revision).version,
  })
  const payers = createPayers({ settlement, strike: faults.strike, now })
  const buckets = options.rateLimits ? createTokenBuckets(now) : undefined
  const { participantCertificates } = options
  const intake = new Intake({
    settlement,
    post,
    validate,
    rememberedMessagesMax: limits.rememberedMessagesMax,
    checkSignature:
      participantCertificates === undefined
        ? undefined
        : createSignatureCheck(participantCertificates),
    answerOther: createOtherMessages({
      ledger,
      post,
      settlement,
      payers,
      entryFault: faults.entry,
    }),
    debit: ({ ispb, channel }, type, count) => buckets?.debit(ispb, channel, type, count),
  })
  const { resourceId } = ids
  const isFull: IsFull = (to, channel) =>
    (to !== undefined && post.isFull(to, channel ?? 'primary')) ||
    (post.waiting() + intake.waiting() >= limits.waitingMessagesMax && !post.makeRoom())
  return { now, faults, ids, ledger, post, settlement, payers, buckets, intake, resourceId, isFull }
}

type Statistics = ReturnType<typeof statisticsOf>

const statisticsOf = ({ settlement, intake, post }: ReturnType<typeof createParts>) => {
  const operations = { waiting: 0, settled: 0, rejected: 0 }
  for (const { state } of settlement.operations().values()) operations[state]++
  return {
    received: intake.counts,
    /** Messages delivered to participants' queues. */
    sent: post.sent(),
    operations,
    lateAnswers: settlement.lateAnswers,
    /** Messages waiting to be taken. */
    intake: intake.waiting(),
    mailboxes: [...post.mailboxes()].map(([mailbox, box]) => ({
      mailbox,
      waiting: box.waiting(),
      unconfirmed: box.unconfirmed(),
      streams: box.streams(),
    })),
  }
}

/** Pays a participant at a steady rate, but not while the bank is full. @returns a function that ends it */
const startLoad = (
  load: CentralBankOptions['payIn'],
  payIn: PayIn,
  { now, isFull }: Pick<ReturnType<typeof createParts>, 'now' | 'isFull'>,
): (() => void) => {
  if (load === undefined) return () => {}
  const elapsed = steadyClock(now)
  let paid = 0
  const { to, amountCents = payInDefaultCents } = load
  return every(payInTickMs, () => {
    const due = Math.floor((elapsed() / 1000) * load.perSecond)
    for (; paid < due; paid++) {
      if (!isFull(to)) payIn({ to, amountCents })
    }
  })
}
