/** Payments and returns between participants: hold, ask the receiver, settle or reject. */

import type { Pacs002, Pacs004, Pacs008 } from '#codecs/iso20022'
import { ispbForm } from '#codecs/taxpayer'
import { every } from '#src/platform/jobs/index.ts'
import { ownText } from '#src/platform/runtime/index.ts'
import { createDeadlines, tickMs } from './deadlines.ts'
import {
  creditTransfer,
  giveBackTransaction,
  type PaidCharge,
  payInTransaction,
  paymentReturn,
  type Refusal,
} from './drafts.ts'
import type { Identifiers } from './identifiers.ts'
import type { Ledger } from './ledger.ts'
import {
  type Channel,
  isVirtual,
  participantsMax,
  payingPsp,
  type ResolvedOptions,
} from './options.ts'
import type { Origin, PostOffice } from './post-office.ts'
import { type Addressed, type Entry, rejection, sendReports, settledReport } from './reports.ts'
import { answerFault, paymentFault, returnFault } from './rules.ts'
import type { Draft } from './write.ts'

/** One payment or return, as the book shows it. */
export type Operation = {
  /** EndToEndId of a payment, RtrId of a return. */
  readonly id: string
  readonly kind: 'payment' | 'return'
  /** A return has the EndToEndId of the payment that it gives back. */
  readonly endToEndId: string
  readonly payer: string
  readonly receiver: string
  readonly cents: bigint
  readonly channel: Channel
  readonly receivedAtMs: number
  state: 'waiting' | 'settled' | 'rejected'
  /** Reason of a rejection. */
  code: string | undefined
  settledAtMs: number | undefined
  /** The bank rejects the operation with AB03 then, if it still waits. */
  readonly dueAtMs: number
  /** The sum that the returns of a payment have given back or hold. */
  returnedCents: bigint
}

/** An operation with its XML, canonical. */
type Asked = { readonly entry: Entry; readonly xml: string }

/** A payment that begins here, with the canonical XML of its transaction. */
type PaymentHere = Pick<Operation, 'endToEndId' | 'payer' | 'receiver' | 'cents' | 'channel'> & {
  readonly xml: string
}

type SettlementDeps = {
  readonly ledger: Ledger
  readonly post: PostOffice
  readonly ids: Identifiers
  readonly now: () => number
  readonly options: ResolvedOptions
  /** The version in which the bank pays itself. */
  readonly paymentVersion: string
  /** The same of returns. */
  readonly returnVersion: string
}

export class Settlement {
  private readonly deps: SettlementDeps
  private readonly entries = new Map<string, Entry>()
  /** Ids of the finished operations, in the order of their ends. */
  private readonly over = new Set<string>()
  private readonly deadlines: ReturnType<typeof createDeadlines<Entry>>
  /** Answers to operations that were over. */
  lateAnswers = 0
  readonly stop: () => void

  constructor(deps: SettlementDeps) {
    this.deps = deps
    this.deadlines = createDeadlines(deps.now)
    this.stop = every(tickMs, () => this.sweep())
  }

  /** @param xml canonical XML of each transaction */
  pay(message: Pacs008, xml: readonly string[], origin: Origin): void {
    const { instructionPriority: priority, serviceLevel } = message.groupHeader
    const { version } = message
    const begun = message.transactions.map((item) => ({
      entry: this.entryOf(
        {
          id: item.endToEndId,
          kind: 'payment',
          endToEndId: item.endToEndId,
          payer: origin.from,
          receiver: item.creditorAgentIspb,
          cents: item.amount.cents,
          channel: origin.channel,
        },
        origin,
        this.dueAt(serviceLevel, Date.parse(item.acceptanceDateTime)),
      ),
      fault: paymentFault(message, item, this.idsAtMs()),
    }))
    this.begin(begun, xml, origin, (transactions) =>
      creditTransfer({ version, priority, serviceLevel, transactions }),
    )
  }

  giveBack(message: Pacs004, xml: readonly string[], origin: Origin): void {
    const { now } = this.deps
    const begun = message.transactions.map((item) => ({
      entry: this.entryOf(
        {
          id: item.returnId,
          kind: 'return',
          endToEndId: item.originalEndToEndId,
          payer: origin.from,
          receiver: item.creditorAgentIspb,
          cents: item.amount.cents,
          // Returns and their answers always take the primary channel.
          channel: 'primary',
        },
        origin,
      ),
      fault: returnFault(
        message,
        item,
        this.entries.get(item.originalEndToEndId),
        now(),
        this.idsAtMs(),
      ),
    }))
    this.begin(begun, xml, origin, (transactions) => paymentReturn(message.version, transactions))
  }

