import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { openDeadLetters } from '#src/platform/broker/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import type { InterfaceClient } from '#src/spi/link/index.ts'
import { createSend } from '#src/spi/out/send/index.ts'
import { signingMaterial, signingSettings } from '#src/spi/out/signing/index.ts'
import { createOutbound, type OutboundDeps, type SendNow } from '#src/spi/out/stage/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { createCentralBank, type Fault } from '../../../../src/simulators/central-bank/index.ts'
import { expectOwnedByAccount, testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { transfer } from '../../../support/participant.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { storedKey } from '../../../support/stored-key.ts'
import { answer, interfaceClient, rawServer } from '../../link/support.ts'
import { accepting, ispb, rigOn, unsignedSettings } from '../stage/support.ts'

const database = await createTestDatabase(10)
const { sql } = database
const rig = await rigOn(database)
const bank = await createCentralBank({ longPollMs: 50, openingBalanceCents: 10n ** 12n })
const urls = { PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }
const client = interfaceClient(urls, { attemptsMax: 1 }, ispb)
const hasty = interfaceClient(urls, { timeoutSeconds: 1, attemptsMax: 1 }, ispb)
const logger = { ...quietLogger, error: () => {}, warn: () => {} }
const { key, record } = testKey('spi:send')

afterEach(async () => {
  bank.setFaults([])
  await sql`truncate spi_messages, spi_transactions, spi_history, broker_dead_letters cascade`
  await sql`delete from broker_queue where id > 0`
})
afterAll(async () => {
  await rig.broker.stop()
  await bank.stop()
  await database.close()
})

const pair = issueCertificate('signer')
const { values } = loadSettings(
  { signing: signingSettings },
  {
    SPI_SIGN_ENABLED: 'true',
    SPI_SIGN_CERT_BASE64: btoa(pair.cert),
    SPI_SIGN_KEY_BASE64: btoa(pair.key),
    SPI_SIGN_PROVIDER: 'node',
  },
)
const settings: OutboundDeps['settings'] = {
  requestsMax: 4,
  channelFailover: true,
  settlementLimitSeconds: 60,
  scheduledLimitSeconds: 2_760,
  syncTimeoutSeconds: 20,
}
/** For what is not to be answered in time. */
const inHaste = { ...settings, syncTimeoutSeconds: 1 }

type Answer = {
  readonly id: string
  readonly status: string
  readonly resource_id?: string
  readonly end_to_end_ids: readonly string[]
}

/** A process that answers requests, and sends by itself. */
const gateway = async (
  through: InterfaceClient,
  more: Partial<OutboundDeps> = {},
  wrap: (sendNow: SendNow) => SendNow = (sendNow) => sendNow,
) => {
  const outbound = createOutbound({
    sql,
    broker: rig.broker,
    client: through,
    settings,
    signing: unsignedSettings,
    signingMaterial: signingMaterial(more.signing ?? unsignedSettings),
    emitEvents,
    logger,
    runsStage: false,
    metrics: createMetrics({ version: 'test', withProcess: false }),
    ...more,
  })
  await outbound.start?.()
  const sendNow = wrap(outbound.sendNow)
  const send = createSend({ ispb, sql, broker: rig.broker, revision: '5.11.1', sendNow, logger })
  const { call } = testApp(send.routes ?? [], { keys: [record] })
  return {
    post: (idempotencyKey?: string, body: unknown = paymentBody) =>
      call('POST', '/v1/spi/send', {
        key,
        body,
        headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
      }),
    owned: () =>
      expectOwnedByAccount((headers) =>
        call('POST', '/v1/spi/send', { key, body: paymentBody, headers }),
      ),
    stop: () => outbound.stop?.(),
  }
}

const paymentBody = {
  message_type: 'PACS008',
  params: { local_instrument: 'MANU', transactions: [transfer(ispb, accepting, 100)] },
}

/** The ordinary stage, until every payment is SENT. */
const finish = async (count: number, more: Partial<OutboundDeps> = {}): Promise<void> => {
  const stage = rig.outbound(client, more)
  await stage.start?.()
  try {
    await rig.until('SENT', count)
  } finally {
    await stage.drain?.()
    await stage.stop?.()
  }
}

const bookOf = (ids: readonly string[]) =>
  bank.book().operations.filter(({ endToEndId }) => ids.includes(endToEndId))

const answerOf = async (response: Response): Promise<Answer> => {
  expect(response.status).toBe(202)
  return (await response.json()) as Answer
}

test('a PACS008 belongs to the account: a rotated API key does not pay twice', async () => {
  const { owned, stop } = await gateway(client)
  await owned()
  await stop()
})

describe.each([
  ['without signatures', unsignedSettings],
  ['signed', values.signing],
] as const)('a PACS008 %s', (_, signing) => {
  test('is sent within the request, once, and repeated answers are the first one', async () => {
    const { post, stop } = await gateway(client, { signing })
    const first = await post('once-accepted')
    const text = await first.clone().text()
    const answer = await answerOf(first)
    expect(answer).toMatchObject({ status: 'sent', resource_id: expect.any(String) })
    const again = await post('once-accepted')
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(await again.text()).toBe(text)
    await sql`delete from idempotency_keys where key = ${storedKey('once-accepted')}`
    const rows = await sql`
      select status, resource_id from spi_messages where id = ${answer.id}`
    expect([...rows]).toEqual([{ status: 'SENT', resource_id: answer.resource_id }])
    expect((await rig.broker.backlog('spi.outbound', 'spi-outbound')).depth).toBe(0)
    expect(bookOf(answer.end_to_end_ids)).toHaveLength(1)
    await stop()
  })

  const faults: readonly (readonly [string, Fault])[] = [
    ['5xx after storing', { kind: 'error_after_storing', operation: 'send' }],
    ['5xx', { kind: 'unavailable', operation: 'send' }],
    ['429', { kind: 'rate_limited', operation: 'send' }],
    ['a cut connection', { kind: 'cut', operation: 'send' }],
    ['no answer in time', { kind: 'latency', operation: 'send', delayMs: 1_500 }],
    ['a refused connection', { kind: 'refuse_connections' }],
  ]
  test.each(faults)(
    'falls back to the queue after %s, with the same bytes',
    async (_name, fault) => {
      bank.setFaults([fault])
      const { post, stop } = await gateway(hasty, { signing, settings: inHaste })
      const first = await post(`fall-back-${fault.kind}-${signing.enabled}`)
      const text = await first.clone().text()
      const answer = await answerOf(first)
      expect(answer.status).toBe('queued')
      const [before] = await sql<{ xml: Buffer }[]>`select xml from spi_messages`
      bank.setFaults([])
      const again = await post(`fall-back-${fault.kind}-${signing.enabled}`)
      expect(await again.text()).toBe(text)
      // The queue's process has another key by now: what may be with the bank is sent as it was.
      await finish(1)
      const [after] = await sql<{ xml: Buffer }[]>`select xml from spi_messages`
      expect(
        Bun.zstdDecompressSync(after?.xml ?? '').equals(Bun.zstdDecompressSync(before?.xml ?? '')),
      ).toBe(true)
      expect(bookOf(answer.end_to_end_ids)).toHaveLength(1)
      await stop()
    },
  )
})

test('what is answered before the queue takes it over is passed over, not taken for a stranger’s', async () => {
  bank.setFaults([{ kind: 'error_after_storing', operation: 'send' }])
  const { post, stop } = await gateway(client)
  const { id } = await answerOf(await post())
  bank.setFaults([])
  await sql`update spi_messages set status = 'ACCEPTED' where id = ${id}`
  const stage = rig.outbound(client)
  await stage.start?.()
  while ((await rig.broker.backlog('spi.outbound', 'spi-outbound')).depth > 0) await Bun.sleep(10)
  await stage.drain?.()
  await stage.stop?.()
  expect((await openDeadLetters(sql).list(10)).length).toBe(0)
  await stop()
})

test('nobody listens: queued at once', async () => {
  const away = rawServer(() => 'cut')
  away.stop()
  const { post, stop } = await gateway(interfaceClient({ PRIMARY: away.url }, {}, ispb))
  const answer = await answerOf(await post())
  expect(answer.status).toBe('queued')
  await finish(1)
  expect(bookOf(answer.end_to_end_ids)).toHaveLength(1)
  await stop()
})

test('what the interface refuses is queued, refused there with the same bytes, and FAILED', async () => {
  const strict = rawServer(() =>
    answer(400, {}, '<problem><type>https://x/error/charset</type></problem>'),
  )
  const picky = interfaceClient({ PRIMARY: strict.url }, {}, ispb)
  const { post, stop } = await gateway(picky, { signing: values.signing })
  const { id, status } = await answerOf(await post('refused'))
  expect(status).toBe('queued')
  const stage = rig.outbound(picky)
  await stage.start?.()
  await rig.until('FAILED', 1)
  await stage.drain?.()
  await stage.stop?.()
  const [first, ...others] = new Set(
    strict.requests.map(
      ({ body }) =>
        Buffer.from(Bun.gunzipSync(new Uint8Array(body)))
          .toString()
          .match(/<Envelope[\s\S]*<\/Envelope>/)?.[0],
    ),
  )
  expect([first?.includes('SignatureValue'), others]).toEqual([true, []])
  expect(strict.requests.length).toBeGreaterThanOrEqual(2)
  const rows = await sql`select status, error_code from spi_messages where id = ${id}`
  expect([...rows]).toEqual([{ status: 'FAILED', error_code: 'refused_by_interface' }])
  expect((await openDeadLetters(sql).list(10)).length).toBe(1)
  strict.stop()
  await stop()
})

test('a payment for the secondary channel goes through the queue, where others may wait for it', async () => {
  const { post, stop } = await gateway(client)
  const answer = await answerOf(await post(undefined, { ...paymentBody, channel: 'SECONDARY' }))
  expect(answer.status).toBe('queued')
  expect(await rig.statuses()).toEqual({ QUEUED: 1 })
  await finish(1)
  await stop()
})

test('a process that dies before the sending is noted: the queue sends the same message', async () => {
  const never = new Promise<never>(() => {})
  const sent = Promise.withResolvers<void>()
  const { post, stop } = await gateway(client, { signing: values.signing }, (sendNow) => ({
    ...sendNow,
    leaseMs: 500,
    prepare: async (message) => ({
      ...(await sendNow.prepare(message)),
      requeueAfter: new Date(Date.now() + 50),
    }),
    send: async (ready) => {
      await sendNow.send(ready)
      sent.resolve()
      return never
    },
  }))
  void post('dies')
  await sent.promise
  // While the better answer may still come, nobody gets the lesser one.
  expect((await post('dies')).status).toBe(409)
  await finish(1, { requeueEveryMs: 20 })
  let replay = await post('dies')
  while (replay.status === 409) {
    await Bun.sleep(50)
    replay = await post('dies')
  }
  const answer = await answerOf(replay)
  expect(answer.status).toBe('queued')
  expect(bookOf(answer.end_to_end_ids)).toHaveLength(1)
  const rows = await sql<{ count: number }[]>`select count(*)::int as count from spi_messages`
  expect([...rows]).toEqual([{ count: 1 }])
  await stop()
})

test('an acceptance that cannot be noted in time leaves the answer that repetitions got', async () => {
  const { post, stop } = await gateway(client, {}, (sendNow) => ({
    ...sendNow,
    send: async (ready) => {
      const outcome = await sendNow.send(ready)
      await sql`update idempotency_keys set provisional_until = now() where key = ${storedKey('too-late')}`
      return outcome
    },
  }))
  const answer = await answerOf(await post('too-late'))
  expect(answer.status).toBe('queued')
  expect(await answerOf(await post('too-late'))).toEqual(answer)
  const rows = await sql`select status from spi_messages where id = ${answer.id}`
  expect([...rows]).toEqual([{ status: 'SENT' }])
  await stop()
})

test('ten at once under one key are one payment, and whoever comes later gets its answer', async () => {
  bank.setFaults([{ kind: 'latency', operation: 'send', delayMs: 50 }])
  const { post, stop } = await gateway(client)
  const all = await Promise.all(Array.from({ length: 10 }, () => post('ten-at-once')))
  expect(all.every(({ status }) => status === 202 || status === 409)).toBe(true)
  const answered = await answerOf(await post('ten-at-once'))
  expect(answered.status).toBe('sent')
  for (const one of all) if (one.status === 202) expect(await answerOf(one)).toEqual(answered)
  const rows = await sql`select id from spi_messages`
  expect([...rows]).toEqual([{ id: answered.id }])
  expect(bookOf(answered.end_to_end_ids)).toHaveLength(1)
  const other = { ...paymentBody, channel: 'SECONDARY' }
  expect((await post('ten-at-once', other)).status).toBe(422)
  await stop()
})

test('payments at the same time share requests', async () => {
  bank.setFaults([{ kind: 'latency', operation: 'send', delayMs: 500 }])
  const before = bank.statistics().received['requests'] ?? 0
  const { post, stop } = await gateway(client)
  const answers = await Promise.all(Array.from({ length: 40 }, async () => answerOf(await post())))
  expect(answers.map(({ status }) => status)).toEqual(Array(40).fill('sent'))
  expect((bank.statistics().received['requests'] ?? 0) - before).toBeLessThan(20)
  await stop()
})

test('a signer that fails, and all other types, go through the queue', async () => {
  const { post, stop } = await gateway(client, {}, (sendNow) => ({
    ...sendNow,
    prepare: () => Promise.reject(new Error('no signature')),
  }))
  const report = {
    message_type: 'PACS002',
    params: { original_end_to_end_id: 'E1234567820260302140500000000001', status: 'ACSP' },
  }
  expect((await answerOf(await post())).status).toBe('queued')
  expect((await answerOf(await post(undefined, report))).status).toBe('queued')
  await finish(2)
  await stop()
})
