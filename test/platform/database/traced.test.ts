import { afterAll, expect, test } from 'bun:test'
import { inSpan } from '#src/platform/observe/index.ts'
import { startTracing } from '#src/platform/observe/tracing/start.ts'
import { startCollector } from '../../support/collector.ts'
import { createTestDatabase } from '../../support/database.ts'

const database = await createTestDatabase(2, true)
afterAll(() => database.close())
const { sql } = database

test('statements of a trace have spans; what no trace asked for has none', async () => {
  const collector = await startCollector()
  const tracing = startTracing({
    endpoint: collector.url,
    serviceName: 'x',
    serviceVersion: '1',
    samplingRatio: 1,
  })
  const ask = async (): Promise<void> => {
    await sql`select 1`
    await sql.unsafe('select 2')
    await sql.begin((tx) => tx`select 3`)
  }
  await ask()
  await inSpan('request', {}, ask)
  await ask()
  await tracing.stop()
  collector.stop()
  expect(collector.spans.map(({ name }) => name).toSorted()).toEqual([
    ...['postgresql SELECT', 'postgresql SELECT', 'postgresql SELECT'],
    ...['postgresql begin', 'request'],
  ])
})