  /** Takes a receiver's answer, or refuses it whole. */
  answer(message: Pacs002, origin: Origin): Refusal | undefined {
    const refusal = answerFault(message, this.entries)
    if (refusal !== undefined) return refusal
    const told: Addressed[] = []
    for (const { originalInstructionId, status, reasons } of message.transactions) {
      const entry = this.entries.get(originalInstructionId)
      if (entry?.state !== 'waiting') this.lateAnswers++
      else if (status === 'ACSP') told.push(...this.settle(entry))
      else {
        const [reason] = reasons
        this.reject(entry, ownText(reason?.code ?? ''))
        told.push(rejection(entry.payer, entry, reason?.additionalInformation))
      }
    }
    this.tell(told, origin)
    return undefined
  }

  /** Makes the paying PSP pay. @returns its EndToEndId */
  payIn(
    to: string,
    cents: bigint,
    channel: Channel,
    charge?: PaidCharge,
    endToEndId = this.deps.ids.endToEndId(payingPsp),
  ): string {
    const accepted = new Date(this.deps.now()).toISOString()
    const xml = payInTransaction({ endToEndId, cents, from: payingPsp, to, accepted, charge })
    this.payHere({ endToEndId, payer: payingPsp, receiver: to, cents, channel, xml }, 'PAGPRI')
    return endToEndId
  }

  /** Makes the virtual participant that was paid give back. @returns RtrId; undefined: it was not paid so much */
  giveBackHere(endToEndId: string, cents: bigint, reason: string): string | undefined {
    const original = this.entries.get(endToEndId)
    if (original?.state !== 'settled' || !isVirtual(original.receiver)) return undefined
    if (original.kind !== 'payment' || original.returnedCents + cents > original.cents) {
      return undefined
    }
    const id = this.deps.ids.returnId(original.receiver)
    const [payer, receiver] = [original.receiver, original.payer]
    const parts = { endToEndId, cents, channel: 'primary' } as const
    const entry = this.entryOf({ ...parts, id, kind: 'return', payer, receiver }, undefined)
    if (!this.start(entry, undefined)) return undefined
    const moved = { from: payer, to: receiver }
    const xml = giveBackTransaction({ ...moved, returnId: id, endToEndId, cents, reason })
    this.ask([{ entry, xml }], (transactions) =>
      paymentReturn(this.deps.returnVersion, transactions),
    )
    return id
  }

  /** Makes the institution of a payer pay what it has scheduled. @returns false: there is such a payment already */
  payScheduled(payment: PaymentHere): boolean {
    if (this.entries.has(payment.endToEndId)) return false
    this.payHere(payment, 'PAGAGD')
    return true
  }

  private payHere({ xml, ...parts }: PaymentHere, serviceLevel: 'PAGPRI' | 'PAGAGD'): void {
    const { now, paymentVersion: version } = this.deps
    const id = parts.endToEndId
    const dueAtMs = this.dueAt(serviceLevel, now())
    const entry = this.entryOf({ ...parts, id, kind: 'payment' }, undefined, dueAtMs)
    if (!this.start(entry, undefined)) return
    const priority = serviceLevel === 'PAGPRI' ? 'HIGH' : 'NORM'
    this.ask([{ entry, xml }], (transactions) =>
      creditTransfer({ version, priority, serviceLevel, transactions }),
    )
  }

  operations(): ReadonlyMap<string, Operation> {
    return this.entries
  }

  /** The message that brought an operation. */
  originOf(id: string): Origin | undefined {
    return this.entries.get(id)?.origin
  }

  /** Tells the senders of these operations the outcome of the finished ones. */
  tellAgain(ids: readonly string[]): void {
    const over = ids.flatMap((id) => {
      const entry = this.entries.get(id)
      if (entry === undefined || entry.state === 'waiting') return []
      return [
        entry.state === 'settled' ? settledReport(entry, 'ACSC') : rejection(entry.payer, entry),
      ]
    })
    this.tell(over)
  }

  private idsAtMs(): number | undefined {
    const { anyIds, now } = this.deps.options
    return anyIds ? undefined : now()
  }

  /** With `fromAcceptance`, the time of a priority payment runs from its acceptance by the payer's institution. */
  private dueAt(serviceLevel: string, acceptedAtMs: number): number {
    const { now, settlementLimitMs, scheduledLimitMs, fromAcceptance } = this.deps.options
    if (serviceLevel === 'PAGAGD') return now() + scheduledLimitMs
    const isEarlier = fromAcceptance && serviceLevel === 'PAGPRI'
    return (isEarlier ? Math.min(acceptedAtMs, now()) : now()) + settlementLimitMs
  }

  private entryOf(
    parts: Pick<Entry, 'id' | 'kind' | 'endToEndId' | 'payer' | 'receiver' | 'cents' | 'channel'>,
    origin: Origin | undefined,
    dueAtMs = this.deps.now() + this.deps.options.settlementLimitMs,
  ): Entry {
    return {
      ...parts,
      id: ownText(parts.id),
      endToEndId: ownText(parts.endToEndId),
      receiver: ownText(parts.receiver),
      dueAtMs,
      origin,
      receivedAtMs: this.deps.now(),
      state: 'waiting',
      code: undefined,
      settledAtMs: undefined,
      returnedCents: 0n,
    }
  }

