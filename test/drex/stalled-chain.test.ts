/** A chain that makes no more blocks. */
import { expect, test } from 'bun:test'
import { systemRoutes } from '#src/platform/http/index.ts'
import { createAuthenticator } from '#src/platform/security/index.ts'
import { testApp } from '../support/app.ts'
import { benchOfFile } from './support.ts'

const bench = await benchOfFile({ chain: { mining: 'manual' }, env: { DREX_STALL_SECONDS: '1' } })

test('it is told by /ready, the metrics and the health, and taken back with the next block', async () => {
  const health = () => bench.drex().health!()
  const system = systemRoutes({
    version: 'test',
    metrics: undefined,
    routes: () => [],
    authenticator: createAuthenticator({ sources: [] }),
    health: async () => ({ draining: false, checks: { drex: await health() } }),
  })
  const app = testApp(system)
  const ready = async () =>
    (await (await app.call('GET', '/ready')).json()) as { status: string; degraded?: string[] }
  await bench.chain.mine()
  await bench.until(async () => (await health()).reason !== undefined)
  expect(await ready()).toEqual({
    status: 'ready',
    degraded: [expect.stringMatching(/^drex_testnet has made no new block for \d+ s$/) as never],
  })
  expect((await health()).status).toBe('degraded')
  const age = /drex_head_age_seconds\{network="drex_testnet"\} ([\d.]+)/.exec(await bench.scrape())
  expect(Number(age?.[1])).toBeGreaterThanOrEqual(1)
  await bench.chain.mine()
  await bench.until(async () => (await health()).reason === undefined)
  expect(await ready()).toEqual({ status: 'ready' })
})
