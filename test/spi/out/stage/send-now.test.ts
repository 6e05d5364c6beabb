import { afterAll, expect, test } from 'bun:test'
import { buildMessage, messageDefinitionIdOf, spiIspb } from '#codecs/iso20022'
import { createMetrics } from '#src/platform/observe/index.ts'
import type { OutboundMessage } from '#src/spi/messages/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { createIsLate } from '../../../../src/spi/out/stage/limits.ts'
import { createOutboundMetrics } from '../../../../src/spi/out/stage/metrics.ts'
import { createSendNow, waitingAway } from '../../../../src/spi/out/stage/send-now.ts'
import { random } from '../../../../src/spi/random.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { endToEndId } from '../../../support/messages.ts'
import { ispb } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const outbound = (): OutboundMessage => {
  const params = { original_end_to_end_id: endToEndId(1), status: 'ACSP' }
  const context = { ispb, nowMs: Date.now(), random, revision: '5.11.1' } as const
  const build = buildMessage('PACS002', params, context)
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
    transactions: [],
    envelope: message,
  }
}

const unused = () => Promise.reject(new Error('nothing is sent here'))
const parts = {
  transport: unused,
  outbox: { publishIn: unused },
  emitEvents,
  isLate: createIsLate({ settlementLimitMs: 60_000, scheduledLimitMs: 60_000 }),
}

test.each([true, false])(
  'waiting for who signs elsewhere (%p) is no work of the process, and has an end',
  async (isSignedElsewhere) => {
    const metrics = createMetrics({ version: 'test', withProcess: false })
    const sendNow = createSendNow({
      ...parts,
      sign: () => Promise.withResolvers<Uint8Array>().promise,
      isSignedElsewhere,
      metrics: createOutboundMetrics(metrics, async () => 0),
      timeoutMs: 20,
    })
    let waits = 0
    const away = <T>(wait: Promise<T>): Promise<T> => {
      waits++
      return wait
    }
    await expect(waitingAway(sendNow, away).prepare(outbound())).rejects.toThrow(
      'no signature in time',
    )
    expect(waits).toBe(isSignedElsewhere ? 1 : 0)
  },
)

test('a message counts as sent once that is committed, and not before', async () => {
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const sendNow = createSendNow({
    ...parts,
    sign: async ({ bytes }) => bytes,
    isSignedElsewhere: false,
    metrics: createOutboundMetrics(metrics, async () => 0),
    timeoutMs: 1_000,
  })
  const counted = async () =>
    /^spigw_messages_processed_total\{.*status="SENT"\} (\d+)$/m.exec(
      await metrics.registry.metrics(),
    )?.[1]
  const ready = await sendNow.prepare(outbound())
  await sql.begin((tx) => sendNow.store(tx, ready))
  const accepted = { kind: 'accepted', resourceId: 'R1', channel: 'PRIMARY' } as const
  const undone = sql.begin(async (tx) => {
    await sendNow.noteAccepted(tx, ready, accepted)
    throw new Error('rolled back')
  })
  await expect(undone).rejects.toThrow('rolled back')
  expect(await counted()).toBeUndefined()
  await sql.begin((tx) => sendNow.noteAccepted(tx, ready, accepted))
  expect(await counted()).toBe('1')
})
