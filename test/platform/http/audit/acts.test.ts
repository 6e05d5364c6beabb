import { expect, test } from 'bun:test'
import { certificateRoutes } from '#src/certificates/routes.ts'
import { joseRoutes } from '#src/jose/routes.ts'
import { type AuditEntry, logLevelRoutes } from '#src/platform/http/index.ts'
import { rsfnRoutes } from '#src/spi/link/rsfn/routes.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { until } from '../../../support/until.ts'

const operator = testKey('*')
const reader = testKey('ops:read')

const harness = (fault?: 'away' | 'frozen') => {
  const entries: AuditEntry[] = []
  const app = testApp(logLevelRoutes([]), {
    keys: [operator.record, reader.record],
    recordAct: async (entry) => {
      if (fault === 'away') throw new Error('away')
      if (fault === 'frozen') await Promise.withResolvers().promise
      entries.push(entry)
    },
  })
  const set = (key: string, body: object) => app.call('PUT', '/v1/ops/log-level', { key, body })
  return { ...app, entries, set }
}

test('an act that changes no row is recorded with what came of it', async () => {
  const { set, entries } = harness()
  expect((await set(operator.key, { level: 'debug' })).status).toBe(200)
  expect((await set(operator.key, { level: 'loud' })).status).toBe(400)
  expect(entries).toMatchObject([
    { action: 'log_level.set', object: '/v1/ops/log-level', outcome: 'done' },
    { action: 'log_level.set', outcome: 'validation_failed' },
  ])
  expect(entries[0]?.actor.id).toBe(operator.record.id)
  expect(entries[0]?.actor.requestId).toMatch(/^req_/)
})

test('what a key may not do is recorded once a minute', async () => {
  const { set, entries } = harness()
  for (let asked = 0; asked < 5; asked++) {
    expect((await set(reader.key, { level: 'debug' })).status).toBe(403)
  }
  await until(() => entries.length > 0)
  expect(entries).toMatchObject([
    { action: 'access.refused', object: 'PUT /v1/ops/log-level', outcome: 'forbidden' },
  ])
  expect(entries[0]?.actor.id).toBe(reader.record.id)
})

test.each(['away', 'frozen'] as const)(
  'a database that is %s keeps nobody from acting; the log tells of it',
  async (fault) => {
    const { set, lines } = harness(fault)
    expect((await set(operator.key, { level: 'debug' })).status).toBe(200)
    expect(lines.join('')).toContain('an act is not in the audit log')
    expect(lines.join('')).toContain('log_level.set')
  },
)

test('whatever uses or hands out a private key is an act', () => {
  const never = (): never => {
    throw new Error('not called')
  }
  const deps = { service: undefined as never, logger: undefined as never, now: never }
  const acts = [
    ...joseRoutes(never),
    ...rsfnRoutes(never as never),
    ...certificateRoutes(deps),
  ].flatMap(({ act, path }) => (act === undefined ? [] : [`${act} ${path}`]))
  expect(acts).toEqual([
    'jose.sign /v1/jose/sign',
    'jose.decrypt /v1/jose/decrypt',
    'rsfn.seal /v1/rsfn/seal',
    'rsfn.open /v1/rsfn/open',
    'certificates.export /v1/certificates/{ispb}/{type}/{version}/export',
    'certificates.export /v1/certificates/{ispb}/{type}/{version}/manifest',
  ])
})
