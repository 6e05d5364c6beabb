import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deadLetterHeaders, openDeadLetters } from '#src/platform/broker/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { applyRemembered, recordChanges } from '#src/spi/messages/index.ts'
import { createEnvelopeSigner, createNativeSigner } from '#src/spi/out/signing/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { sliceEnvelope } from '../../../support/envelope.ts'
import { lettersIn } from '../../../support/letters.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/until.ts'
import { subscribe } from '../../../support/webhooks.ts'
import {
  fresh,
  inbound,
  payment,
  queued,
  refusal,
  report,
  storedWhen,
  workerOn,
} from './support.ts'

const database = await createTestDatabase(10)
const { sql } = database
afterAll(() => database.close())

const namespace = 'https://www.bcb.gov.br/pi/pacs.008/1.13'
const reportNamespace = 'https://www.bcb.gov.br/pi/pacs.002/1.14'
const signedBy = async (
  { cert, key }: ReturnType<typeof issueCertificate>,
  xml: string,
  of = namespace,
) => {
  const signer = await createNativeSigner(cert, key, 'node')
  const signed = await createEnvelopeSigner(signer).sign(sliceEnvelope(xml, of))
  signer.close()
  return Buffer.from(signed).toString()
}

test('signatures are judged where certificates are trusted; the bundle may change while it runs', async () => {
  const trusted = issueCertificate('Bank')
  const later = issueCertificate('Bank, renewed')
  const path = join(temporaryDirectory(), 'trusted.pem')
  writeFileSync(path, trusted.cert)
  const worker = await workerOn(database, {
    trustedCertificates: { text: trusted.cert, path },
    signaturePolicy: 'advisory',
    autoAccept: true,
  })
  await worker.feature.start?.()
  const verdictOf = async (xml: string) => {
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(xml, { resourceId })])
    const { signature, status, warnings } = await storedWhen(database, 'resource_id', resourceId)
    expect(status).toBe('PROCESSED')
    return [signature, warnings.length]
  }
  const answersTo = async (endToEndId: string) => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from spi_transactions t join spi_messages m on m.id = t.message_id
      where t.end_to_end_id = ${endToEndId} and m.direction = 'OUTBOUND'`
    return row?.count
  }
  const good = await signedBy(trusted, payment())
  expect(await verdictOf(good)).toEqual(['VALID', 0])
  const [endToEndId, unsigned] = [fresh.endToEndId(), fresh.endToEndId()]
  expect(await verdictOf(payment({ endToEndId: unsigned }))).toEqual(['ABSENT', 1])
  expect(await answersTo(unsigned)).toBe(0)
  const forged = (await signedBy(trusted, payment({ endToEndId }))).replace('>10.50<', '>99.50<')
  expect(await verdictOf(forged)).toEqual(['INVALID', 1])
  expect(await answersTo(endToEndId)).toBe(0)
  expect(await verdictOf(await signedBy(later, payment()))).toEqual(['INVALID', 1])
  writeFileSync(path, `${trusted.cert}\n${later.cert}`)
  const isTrustedNow = async () => {
    const [verdict] = await verdictOf(await signedBy(later, payment()))
    return verdict === 'VALID'
  }
  const end = performance.now() + 40_000
  while (!(await isTrustedNow())) {
    if (performance.now() > end) throw new Error('the new bundle was not taken')
  }
  expect(await verdictOf(await signedBy(trusted, payment()))).toEqual(['VALID', 0])
  await worker.stop()
}, 60_000)

test('where signatures are advisory, what nobody has signed ends payments, but no return and nothing that asks', async () => {
  const own = await createTestDatabase(10)
  const trusted = issueCertificate('Bank')
  const worker = await workerOn(own, {
    trustedCertificates: { text: trusted.cert, path: undefined },
    signaturePolicy: 'advisory',
  })
  await subscribe(own.sql)
  await worker.feature.start?.()
  const [endToEndId, returned, returnId] = [
    fresh.endToEndId(),
    fresh.endToEndId(),
    fresh.returnId(),
  ]
  const paid = await queued(own, 'pacs.008', [{ endToEndId }])
  const back = await queued(own, 'pacs.004', [{ endToEndId: returned, instructionId: returnId }])
  const charge = await queued(own, 'pain.013', [{ endToEndId: fresh.endToEndId() }])
  const unrecorded = await Promise.all(
    (['pacs.008', 'pacs.004', 'pain.013'] as const).map(async (type) => {
      const { id } = await queued(own, type, [{ endToEndId: fresh.endToEndId() }])
      return { id, type, resourceId: fresh.resourceId() }
    }),
  )
  const received = async (xml: string) => {
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(xml, { resourceId })])
    return storedWhen(own, 'resource_id', resourceId)
  }
  const refused = report([
    { endToEndId: returned, instructionId: returnId, status: 'RJCT', reason: 'AB03' },
  ])
  for (const xml of [
    report([{ endToEndId, status: 'ACSC' }]),
    refused,
    refusal(charge.bizMsgIdr),
    ...unrecorded.map(({ resourceId }) => refusal(resourceId)),
  ]) {
    expect(await received(xml)).toMatchObject({ signature: 'ABSENT', status: 'PROCESSED' })
  }
  const statusOf = async ({ id }: { readonly id: string }) =>
    (await storedWhen(own, 'id', id)).status
  expect(await Promise.all([paid, back, charge].map(statusOf))).toEqual([
    'ACCEPTED',
    'QUEUED',
    'QUEUED',
  ])
  const rows = await own.sql<{ type: string }[]>`select distinct type from webhook_events`
  expect(rows.map(({ type }) => type)).not.toContain('pix.refund.rejected')
  for (const { id, type, resourceId } of unrecorded) {
    await own.sql.begin(async (tx) => {
      const { cited } = await recordChanges(tx, [{ id, status: 'SENT', resourceId }])
      const isCited = cited.has(id)
      await applyRemembered(tx, [{ id, type, resourceId, isCited }], { emitEvents })
    })
  }
  expect(await Promise.all(unrecorded.map(statusOf))).toEqual(['REJECTED', 'SENT', 'SENT'])
  expect(await own.sql`select from spi_pending_answers`).toHaveLength(0)
  const again = refused.replace(/<BizMsgIdr>[^<]*</, `<BizMsgIdr>${fresh.businessId()}<`)
  await received(await signedBy(trusted, again, reportNamespace))
  expect(await statusOf(back)).toBe('REJECTED')
  await worker.stop()
  await own.close()
}, 60_000)

test('what is not signed by whom we trust moves nothing: it is kept in dlq, told, and read again once it is trusted', async () => {
  const own = await createTestDatabase(10)
  const trusted = issueCertificate('Bank')
  const later = issueCertificate('Bank, renewed')
  const trust = (text: string) =>
    ({
      trustedCertificates: { text, path: undefined },
      signaturePolicy: 'enforce',
      autoAccept: true,
    }) as const
  const worker = await workerOn(own, trust(trusted.cert))
  await subscribe(own.sql)
  await worker.feature.start?.()
  const endToEndId = fresh.endToEndId()
  const sent = await queued(own, 'pacs.008', [{ endToEndId }])
  const settled = report([{ endToEndId, status: 'ACSC' }])
  const signed = await signedBy(trusted, settled, reportNamespace)
  const received = async (xml: string) => {
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(xml, { resourceId })])
    return storedWhen(own, 'resource_id', resourceId)
  }
  const cases = [
    ['ABSENT', 'signature_missing', settled],
    ['INVALID', 'signature_untrusted', signed.replace('>ACSC<', '>RJCT<')],
    ['ABSENT', 'signature_missing', payment()],
    ['INVALID', 'signature_untrusted', await signedBy(later, settled, reportNamespace)],
  ] as const
  for (const [signature, errorCode, xml] of cases) {
    expect(await received(xml)).toMatchObject({ signature, errorCode, status: 'FAILED' })
  }
  const [one] = await own.sql<{ status: string; others: number }[]>`
    select status, (select count(*)::int from spi_messages where direction = 'OUTBOUND') as others
    from spi_messages where id = ${sent.id}`
  expect(one).toEqual({ status: 'QUEUED', others: 1 })
  const told = await own.sql<{ type: string }[]>`select type from webhook_events order by type`
  expect(told.map(({ type }) => type)).toEqual(cases.map(() => 'message.untrusted'))

  await worker.stop()
  const letters = await lettersIn(own.sql)
  expect(letters.map(({ headers }) => headers[deadLetterHeaders.errorCode])).toEqual(
    cases.map(([, code]) => code),
  )

  const renewed = await workerOn(own, trust(`${trusted.cert}\n${later.cert}`))
  await renewed.feature.start?.()
  await openDeadLetters(own.sql).retry(letters.at(-1)?.id ?? 0n, commandActor())
  await storedWhen(own, 'id', sent.id, ({ status }) => status === 'ACCEPTED')
  expect(await lettersIn(own.sql)).toHaveLength(cases.length - 1)
  await renewed.stop()
  await own.close()
}, 60_000)

test('a database that breaks statements off loses nothing, stores nothing twice, fills no dlq', async () => {
  const own = await createTestDatabase(10)
  const worker = await workerOn(own, {
    logger: createLogger({ level: 'error', sink: { write: () => {} } }),
  })
  await subscribe(own.sql)
  const ids: string[] = []
  const receiveTen = (): Promise<void> => {
    const ten = Array.from({ length: 10 }, () => fresh.endToEndId())
    ids.push(...ten)
    return worker.broker.publish(
      ten.map((endToEndId) => inbound(payment({ endToEndId }), { key: endToEndId })),
    )
  }
  for (let round = 0; round < 40; round++) await receiveTen()
  await worker.feature.start?.()
  const name = new URL(own.dsn).pathname.slice(1)
  let cancelled = 0
  for (let cut = 1; cancelled < 5; cut++) {
    // A fast worker is given more to do.
    if (cut % 100 === 0) await receiveTen()
    // The server shows the beginning of a statement alone; that which stores messages begins with what is given.
    const rows = await sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = ${name} and state = 'active' and query ~ 'spi_|given as materialized'`
    cancelled += rows.length
  }
  const end = performance.now() + 40_000
  const count = async (): Promise<number> => {
    const rows = await own.sql<{ id: string }[]>`select id from spi_messages`.catch(() => [])
    return rows.length
  }
  while ((await count()) < ids.length) {
    if (performance.now() > end) throw new Error(`${await count()} of ${ids.length} are stored`)
    await Bun.sleep(20)
  }
  const rows = await own.sql<{ subject: string }[]>`select subject from webhook_events`
  expect(rows.map(({ subject }) => subject).sort()).toEqual(ids.toSorted())
  expect(await lettersIn(own.sql)).toEqual([])
  await worker.stop()
  await own.close()
}, 60_000)

