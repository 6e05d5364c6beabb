import { CodecError } from '#codecs/bytes'
import { type CardMessage, parseAdditionalAmounts } from '#codecs/iso8583'
import type { Balance } from '../content/index.ts'
import type { AnswerRules, ExchangeOutcome, Network } from '../networks/index.ts'
import { numberFinder } from '../networks/matching.ts'
import { shownMessage } from '../networks/messages.ts'
import { feesIn, type MovementFees } from '../reconciliation/index.ts'
import type { ShownMessage } from '../transactions/schema.ts'
import { centsIn } from '../transactions/told-amounts.ts'

/** What an exchange means for the transaction. */
export type Verdict = Meaning & {
  /** What went over the wire, the request first; undefined: nothing. */
  readonly messages?: readonly ShownMessage[]
  /** The network has certainly approved something, but not what it was asked for. */
  readonly isOtherApproval?: boolean
}

type Meaning =
  | {
      readonly kind: 'approved'
      readonly responseCode: string
      readonly authCode: string | undefined
      /** DE 15: the day in which the network books it. */
      readonly settlementDate?: string | undefined
      /** What the network takes for it. */
      readonly fees?: MovementFees | undefined
      /** The values of the answer that later messages repeat. */
      readonly kept?: Readonly<Record<string, string>> | undefined
      /** Names of what later messages repeat, and the answer has in another form than it should, or with the card number. */
      readonly unread?: readonly string[]
      /** A part of what was asked for. */
      readonly partCents?: bigint
      readonly balances?: readonly Balance[]
    }
  | {
      readonly kind: 'declined'
      readonly responseCode: string
      readonly balances?: readonly Balance[]
    }
  /** We do not take it for an approval, but the network may hold the money. */
  | { readonly kind: 'unwanted'; readonly responseCode: string }
  /** The network is away, and its rules let it go on. */
  | { readonly kind: 'advised' }
  /** The network cannot have acted. */
  | { readonly kind: 'not_sent'; readonly why: string }
  /** The network may have acted. */
  | {
      readonly kind: 'unknown'
      readonly why:
        | 'timed_out'
        | 'connection_lost'
        | 'answer_mismatch'
        | 'answer_unreadable'
        | 'abandoned'
      /** The field that differs from the request; the event shows it. */
      readonly field?: string
    }
  /** The network says itself that it does not know whether it has taken the money back, or will. */
  | { readonly kind: 'undecided'; readonly responseCode: string }

/** What an answer may approve: all of the amount, a part of it too, no money at all, or that money is taken back. */
export type Asked = 'whole' | 'part' | 'nothing' | 'reversal'

/**
 * Sends the message, and clears its card number before the first byte of an answer can come.
 *
 * @throws CodecError if the network's dialect cannot carry it; nothing was sent then
 */
export const exchange = async (
  network: Network,
  request: CardMessage,
  asked: Asked = 'whole',
): Promise<Verdict> => {
  let outcome: ExchangeOutcome
  const sent = shownMessage(network.content, request)
  const holdsNumber = numberFinder(request.pan)
  try {
    const answered = network.exchange(request, network.timeoutMs)
    request.wipe()
    outcome = await answered
  } finally {
    request.wipe()
  }
  switch (outcome.kind) {
    case 'answered': {
      const { response } = outcome
      const kept = network.content.keeper?.keep(
        (de) => bytesOf(response.more?.get(de)),
        holdsNumber,
      )
      const messages = [sent, shownMessage(network.content, response)]
      const fees = feesIn(response)
      response.wipe()
      const read = asked === 'reversal' ? reversalVerdictOf : verdictOf
      const verdict = withBalances(read(network.answers, request, response, asked), response)
      if (verdict.kind !== 'approved') return { ...verdict, messages }
      return {
        ...verdict,
        messages,
        fees,
        ...(kept?.values === undefined ? {} : { kept: kept.values }),
        ...(kept === undefined || kept.unread.length === 0 ? {} : { unread: kept.unread }),
      }
    }
    case 'not_sent':
      return { kind: 'not_sent', why: outcome.reason }
    case 'unreadable':
      return { kind: 'unknown', why: 'answer_unreadable', messages: [sent] }
    case 'timed_out':
    case 'connection_lost':
      return { kind: 'unknown', why: outcome.kind, messages: [sent] }
  }
}

