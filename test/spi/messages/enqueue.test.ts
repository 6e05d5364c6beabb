import { expect, test } from 'bun:test'
import { buildMessage, createRandomText, messageDefinitionIdOf, spiIspb } from '#codecs/iso20022'
import { type Delivery, topics } from '#src/platform/broker/index.ts'
import {
  enqueueMessages,
  type OutboundMessage,
  outboundHeaders,
  unsignedMessageOf,
} from '#src/spi/messages/index.ts'
import { runningBroker } from '../../support/broker.ts'
import { createTestDatabase } from '../../support/database.ts'
import { endToEndId } from '../../support/messages.ts'
import { until } from '../../support/until.ts'

const database = await createTestDatabase()
const { sql } = database
const broker = await runningBroker(database)

const ispb = '12345678'
const random = createRandomText((bytes) => crypto.getRandomValues(bytes))
const outbound = (): OutboundMessage => {
  const build = buildMessage(
    'PACS002',
    { original_end_to_end_id: endToEndId(1), status: 'ACSP' },
    {
      ispb,
      nowMs: Date.now(),
      random,
      revision: '5.10.1',
    },
  )
  if (!build.ok) throw new Error(JSON.stringify(build.problems))
  const { message } = build
  return {
    id: Bun.randomUUIDv7(),
    type: message.type,
    definition: messageDefinitionIdOf(message),
    channel: 'PRIMARY',
    sourceIspb: ispb,
    destinationIspb: spiIspb,
    bizMsgIdr: message.businessMessageId,
    transactions: [
      {
        endToEndId: endToEndId(1),
        instructionId: endToEndId(1),
        amountCents: undefined,
        debtorIspb: undefined,
        creditorIspb: undefined,
        status: 'ACSP',
      },
    ],
    envelope: message,
  }
}

test('a message is stored and queued together, once, with all a signer needs', async () => {
  const seen: Delivery[] = []
  broker.consume({
    topic: topics.outbound,
    group: 'enqueue',
    batchSizeMax: 10,
    handler: async (batch) => {
      seen.push(...batch)
    },
  })
  const message = outbound()
  const lost = sql.begin(async (tx) => {
    await enqueueMessages(tx, broker, [message])
    throw new Error('rolled back')
  })
  await lost.catch(() => undefined)
  const first = await sql.begin((tx) => enqueueMessages(tx, broker, [message]))
  const again = { ...message, id: Bun.randomUUIDv7() }
  const second = await sql.begin((tx) => enqueueMessages(tx, broker, [again]))
  const same = await sql.begin((tx) => enqueueMessages(tx, broker, [message]))
  const last = await sql.begin((tx) => enqueueMessages(tx, broker, [again]))
  expect([first, second, same, last].map(({ size }) => size)).toEqual([1, 0, 0, 0])
  const marker = outbound()
  await sql.begin((tx) => enqueueMessages(tx, broker, [marker]))
  const idOf = ({ headers }: Delivery): string => headers[outboundHeaders.messageId] ?? ''
  await until(() => seen.some((one) => idOf(one) === marker.id))
  expect(seen.map(idOf)).toEqual([message.id, marker.id])
  const [delivery] = seen
  if (delivery === undefined) throw new Error('nothing delivered')
  const { bytes, namespace, appHdr, signatureAt, document } = message.envelope
  expect(unsignedMessageOf(delivery)).toEqual({
    bytes: new Uint8Array(bytes),
    namespace,
    appHdr,
    signatureAt,
    document,
  })
  const rows = await sql<{ status: string; direction: string }[]>`
    select status, direction from spi_messages where biz_msg_idr = ${message.bizMsgIdr}`
  expect([...rows]).toEqual([{ status: 'QUEUED', direction: 'OUTBOUND' }])
})

test('places outside of the message, or none, are no envelope', () => {
  const value = new Uint8Array(10)
  const headers = { namespace: 'n', 'envelope-places': '0 1 2 3 10' }
  expect(unsignedMessageOf({ value, headers })).toBeDefined()
  for (const places of ['0 1 2 3 11', '0 1 2 3', '0 1 x 3 4', '-1 1 2 3 4', '']) {
    const bad = { ...headers, 'envelope-places': places }
    expect(unsignedMessageOf({ value, headers: bad })).toBeUndefined()
  }
  expect(unsignedMessageOf({ value, headers: {} })).toBeUndefined()
})