test('a drain settles what runs and takes no more; another worker goes on where it ended', async () => {
  const own = await createTestDatabase(10)
  const first = await workerOn(own)
  const all = Array.from({ length: 600 }, () => inbound(payment(), { key: fresh.endToEndId() }))
  await first.broker.publish(all)
  await first.feature.start?.()
  const count = async () => {
    const [row] = await own.sql<
      { count: number }[]
    >`select count(*)::int as count from spi_messages`
    return row?.count ?? 0
  }
  while ((await count()) === 0) await Bun.sleep(1)
  await first.feature.drain?.()
  await first.stop()
  const second = await workerOn(own)
  await second.feature.start?.()
  await until(async () => (await count()) === all.length)
  await second.stop()
  expect(await count()).toBe(all.length)
  await own.close()
}, 60_000)

test('what is logged of a message has no personal data and names every warning', async () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  const worker = await workerOn(database, { logger })
  await worker.feature.start?.()
  // The start itself warns of signatures that are not looked at.
  lines.length = 0
  const endToEndId = fresh.endToEndId()
  const sent = await queued(database, 'pacs.008', [{ endToEndId }])
  const resourceId = fresh.resourceId()
  await worker.broker.publish([
    inbound(payment({ proxy: '' }), { resourceId }),
    inbound(report([{ endToEndId, status: 'RJCT', reason: 'AC03' }])),
  ])
  await storedWhen(database, 'resource_id', resourceId)
  await storedWhen(database, 'id', sent.id, ({ status }) => status === 'REJECTED')
  await until(() => lines.length === 3)
  const received = lines.map((line) => JSON.parse(line)).find((line) => line.type === 'pacs.008')
  expect(received).toMatchObject({
    level: 'warn',
    resource_id: resourceId,
    status: 'PROCESSED',
    warnings: [{ rule: 'Prxy', path: '//CdtTrfTxInf[1]' }],
  })
  const text = lines.join('')
  expect(text).toContain('sent message is answered')
  // As a word: a random identifier may well hold the letters.
  expect(text).not.toMatch(/\bAna\b/)
  expect(text).not.toContain('12345678909')
  await worker.stop()
})
