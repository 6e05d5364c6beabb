/** What anybody may ask, and however often, while the database is silent. */
import { expect, test } from 'bun:test'
import { systemRoutes } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createAuthenticator } from '#src/platform/security/index.ts'
import { testApp } from '../../support/app.ts'

const common = {
  version: 'test',
  metrics: undefined,
  routes: () => [],
  authenticator: createAuthenticator({ sources: [] }),
  health: async () => ({ draining: false, checks: {} }),
}

test('metrics are collected once for all that ask at once, and for a second', async () => {
  const metrics = createMetrics({ version: 'test', withProcess: false })
  let collected = 0
  metrics.gauge('asked', 'How often.', [], async (gauge) => {
    await Bun.sleep(20)
    gauge.set(++collected)
  })
  const app = testApp(systemRoutes({ ...common, metrics }))
  const scrape = async () => (await app.call('GET', '/metrics')).text()
  const texts = await Promise.all(Array.from({ length: 10 }, scrape))
  texts.push(await scrape())
  expect(collected).toBe(1)
  expect(texts.every((text) => text.includes('\nasked 1\n'))).toBe(true)
  await Bun.sleep(1_050)
  expect(await scrape()).toContain('\nasked 2\n')
})

test('the health does not wait for a key that nobody can look up', async () => {
  const authenticator = {
    ...common.authenticator,
    verify: () => new Promise<undefined>(() => undefined),
  }
  const app = testApp(systemRoutes({ ...common, authenticator }))
  const startedMs = performance.now()
  const answer = await app.call('GET', '/health', { key: 'trl_test_x' })
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok', version: 'test' }])
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})
