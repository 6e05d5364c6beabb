import { expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import { CardMessage } from '#codecs/iso8583'
import type { Network } from '../../../src/cards/networks/index.ts'
import type { CardTransaction } from '../../../src/cards/transactions/store.ts'
import { send } from '../../../src/cards/use-cases/operation.ts'
import { quietLogger } from '../../support/database.ts'

/* Only what cannot be made, or be carried, was certainly not sent. */

const fails = (error: Error) => (): never => {
  throw error
}
const message = (): CardMessage => Object.assign(new CardMessage(), { mti: '0200' })

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
  const at = new Date()
  const context = {
    logger: quietLogger,
    count: () => undefined,
    away: <T>(work: Promise<T>) => work,
    now: () => at,
  }
  const network = {
    name: 'neta',
    timeoutMs: 100,
    whenUp: () => undefined,
    exchange: () => Promise.reject(fault),
  } as unknown as Network
  const transaction = { id: 'txn_1', updatedAt: at } as CardTransaction
  const pan = new Uint8Array([4, 1, 1, 1])
  expect(await send(context, network, 'capture', transaction, pan, build)).toMatchObject({
    kind,
    why,
  })
  expect(pan).toEqual(new Uint8Array(4))
})
