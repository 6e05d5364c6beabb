import type { CardMessage } from '#codecs/iso8583'
import type { AnswerRules, ExchangeOutcome, Network } from '../networks/index.ts'

/** What an exchange means for the transaction. */
export type Verdict =
  | {
      readonly kind: 'approved'
      readonly responseCode: string
      readonly authCode: string | undefined
      /** What later messages repeat of the answer. */
      readonly kept?: Readonly<Record<string, string>> | undefined
    }
  | { readonly kind: 'declined'; readonly responseCode: string }
  /** Nothing that we take for an approval, but the network may hold the money. */
  | { readonly kind: 'unwanted'; readonly responseCode: string }
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

/**
 * Sends the message, and clears its card number before the first byte of an answer can come.
 *
 * @throws CodecError if the network's dialect cannot carry it; nothing was sent then
 */
export const exchange = async (network: Network, request: CardMessage): Promise<Verdict> => {
  let outcome: ExchangeOutcome
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
      const kept = network.content.keeper?.keep((de) => bytesOf(response.more?.get(de)))
      response.wipe()
      const verdict = verdictOf(network.answers, request, response)
      return kept !== undefined && verdict.kind === 'approved' ? { ...verdict, kept } : verdict
    }
    case 'not_sent':
      return { kind: 'not_sent', why: outcome.reason }
    case 'unreadable':
      return { kind: 'unknown', why: 'answer_unreadable' }
    case 'timed_out':
    case 'connection_lost':
      return { kind: 'unknown', why: outcome.kind }
  }
}

const bytesOf = (value: string | Uint8Array | undefined): Uint8Array | undefined =>
  typeof value === 'string' ? undefined : value

const verdictOf = (rules: AnswerRules, request: CardMessage, response: CardMessage): Verdict => {
  const { responseCode, authCode } = response
  if (responseCode === undefined) {
    return { kind: 'unknown', why: 'answer_mismatch', field: 'responseCode' }
  }
  const meaning = rules.of(responseCode)
  if (meaning === 'declined') return { kind: 'declined', responseCode }
  const field = mismatchOf(request, response)
  if (field !== undefined) return { kind: 'unknown', why: 'answer_mismatch', field }
  return meaning === 'unwanted'
    ? { kind: 'unwanted', responseCode }
    : { kind: 'approved', responseCode, authCode: authCode?.trim() || undefined }
}

const echoed = ['amount', 'rrn', 'terminalId', 'currency'] as const

/**
 * The first field (DE 4, 37, 41, 49) whose value in the answer differs from the request: such an answer belongs to
 * another request. Ignores fields that the answer leaves out.
 */
const mismatchOf = (
  request: CardMessage,
  response: CardMessage,
): (typeof echoed)[number] | undefined =>
  echoed.find((field) => {
    const answered = response[field]
    return answered !== undefined && answered.trimEnd() !== (request[field] ?? '').trimEnd()
  })
