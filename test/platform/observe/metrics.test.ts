import { expect, test } from 'bun:test'
import { createMetrics, type Metrics } from '#src/platform/observe/index.ts'

const valuesOf = async (metrics: Metrics, name: string): Promise<readonly string[]> => {
  const { text } = await metrics.render()
  return text.split('\n').filter((line) => line.startsWith(name))
}

test('a value that cannot be asked for is left out, old or not, and takes nothing else with it', async () => {
  const metrics = createMetrics({ version: '1', withProcess: false })
  let answer: () => Promise<number> = async () => 7
  metrics.gauge('asked', 'x', [], async (gauge) => gauge.set(await answer()))
  metrics.gauge('asked_by', 'x', ['by'], async (gauge) => gauge.set({ by: 'me' }, await answer()))
  metrics.counter('counted', 'x').inc(3)
  expect(await valuesOf(metrics, 'asked')).toEqual(['asked 7', 'asked_by{by="me"} 7'])
  answer = () => Promise.reject(new Error('away'))
  expect(await valuesOf(metrics, 'asked')).toEqual([])
  expect(await valuesOf(metrics, 'counted')).toEqual(['counted 3'])
  answer = async () => 8
  expect(await valuesOf(metrics, 'asked')).toEqual(['asked 8', 'asked_by{by="me"} 8'])
})

test('a scrape waits for what is slow no longer than it may', async () => {
  const metrics = createMetrics({ version: '1', withProcess: false })
  const never = Promise.withResolvers<number>()
  metrics.gauge('slow', 'x', [], async (gauge) => gauge.set(await never.promise))
  metrics.counter('counted', 'x').inc(3)
  const { text } = await metrics.render()
  expect(text).not.toMatch(/^slow/m)
  expect(text).toMatch(/^counted 3$/m)
})

test('build and event loop lag are told', async () => {
  const metrics = createMetrics({ version: '1.2.3', withProcess: true })
  await Bun.sleep(20)
  Bun.sleepSync(150)
  await Bun.sleep(20)
  // Once: each scrape begins the measure of the lag anew.
  const { text } = await metrics.render()
  expect(text).toContain(`\ntrilho_build_info{version="1.2.3",bun="${Bun.version}"} 1\n`)
  const [, lag] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text) ?? []
  expect(Number(lag)).toBeGreaterThan(0.1)
})