  private begin(
    items: readonly { readonly entry: Entry; readonly fault: string | undefined }[],
    xml: readonly string[],
    origin: Origin,
    draft: (transactions: readonly string[]) => Draft,
  ): void {
    const accepted: Asked[] = []
    const refused: Addressed[] = []
    for (const [i, { entry, fault }] of items.entries()) {
      if (this.start(entry, fault)) accepted.push({ entry, xml: xml[i] ?? '' })
      else refused.push(rejection(entry.payer, entry))
    }
    this.ask(accepted, draft)
    this.tell(refused, origin)
  }

  /** Holds the amount; false when the operation is rejected at once. */
  private start(entry: Entry, fault: string | undefined): boolean {
    const { ledger } = this.deps
    this.remember(entry)
    const code = fault ?? this.overdue(entry) ?? this.unreachable(entry) ?? this.overdrawn(entry)
    if (code !== undefined) {
      this.end(entry, 'rejected')
      entry.code = code
      return false
    }
    ledger.open(entry.receiver)
    this.countReturn(entry, entry.cents)
    this.deadlines.file(entry, entry.dueAtMs - this.deps.now())
    return true
  }

  /** The reason code if its time has passed, or would pass while it waits for a receiver that does not keep up. */
  private overdue({ dueAtMs, receiver, channel }: Entry): string | undefined {
    const { now, post } = this.deps
    return dueAtMs <= now() || post.isFull(receiver, channel) ? 'AB03' : undefined
  }

  private unreachable({ receiver }: Entry): string | undefined {
    const { ledger } = this.deps
    const isFull = !ledger.mayOpen(receiver, participantsMax)
    return isFull || !ispbForm.test(receiver) ? 'RC10' : undefined
  }

  private overdrawn(entry: Entry): string | undefined {
    const original = entry.kind === 'return' ? this.entries.get(entry.endToEndId) : undefined
    // Returns of one message are judged before any of them is held.
    if (original !== undefined && original.returnedCents + entry.cents > original.cents) {
      return 'AM09'
    }
    return this.deps.ledger.hold(entry.payer, entry.cents) ? undefined : 'AM04'
  }

  private countReturn(entry: Entry, cents: bigint): void {
    if (entry.kind !== 'return') return
    const original = this.entries.get(entry.endToEndId)
    if (original !== undefined) original.returnedCents += cents
  }

  private remember(entry: Entry): void {
    this.entries.set(entry.id, entry)
    if (this.entries.size <= this.deps.options.limits.bookOperationsMax) return
    const [oldest] = this.over
    if (oldest === undefined) return
    this.over.delete(oldest)
    this.entries.delete(oldest)
  }

  private end(entry: Entry, state: 'settled' | 'rejected'): void {
    entry.state = state
    this.over.add(entry.id)
  }

  /** Sends a message's operations on to their receivers, one message for each. */
  private ask(asked: readonly Asked[], draft: (transactions: readonly string[]) => Draft): void {
    const byReceiver = Map.groupBy(asked, ({ entry }) => entry.receiver)
    for (const [receiver, group] of byReceiver) {
      const [first] = group
      if (first === undefined) continue
      if (isVirtual(receiver)) {
        setImmediate(() => {
          const waiting = group.filter(({ entry }) => entry.state === 'waiting')
          this.tell(waiting.flatMap(({ entry }) => this.settle(entry)))
        })
        continue
      }
      const transactions = group.map(({ xml }) => xml)
      this.deps.post.send(receiver, first.entry.channel, draft(transactions))
    }
  }

  private settle(entry: Entry): readonly Addressed[] {
    const { ledger, now } = this.deps
    const settledAtMs = now()
    ledger.settle(entry.payer, entry.receiver, entry.cents, settledAtMs)
    this.end(entry, 'settled')
    entry.settledAtMs = settledAtMs
    return [settledReport(entry, 'ACSC'), settledReport(entry, 'ACCC')]
  }

  /** Ends a waiting operation without settling it. */
  private reject(entry: Entry, code: string): void {
    this.deps.ledger.release(entry.payer, entry.cents)
    this.countReturn(entry, -entry.cents)
    this.end(entry, 'rejected')
    entry.code = code
  }

  /** Rejects the operations whose time has passed. */
  private sweep(): void {
    const all: Addressed[] = []
    for (const entry of this.deadlines.takeDue()) {
      if (entry.state !== 'waiting') continue
      this.reject(entry, 'AB03')
      all.push(rejection(entry.payer, entry), rejection(entry.receiver, entry))
    }
    this.tell(all)
  }

  private tell(all: readonly Addressed[], cause?: Origin): void {
    sendReports(this.deps.post, all, cause)
  }
}
