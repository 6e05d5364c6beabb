import { describe, expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import { CardMessage, dialects } from '#codecs/iso8583'
import { createContent, TooLongFactError } from '../../../src/cards/content/index.ts'
import type { Network } from '../../../src/cards/networks/index.ts'
import type { CardTransaction } from '../../../src/cards/transactions/store.ts'
import { send } from '../../../src/cards/use-cases/operation.ts'
import { quietLogger } from '../../support/database.ts'

/* Only what cannot be made, or be carried, was certainly not sent. */

const fails = (error: Error) => (): never => {
  throw error
}
const message = (): CardMessage => Object.assign(new CardMessage(), { mti: '0200' })

const at = new Date()
const context = {
  logger: quietLogger,
  count: () => undefined,
  away: <T>(work: Promise<T>) => work,
  now: () => at,
}
const networkOf = (exchange: (request: CardMessage) => Promise<unknown>) =>
  ({
    name: 'neta',
    timeoutMs: 100,
    whenUp: () => undefined,
    content: createContent(dialects['ascii']!),
    exchange,
  }) as unknown as Network
const transaction = { id: 'txn_1', updatedAt: at } as CardTransaction

test.each([
  ['cannot be made', fails(new Error('no source')), undefined, 'not_sent', 'message_invalid'],
  [
    'cannot be carried',
    message,
    new CodecError('iso8583_format', 0, 'no place'),
    'not_sent',
    'message_invalid',
  ],
  ['fails on its way', message, new Error('cut short'), 'unknown', 'connection_lost'],
] as const)('what %s is that', async (_, build, fault, kind, why) => {
  const network = networkOf(() => Promise.reject(fault))
  const pan = new Uint8Array([4, 1, 1, 1])
  expect(await send(context, network, 'capture', transaction, pan, build)).toMatchObject({
    kind,
    why,
  })
  expect(pan).toEqual(new Uint8Array(4))
})

describe('a void that cannot be carried with what was kept of the approval', () => {
  const uncarried = new CodecError('iso8583_format', 0, 'no place')
  const sendBoth = async (build: () => CardMessage, exchange: () => Promise<unknown>) => {
    const seen: string[] = []
    const network = networkOf((request) => {
      seen.push(request.mti)
      return request.mti === '0400' ? Promise.reject(uncarried) : exchange()
    })
    const plain = () => Object.assign(new CardMessage(), { mti: '0401' })
    const verdict = await send(
      context,
      network,
      'void',
      transaction,
      new Uint8Array(1),
      build,
      'reversal',
      false,
      plain,
    )
    return { verdict, seen }
  }
  const full = () => Object.assign(new CardMessage(), { mti: '0400' })
  const timedOut = () => Promise.resolve({ kind: 'timed_out' })
  const unknown = { kind: 'unknown', why: 'timed_out' }
  const invalid = { kind: 'not_sent', why: 'message_invalid' }

  test('goes out without it', async () => {
    expect(await sendBoth(full, timedOut)).toMatchObject({
      verdict: unknown,
      seen: ['0400', '0401'],
    })
    const tooLong = fails(new TooLongFactError('kept.trace', 3))
    expect(await sendBoth(tooLong, timedOut)).toMatchObject({ verdict: unknown, seen: ['0401'] })
  })

  test('is refused where that is not why', async () => {
    expect(await sendBoth(full, fails(uncarried))).toMatchObject({ verdict: invalid })
    const other = fails(new Error('no source'))
    expect(await sendBoth(other, timedOut)).toMatchObject({ verdict: invalid, seen: [] })
  })
})
