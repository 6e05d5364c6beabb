import type { CardMessage } from '#codecs/iso8583'
import { type ActiveSpan, inSpan } from '#src/platform/observe/index.ts'
import type { NetworkOptions } from './options.ts'
import type { ExchangeOutcome } from './types.ts'

/**
 * One client span from the request to its answer. It shows type, STAN and response code of the message, by which the
 * network can find it, and nothing about the card.
 */
export const tracedExchange = (
  { name, host, port, dialect }: NetworkOptions,
  { mti, stan }: CardMessage,
  send: () => Promise<ExchangeOutcome>,
): Promise<ExchangeOutcome> => {
  const attributes = {
    'server.address': host,
    'server.port': port,
    'network.transport': 'tcp',
    'network.protocol.name': 'iso8583',
    'network.protocol.version': dialect.version,
    'trilho.cards.network': name,
    'trilho.cards.mti': mti,
    'trilho.cards.stan': stan,
  }
  return inSpan(`card exchange ${mti}`, { kind: 'client', attributes }, async (span) => {
    const outcome = await send()
    describe(span, outcome)
    return outcome
  })
}

/** A refusal counts as an answer; only a missing answer is a failure. */
const describe = (span: ActiveSpan, outcome: ExchangeOutcome): void => {
  span.set({ 'trilho.cards.outcome': outcome.kind })
  if (outcome.kind === 'answered') {
    span.set({ 'trilho.cards.response_code': outcome.response.responseCode })
  } else span.fail(outcome.kind === 'not_sent' ? outcome.reason : outcome.kind)
}