const bytesOf = (value: string | Uint8Array | undefined): Uint8Array | undefined =>
  typeof value === 'string' ? undefined : value

const verdictOf = (
  rules: AnswerRules,
  request: CardMessage,
  response: CardMessage,
  asked: Asked,
): Verdict => {
  const { responseCode, authCode: given, settlementDate } = response
  if (responseCode === undefined) {
    return { kind: 'unknown', why: 'answer_mismatch', field: 'responseCode' }
  }
  const isVerified = asked === 'nothing' && rules.isVerified(responseCode)
  const meaning = isVerified ? 'approved' : rules.of(responseCode)
  if (meaning === 'declined') return { kind: 'declined', responseCode }
  const isPart = meaning === 'unwanted' && rules.isPartial(responseCode)
  const field = mismatchOf(request, response, isPart)
  if (field !== undefined) {
    const isOurs = isSameIn('rrn', request, response)
    const isOtherApproval = isOurs && (meaning === 'approved' || isPart)
    return { kind: 'unknown', why: 'answer_mismatch', field, isOtherApproval }
  }
  const authCode = given?.trim() || undefined
  if (meaning === 'approved') return { kind: 'approved', responseCode, authCode, settlementDate }
  const partCents = isPart && asked === 'part' ? partOf(request, response) : undefined
  return partCents === undefined
    ? { kind: 'unwanted', responseCode, isOtherApproval: isPart }
    : { kind: 'approved', responseCode, authCode, settlementDate, partCents }
}

/** The verdict on a void: what the network has neither done nor certainly refused may yet be done. */
const reversalVerdictOf = (
  rules: AnswerRules,
  request: CardMessage,
  response: CardMessage,
): Verdict => {
  const { responseCode, settlementDate } = response
  if (responseCode === undefined) {
    return { kind: 'unknown', why: 'answer_mismatch', field: 'responseCode' }
  }
  const isDone = rules.ofReversal(responseCode, false) === 'done'
  if (!isDone && rules.of(responseCode) === 'declined') return { kind: 'declined', responseCode }
  const field = mismatchOf(request, response, false)
  if (field !== undefined) return { kind: 'unknown', why: 'answer_mismatch', field }
  return isDone
    ? { kind: 'approved', responseCode, authCode: undefined, settlementDate }
    : { kind: 'undecided', responseCode }
}

/** DE 4 of the answer; undefined unless it is a part of that of the request, or all of it. */
const partOf = (request: CardMessage, response: CardMessage): bigint | undefined => {
  const cents = centsIn(response) ?? 0n
  return cents > 0n && cents <= BigInt(request.amount ?? 0) ? cents : undefined
}

const balanceKinds: Readonly<Record<string, Balance['kind']>> = {
  '01': 'ledger',
  '02': 'available',
}

/** Adds what DE 54 tells of the account; one that cannot be read costs no approval. */
const withBalances = (verdict: Verdict, { additionalAmounts }: CardMessage): Verdict => {
  if (additionalAmounts === undefined) return verdict
  if (verdict.kind !== 'approved' && verdict.kind !== 'declined') return verdict
  try {
    const balances = parseAdditionalAmounts(additionalAmounts).flatMap((one): Balance[] => {
      const kind = balanceKinds[one.amountType]
      const cents = Number(one.sign === 'D' ? -one.amount : one.amount)
      const { accountType: account, currency } = one
      return kind === undefined ? [] : [{ account, kind, currency, cents }]
    })
    return balances.length === 0 ? verdict : { ...verdict, balances }
  } catch (error) {
    if (error instanceof CodecError) return verdict
    throw error
  }
}

const echoed = ['amount', 'rrn', 'terminalId', 'currency'] as const

/**
 * The first field (DE 4, 37, 41, 49) whose value in the answer differs from the request: such an answer belongs to
 * another request. Ignores fields that the answer leaves out.
 *
 * @param isPart DE 4 of the answer says how much is approved
 */
const mismatchOf = (
  request: CardMessage,
  response: CardMessage,
  isPart: boolean,
): (typeof echoed)[number] | undefined =>
  echoed.find((field) => {
    if (isPart && field === 'amount') return false
    return response[field] !== undefined && !isSameIn(field, request, response)
  })

const isSameIn = (
  field: (typeof echoed)[number],
  request: CardMessage,
  response: CardMessage,
): boolean => response[field]?.trimEnd() === (request[field] ?? '').trimEnd()
