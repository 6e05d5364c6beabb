import { expect, setDefaultTimeout, test } from 'bun:test'
import { processRoles } from '#src/platform/config/platform-settings.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { anyVariant, runProgram, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(60_000)

const ispb = '12345678'
const noticeMs = 40_000

/** A process with these settings, once it listens. */
const serve = async (env: Readonly<Record<string, string>>) => {
  const { file, key } = await apiKeyFile('spi:send', 'messages:read', 'ops:read', 'webhooks:manage')
  const program = startProgram(anyVariant, ['serve'], {
    env: { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0', API_KEYS_FILE: file, ...env },
  })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const urls = JSON.parse(line) as { readonly http_url: string; readonly grpc_url?: string }
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${urls.http_url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  return {
    ...urls,
    call,
    stop: async () => {
      program.signal('SIGTERM')
      expect((await program.end()).code).toBe(0)
    },
  }
}

const payment = {
  message_type: 'PACS008',
  params: { local_instrument: 'MANU', transactions: [transfer(ispb, '99999A04', 100)] },
}

test('a payment and its webhook go through processes of one role each', async () => {
  const { dsn, sql, close } = await createTestDatabase(2)
  const bank = await createCentralBank({ longPollMs: 200, streamIdleMs: 1_000 })
  const told: string[] = []
  const subscriber = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      told.push(await request.text())
      return new Response()
    },
  })
  const env = {
    DATABASE_DSN: dsn,
    ISPB: ispb,
    SPI_PRIMARY_URL: bank.url,
    SPI_SECONDARY_URL: bank.secondaryUrl,
    WEBHOOK_SECRET: 'a secret of sixteen or more',
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.0/8',
  }
  const api = await serve({ ...env, TRILHO_ROLES: 'api' })
  const statusOf = async () =>
    (await sql`select status from spi_messages where direction = 'OUTBOUND'`)[0]?.['status']
  const eventsOf = async () => (await sql`select type from webhook_events`).length
  const subscription = { url: subscriber.url.href, events: ['*'] }
  expect(await api.call('POST', '/v1/webhooks', subscription)).toMatchObject({ status: 201 })
  expect((await api.call('POST', '/v1/spi/send', payment)).status).toBe(202)
  expect(api.grpc_url).toBeUndefined()
  await Bun.sleep(300)
  expect(await statusOf()).toBe('QUEUED')

  const others = [await serve({ ...env, TRILHO_ROLES: 'send' })]
  await until(async () => (await statusOf()) !== 'QUEUED', noticeMs, 'it is sent')
  others.push(await serve({ ...env, TRILHO_ROLES: 'pull,worker' }))
  await until(async () => (await statusOf()) === 'ACCEPTED', noticeMs, 'it is answered')
  expect(await eventsOf()).toBeGreaterThan(0)
  expect(told).toEqual([])
  const [refused] = others
  expect((await refused?.call('POST', '/v1/spi/send', payment))?.status).toBe(503)
  expect((await refused?.call('POST', '/v1/spi/send', payment))?.text).toContain('TRILHO_ROLES')
  expect((await refused?.call('GET', '/health'))?.status).toBe(200)

  others.push(await serve({ ...env, TRILHO_ROLES: 'webhooks' }))
  await until(() => told.some((text) => text.includes('ACCEPTED')), noticeMs, 'it is told')
  for (const one of [...others, api]) await one.stop()
  subscriber.stop(true)
  await bank.stop()
  await sql`select 1`
  await close()
})

test('SPI_ROLES names the stages whatever TRILHO_ROLES says, and each must have what it needs', async () => {
  const run = (env: Readonly<Record<string, string>>) => runProgram(anyVariant, ['serve'], { env })
  const missing = await run({ TRILHO_ROLES: 'api,pull' })
  expect(missing.code).toBe(78)
  expect(missing.err).toContain('TRILHO_ROLES')
  expect(missing.err).toContain('needs ISPB')
  expect((await run({ TRILHO_ROLES: 'api', SPI_ROLES: 'WORKER' })).err).toContain(
    'needs DATABASE_DSN',
  )
  const unknown = await run({ TRILHO_ROLES: 'everything' })
  expect(unknown.code).toBe(78)
  for (const role of processRoles) expect(unknown.err).toContain(role)
})
