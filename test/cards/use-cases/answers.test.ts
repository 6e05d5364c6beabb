import { expect, test } from 'bun:test'
import { eventViewOf } from '../../../src/cards/use-cases/answers.ts'

test('the fields of a message are shown in the order of the wire', () => {
  const fields = { '112': '***', '011': '000001', '002': '411111******1111', '128': '***' }
  const event = {
    id: 1n,
    transactionId: 'txn_1',
    type: 'authorized',
    at: new Date(),
    data: {},
    messages: [{ mti: '0100', fields }],
  } as const
  const [shown] = eventViewOf(event).messages
  expect(shown?.fields.map(({ de }) => de)).toEqual([2, 11, 112, 128])
})
