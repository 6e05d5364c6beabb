import { expect, test } from 'bun:test'
import { runCli } from '#src/cli/index.ts'
import { deadLetterHeaders, topics } from '#src/platform/broker/index.ts'
import { parseCommandLine, UsageError } from '../../src/cli/command.ts'
import { dlqCommand, retryAll } from '../../src/cli/dlq.ts'
import type { Io, Program } from '../../src/cli/program.ts'
import { fresh, inbound, payment, storedWhen, workerOn } from '../spi/in/worker/support.ts'
import { runningBroker } from '../support/broker.ts'
import { createTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const database = await createTestDatabase()
const { sql, dsn } = database
const broker = await runningBroker(database)

const program = {
  settingGroups: [],
  load: () => ({ problems: [], database: dsn, platform: {} }),
} as unknown as Program

const told = async (command: (io: Io) => Promise<number>) => {
  const texts = { out: '', err: '' }
  const code = await command({
    env: {},
    out: (text) => {
      texts.out += text
    },
    err: (text) => {
      texts.err += text
    },
    taken: async () => {},
    readInput: async () => new Uint8Array(),
  })
  return { code, ...texts }
}

const run = (...argv: string[]) =>
  told((io) => dlqCommand.run(parseCommandLine(dlqCommand, argv), io, program))

/** As a terminal is given it. */
const runShown = (...argv: string[]) => told((io) => runCli(['dlq', ...argv], io, program))

const failureOf = async (...argv: string[]): Promise<unknown> => {
  try {
    await run(...argv)
  } catch (error) {
    return error
  }
  throw new Error('it went well')
}

const bury = async (value: string, topic?: string, code = 'why'): Promise<string> => {
  const headers = {
    'resource-id': 'UEk1',
    ...(topic === undefined ? {} : { [deadLetterHeaders.topic]: topic }),
    [deadLetterHeaders.errorCode]: code,
    [deadLetterHeaders.attempt]: '6',
  }
  await broker.publish([
    { topic: topics.deadLetters, key: 'k', value: Buffer.from(value), headers },
  ])
  const { letters } = JSON.parse((await run('list', '--json', '--limit', '1')).out)
  return letters[0].id
}

test('lists the newest first, shows with masks, drops', async () => {
  expect((await run('list')).out).toBe('dlq is empty\n')
  const first = await bury('<a>4111111111111111</a>', 'some.topic')
  const second = await bury('<b/>', 'other.topic')
  const { letters } = JSON.parse((await run('list', '--json')).out)
  expect(letters).toMatchObject([
    { id: second, key: 'k', bytes: 4, headers: { 'dlq-topic': 'other.topic' } },
    { id: first, headers: { 'dlq-topic': 'some.topic', 'dlq-error-code': 'why' } },
  ])
  const oldest = JSON.parse((await run('list', '--oldest', '--limit', '1', '--json')).out)
  expect(oldest.letters).toMatchObject([{ id: first }])
  const both = JSON.parse((await run('list', '--oldest', '--json')).out)
  expect(both.letters).toMatchObject([{ id: first }, { id: second }])
  const table = (await run('list')).out
  expect(table).toContain('some.topic')
  expect(table).toContain('why')
  const shown = (await run('show', first)).out
  expect(shown).toContain('resource-id')
  expect(shown).toContain('<a>')
  expect(shown).not.toContain('4111111111111111')
  expect(JSON.parse((await run('show', second, '--json')).out)).toMatchObject({
    value: '<b/>',
    can_be_retried: true,
  })
  expect((await run('drop', first)).out).toBe(`dropped ${first}\n`)
  expect((await run('drop', second, '--json')).out).toBe(`{"id":"${second}","dropped":true}\n`)
  expect((await run('list')).out).toBe('dlq is empty\n')
})

test('refuses what is no id, what is not there, and a limit past the bounds', async () => {
  expect(await failureOf('show', 'x')).toBeInstanceOf(UsageError)
  expect(await failureOf('retry')).toBeInstanceOf(UsageError)
  expect(await failureOf('burn')).toBeInstanceOf(UsageError)
  expect(await failureOf('list', '--limit', '1001')).toBeInstanceOf(UsageError)
  expect(await failureOf('list', '--limit', '0')).toBeInstanceOf(UsageError)
  expect((await run('list', '--limit', '1000')).code).toBe(0)
  for (const action of ['show', 'retry', 'drop']) {
    expect(String(await failureOf(action, '999999999'))).toContain('dlq has no message 999999999')
  }
  const lost = await bury('<a/>')
  expect(String(await failureOf('retry', lost))).toContain('which topic')
  expect((await run('drop', lost)).code).toBe(0)
})

test('a message steers no terminal, whatever is in it', async () => {
  const id = await bury('<a>\u001b]0;x\u0007\n\t\u009b2J</a>', 'a\u001b[2J')
  expect((await runShown('list')).out).toContain('a\\u001b[2J')
  const { out } = await runShown('show', id)
  expect(out).toEndWith('<a>\\u001b]0;x\\u0007\n\t\\u009b2J</a>\n')
  expect(out).toContain('a\\u001b[2J')
  expect((await run('drop', id)).code).toBe(0)
})

test('shows what is compressed as it was', async () => {
  await broker.publish([
    {
      topic: topics.deadLetters,
      value: Bun.zstdCompressSync('<large/>'),
      headers: { 'content-encoding': 'zstd', [deadLetterHeaders.topic]: 't' },
    },
  ])
  const { letters } = JSON.parse((await run('list', '--json', '--limit', '1')).out)
  expect((await run('show', letters[0].id)).out).toEndWith('<large/>\n')
  expect((await run('drop', letters[0].id)).code).toBe(0)
})

test('retries all there are, the oldest first, or those with one code', async () => {
  const topic = 'bulk.topic'
  const seen: string[] = []
  broker.consume({
    topic,
    group: 'g',
    batchSizeMax: 10,
    handler: async (batch) => {
      seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
    },
  })
  const lost = await bury('says not where from')
  for (const value of ['1', '2', '3']) await bury(value, topic, 'refused')
  await bury('other', topic, 'why')
  await bury('elsewhere', 'other.topic', 'refused')
  expect(await failureOf('retry', '1', '--all')).toBeInstanceOf(UsageError)
  expect((await run('retry', '--all', '--code', 'none such')).out).toBe('retried 0\n')
  expect((await run('retry', '--all', '--code', 'refused', '--topic', topic)).out).toBe(
    'retried 3\n',
  )
  await until(() => seen.length === 3)
  expect(seen).toEqual(['1', '2', '3'])
  expect((await run('retry', '--all', '--topic', 'other.topic')).out).toBe('retried 1\n')
  const why = 'It does not say which topic it came from: it can only be thrown away.'
  expect(JSON.parse((await run('retry', '--all', '--json')).out)).toEqual({
    retried: 1,
    more_may_wait: false,
    left: [{ count: 1, why }],
    more_may_be_left: false,
  })
  await until(() => seen.length === 4)
  const { letters } = JSON.parse((await run('list', '--json')).out)
  expect(letters.map(({ id }: { id: string }) => id)).toEqual([lost])
  expect((await run('drop', lost)).code).toBe(0)
})

test('what holds no message is listed so, and is left with the reason where all are retried', async () => {
  const code = 'answer_unreadable:multipart_truncated'
  const ids = [await bury('--x', 'some.topic', code), await bury('--y', 'some.topic', code)]
  const { letters } = JSON.parse((await run('list', '--json')).out)
  expect(letters).toMatchObject([{ can_be_retried: false }, { can_be_retried: false }])
  expect((await run('list')).out).toMatch(/ RETRY .*\n.* no /)
  const why = 'It holds what cannot be read, and no message: it can only be thrown away.'
  expect((await run('retry', '--all', '--code', code)).out).toBe(`retried 0\nleft 2: ${why}\n`)
  expect((await run('retry', '--all', '--topic', 'other.topic')).out).toBe('retried 0\n')
  for (const id of ids) await run('drop', id)
})

test('says that more may wait, and that more may be left, where it stopped at its bound', async () => {
  const asked = async (waiting: number, staying: readonly number[], ...argv: string[]) => {
    const box = {
      ids: async (limit: number) =>
        Array.from({ length: Math.min(waiting, limit) }, (_, at) => BigInt(at)),
      staying: async () => staying.map((count) => ({ count, why: 'Why.' })),
      retry: async () => true,
    }
    const args = parseCommandLine(dlqCommand, ['retry', '--all', ...argv])
    return (await told((io) => retryAll(box, args, io))).out
  }
  const more = 'more may wait: ask again until it retries 0\n'
  expect(await asked(9_999, [])).toBe('retried 9999\n')
  expect(await asked(20_000, [2])).toBe(`retried 10000\n${more}left 2: Why.\n`)
  expect(await asked(0, [9_000, 999])).toBe('retried 0\nleft 9000: Why.\nleft 999: Why.\n')
  expect(await asked(0, [9_000, 1_000])).toBe(
    'retried 0\nleft at least 9000: Why.\nleft at least 1000: Why.\n',
  )
  expect(JSON.parse(await asked(20_000, [10_000], '--json'))).toEqual({
    retried: 10_000,
    more_may_wait: true,
    left: [{ count: 10_000, why: 'Why.' }],
    more_may_be_left: true,
  })
})

test('a message that could not be read is read when it is tried again', async () => {
  const worker = await workerOn(database)
  await worker.feature.start?.()
  const resourceId = fresh.resourceId()
  const id = fresh.businessId()
  await worker.broker.publish([inbound('<not well-formed', { resourceId })])
  const failed = await storedWhen(database, 'resource_id', resourceId)
  expect(failed.status).toBe('FAILED')
  const letter = async () => JSON.parse((await run('list', '--json')).out).letters[0]
  expect(await letter()).toMatchObject({ headers: { 'resource-id': resourceId } })
  // As if a later version could read it.
  await sql`
    update broker_dead_letters set value = ${Buffer.from(payment({}, { id }))}`
  expect((await run('retry', (await letter()).id)).code).toBe(0)
  expect(await storedWhen(database, 'biz_msg_idr', id)).toMatchObject({ status: 'PROCESSED' })
  expect((await run('list')).out).toBe('dlq is empty\n')
  await worker.stop()
})
