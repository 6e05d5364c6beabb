import { afterAll, expect, test } from 'bun:test'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createOpenMessages } from '#src/spi/index.ts'
import { insertMessages } from '#src/spi/messages/index.ts'
import { joinLines, noteCalled, setAside } from '#src/spi/out/stage/entries.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { message } from './support.ts'

const { sql, close } = await createTestDatabase()
afterAll(close)

const queuedAgo = (seconds: number) =>
  message({
    direction: 'OUTBOUND',
    status: 'QUEUED',
    id: Bun.randomUUIDv7('hex', Date.now() - seconds * 1000),
  })

test('a process that sends nothing tells that nobody does, once a message has waited for long', async () => {
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const open = createOpenMessages({ sql, logger: quietLogger, metrics, lookEveryMs: 20 })
  await open.start?.()
  expect(await open.health?.()).toMatchObject({ status: 'ok', detail: { queued: { count: 0 } } })
  await insertMessages(sql, [queuedAgo(20)])
  const count = async () =>
    ((await open.health?.())?.detail?.['queued'] as { count: number } | undefined)?.count
  await until(async () => (await count()) === 1)
  expect(await open.health?.()).toMatchObject({ status: 'ok', ready: true })
  await insertMessages(sql, [queuedAgo(40)])
  await until(async () => (await count()) === 2)
  expect(await open.health?.()).toMatchObject({
    status: 'degraded',
    ready: true,
    reason: expect.stringMatching(/^a message has waited to be sent for 4\d s$/),
  })
  const { text } = await metrics.render()
  expect(text).toContain('trilho_spi_messages_open{status="QUEUED"} 2')
  expect(text).toMatch(/trilho_spi_messages_open_oldest_seconds\{status="QUEUED"\} 4\d/)
  // What waits for its answer is told as well; it is nobody's lack of a sender.
  for (const status of ['SENT', 'UNKNOWN']) {
    await sql`update spi_messages set status = ${status}`
    await until(async () =>
      (await metrics.render()).text.includes(`trilho_spi_messages_open{status="${status}"} 2`),
    )
    expect(await open.health?.()).toMatchObject({
      status: 'ok',
      detail: { [status.toLowerCase()]: { count: 2 }, queued: { count: 0 } },
    })
    const waiting = (await metrics.render()).text
    expect(waiting).toMatch(
      new RegExp(`trilho_spi_messages_open_oldest_seconds\\{status="${status}"\\} [45]\\d`),
    )
  }
  await sql`update spi_messages set status = 'ACCEPTED'`
  await until(async () =>
    (await metrics.render()).text.includes('trilho_spi_messages_open{status="UNKNOWN"} 0'),
  )
  expect(await open.health?.()).toMatchObject({ status: 'ok' })
  await open.drain?.()
})

test('what waits its turn in the line of its channel is told apart, and no lack of a sender', async () => {
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const open = createOpenMessages({ sql, logger: quietLogger, metrics, lookEveryMs: 20 })
  const inLine = [queuedAgo(900), queuedAgo(600)]
  const aside = queuedAgo(10)
  await insertMessages(sql, [...inLine, aside])
  await joinLines(
    sql,
    inLine.map(({ id }) => ({ id, line: 'secondary' })),
  )
  // One is called, and on the queue.
  await noteCalled(sql, [inLine[0]?.id ?? ''], new Date())
  await open.start?.()
  const told = async () => (await open.health?.())?.detail as Readonly<Record<string, unknown>>
  await until(async () => (await told())['in_line'] !== undefined)
  expect(await open.health?.()).toMatchObject({
    status: 'ok',
    detail: { queued: { count: 1 }, in_line: { count: 2, oldest_seconds: expect.any(Number) } },
  })
  const { text } = await metrics.render()
  expect(text).toContain('trilho_spi_messages_open{status="IN_LINE"} 2')
  expect(text).toMatch(/trilho_spi_messages_open_oldest_seconds\{status="IN_LINE"\} 90\d/)
  expect(text).toMatch(/trilho_spi_messages_open_oldest_seconds\{status="QUEUED"\} 1\d/)
  // What a channel does not take at all is not sent, for however short a time it is set aside.
  await setAside(sql, aside.id, new Date(Date.now() + 60_000))
  await insertMessages(sql, [queuedAgo(40)])
  await until(async () => (await open.health?.())?.status === 'degraded')
  expect(await open.book?.()).toContainEqual(
    expect.objectContaining({ what: 'instant payments QUEUED', open: 2 }),
  )
  await sql`update spi_messages set status = 'ACCEPTED'`
  await open.drain?.()
})
