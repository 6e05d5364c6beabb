import { afterAll, afterEach, expect, test } from 'bun:test'
import { createTestDatabase } from '../../../support/database.ts'
import { endToEndId } from '../../../support/messages.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { answer, interfaceClient, rawServer } from '../../link/support.ts'
import { ispb, rigOn, runningOn, signingWith } from './support.ts'

const database = await createTestDatabase(10)
const rig = await rigOn(database)
const { sql } = database

afterEach(async () => {
  await sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history cascade`
})
afterAll(async () => {
  await rig.broker.stop()
  await database.close()
})

const running = runningOn(rig)
const signing = signingWith(issueCertificate('one'))
const settings = {
  requestsMax: 4,
  channelFailover: true,
  settlementLimitSeconds: 0,
  scheduledLimitSeconds: 2_760,
  syncTimeoutSeconds: 5,
}
const patient = { ...settings, settlementLimitSeconds: 3_600 }
const watchTimes = { everyMs: 50, reaskFirstMs: 60_000 }

const accepted = () => answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() })

const textsOf = (requests: readonly { readonly body: Uint8Array }[]): readonly string[] =>
  requests.flatMap(({ body }) => {
    const text = Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString()
    return [...text.matchAll(/<Envelope[\s\S]*?<\/Envelope>/g)].map(([one]) => one)
  })

/** A client whose sending hangs until `over` resolves, and then says that nothing went out. */
const hanging = () => {
  const began = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const none = rawServer(() => 'cut')
  const client = {
    ...interfaceClient({ PRIMARY: none.url }, {}, ispb),
    send: async () => {
      began.resolve()
      await over.promise
      const reason = 'ENETUNREACH'
      return { kind: 'unreachable', reason, isDown: true, retryAfterMs: 1_000 } as const
    },
  }
  return { client, began: began.promise, finish: over.resolve, stop: none.stop }
}

const kept = async (): Promise<number> => {
  const rows = await sql`select from spi_sendings`
  return rows.length
}

test('who finds out late that nothing went out takes no bytes back that another has sent', async () => {
  await rig.pay(1)
  const slow = hanging()
  const first = rig.outbound(slow.client, { signing })
  await first.start?.()
  await slow.began
  const drained = first.drain?.()
  await sql`update broker_lanes set until = '-infinity' where owner is not null`

  const server = rawServer(accepted)
  const client = interfaceClient({ PRIMARY: server.url }, {}, ispb)
  await running(() => rig.until('SENT', 1), client, { signing, settings: patient })
  slow.finish()
  await drained
  await first.stop?.()
  expect(await kept()).toBe(1)

  await running(
    async () => {
      while (textsOf(server.requests).length < 2) await Bun.sleep(20)
    },
    client,
    { signing, settings, watchTimes },
  )
  const texts = textsOf(server.requests)
  expect(new Set(texts).size).toBe(1)
  expect(texts[0]).toContain('SignatureValue')
  server.stop()
  slow.stop()
}, 60_000)

test('what surely did not go out is signed anew, and is no repetition', async () => {
  await rig.pay(1)
  const away = rawServer(accepted)
  away.stop()
  await running(
    async () => {
      while ((await kept()) === 0) await Bun.sleep(5)
      while ((await kept()) > 0) await Bun.sleep(5)
    },
    interfaceClient({ PRIMARY: away.url }, { attemptsMax: 1 }, ispb),
    { signing, settings: patient },
  )
  const server = rawServer(accepted)
  const client = interfaceClient({ PRIMARY: server.url }, {}, ispb)
  await running(() => rig.until('SENT', 1), client, { signing, settings: patient })
  expect(textsOf(server.requests)[0]).toContain('SignatureValue')
  expect(await sql`select from spi_history where repetition is not null`).toHaveLength(0)
  server.stop()
}, 60_000)

test.each([['PACS008'], ['PACS002']])(
  'a %s that is refused after its process died is asked for again',
  async (type) => {
    const params = { original_end_to_end_id: endToEndId(7), status: 'ACSP' }
    await rig.pay(1, type === 'PACS008' ? {} : { message_type: type, params })
    await sql`insert into spi_sendings (message_id, xml) select id, xml from spi_messages`
    let requests = 0
    const server = rawServer(() =>
      ++requests === 1
        ? answer(400, {}, '<problem><type>https://x/error/charset</type></problem>')
        : accepted(),
    )
    await running(
      async () => {
        await rig.until('UNKNOWN', 1)
        while (requests < 2) await Bun.sleep(20)
      },
      interfaceClient({ PRIMARY: server.url }, { attemptsMax: 1 }, ispb),
      { settings, watchTimes },
    )
    server.stop()
  },
  60_000,
)

test('where the bytes that went out are lost nothing else goes out in their place', async () => {
  await rig.pay(1)
  await sql`update spi_messages set in_doubt_since = now() - interval '1 minute'`
  const server = rawServer(accepted)
  const client = interfaceClient({ PRIMARY: server.url }, {}, ispb)
  const told = async (): Promise<boolean> => {
    const { count } = await sql`
      select from spi_history where detail = 'not sent again: what was sent is lost'`
    return count > 0
  }
  await running(
    async () => {
      await rig.until('UNKNOWN', 1)
      while (!(await told())) await Bun.sleep(20)
    },
    client,
    { signing, settings, watchTimes },
  )
  expect(server.requests).toHaveLength(0)
  server.stop()
}, 60_000)
