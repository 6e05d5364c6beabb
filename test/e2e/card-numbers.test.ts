import { expect, test } from 'bun:test'
import {
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testTokens,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { startCollector } from '../support/collector.ts'
import { createTestDatabase } from '../support/database.ts'
import { dumpOf } from '../support/database-dump.ts'
import { anyVariant, startProgram } from '../support/program.ts'

const payments = 1_000
/** Fewer than are always let in at once, however slow the machine is. */
const clients = 60
const settleMs = 75_000

const passesLuhn = (digits: string): boolean => {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const weighted = at % 2 === 0 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}

/** Every part of a run of digits that could be a number of the networks configured: 4…, 51… to 55…, checked. */
const cardNumbersIn = (run: string): readonly string[] => {
  const found: string[] = []
  for (let from = 0; from + 13 <= run.length; from++) {
    if (!/^(?:4|5[1-5])/.test(run.slice(from, from + 2))) continue
    // Only whole runs in other lengths than the usual one: parts of longer numbers would be found by chance.
    for (const length of from === 0 ? [run.length, 16] : [16]) {
      const part = run.slice(from, from + length)
      if (part.length === length && length <= 19 && passesLuhn(part)) found.push(part)
    }
  }
  return found
}

const cards = [...testTokens.values()].map((pan) => new TextDecoder().decode(pan))
/** As it is, as the bytes of a column or a span are shown, and as JSON of bytes would carry it. */
const shapes = cards.flatMap((pan) => [
  pan,
  Buffer.from(pan).toString('hex'),
  Buffer.from(pan).toString('base64').replace(/=+$/, ''),
  pan.match(/\d{4}/g)?.join(' ') ?? pan,
  pan.match(/\d{4}/g)?.join('-') ?? pan,
])

/** The W3C form of a trace: one span id in two thousand has digits alone, and some look like a card number. */
const traceparents = /\b00-[\da-f]{32}-[\da-f]{16}-0[01]\b/g

/** The places in words, never the numbers: a failure must not print one either. */
const findings = (name: string, given: string): readonly string[] => {
  const text = given.replaceAll(traceparents, '')
  const known = shapes.filter((shape) => text.includes(shape)).length
  // Digits beside letters belong to an identifier in hexadecimal, those after a point to a fraction.
  const others = [...text.matchAll(/(?<![\da-f.])\d{13,}(?![\da-f])/g)].flatMap(([run]) =>
    cardNumbersIn(run),
  ).length
  return known + others === 0 ? [] : [`${name}: ${known} test cards, ${others} numbers like a card`]
}

test('the search finds a card number in any of its shapes', () => {
  for (const shape of shapes) expect(findings('text', `a "${shape}" b`)).toHaveLength(1)
  expect(findings('text', '4111111111111111')).toHaveLength(1)
  expect(findings('text', 'x94111111111111111x')).toHaveLength(1)
  expect(findings('text', 'id_0c4111111111111111')).toEqual([])
  expect(findings('text', '4111111111111112')).toEqual([])
  const trace = '00-0af7651916cd43dd8448eb211c80319c'
  expect(findings('text', `(${trace}-4111111111111111-01,`)).toEqual([])
  expect(findings('text', `(${trace}-00f067aa0ba902b7-01,4111111111111111)`)).toHaveLength(1)
})

test(`after ${payments} payments of every outcome no card number is in database, logs, traces, metrics or answers`, async () => {
  const [dialect, framing] = [findDialect('ascii'), findFraming('binary-2')]
  if (dialect === undefined || framing === undefined) throw new Error()
  const database = await createTestDatabase(1)
  const collector = await startCollector()
  const networks = [1, 2].map((seed) =>
    createCardNetwork({ dialect, framing, seed, lateMs: 1_300 }),
  )
  for (const network of networks) network.start()
  const vault = createTestVault({ key: testVaultKey })
  const { file: keyFile, key } = await apiKeyFile('cards:*', 'ops:read')
  let url = ''
  const gateway = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: keyFile,
      LOG_LEVEL: 'debug',
      CARDGW_LOG_LEVEL: 'debug',
      METRICS_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      DATABASE_DSN: database.dsn,
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: String(networks[0]?.port()),
      CARDGW_NETB_HOST: '127.0.0.1',
      CARDGW_NETB_PORT: String(networks[1]?.port()),
      CARDGW_NETA_TIMEOUT: '1',
      CARDGW_NETB_TIMEOUT: '1',
      // The gateway notices half-open connections within seconds.
      CARDGW_NETA_ECHO_SECONDS: '1',
      CARDGW_NETB_ECHO_SECONDS: '1',
      CARDGW_VAULT_URL: vault.url,
      CARDGW_VAULT_TOKEN: testVaultKey,
      CARDGW_REVERSAL_BACKOFF_MAX_SECONDS: '1',
      CARDGW_REVERSAL_WINDOW_SECONDS: '1',
    },
  })
  const ended = gateway.end()
  const answers: string[] = []
  const statuses = new Set<number>()
  const call = async (method: string, path: string, body?: unknown, idempotencyKey?: string) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    answers.push(`${JSON.stringify([...response.headers])} ${text}`)
    statuses.add(response.status)
    return text
  }
  try {
    const line = await gateway.line((text) => text.includes('"msg":"listening"'))
    url = JSON.parse(line).http_url
    const tokens = [...testTokens.keys()]
    let next = 0
    const client = async (): Promise<void> => {
      while (next < payments) {
        const number = next++
        const body = authorizationBody(tokens[number % tokens.length] ?? '', {
          amount: 1_000 + number,
          capture: number % 7 === 0,
        })
        const text = await call('POST', '/v1/transactions/authorize', body, `payment-${number}`)
        const id = /"id":"(txn_[0-9a-f]+)"/.exec(text)?.[1]
        if (id === undefined) continue
        if (number % 3 === 0) await call('POST', `/v1/transactions/${id}/capture`, { amount: 500 })
        if (number % 4 === 0) await call('POST', `/v1/transactions/${id}/void`)
        await call('GET', `/v1/transactions/${id}/events`)
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    // Under the load above, dropped connections end most of these before their time is up.
    for (const token of ['tok_visa_timeout', 'tok_mastercard_late']) {
      const endMs = performance.now() + settleMs
      let text = ''
      while (!text.includes('NETWORK_TIMEOUT')) {
        if (performance.now() > endMs) throw new Error(`no time-out: ${text}`)
        text = await call('POST', '/v1/transactions/authorize', authorizationBody(token))
      }
    }
    // Callers who put the number where it does not belong.
    for (const pan of cards.slice(0, 5)) {
      const path = '/v1/transactions/authorize'
      await call('POST', path, authorizationBody(pan))
      await call('POST', path, { ...authorizationBody('tok_visa_approved'), pan })
      await call('POST', path, { ...authorizationBody('tok_visa_approved'), [pan]: 1 })
      await call('POST', path, authorizationBody('tok_visa_approved', { merchant_id: pan }))
      await call('POST', path, authorizationBody('tok_visa_approved', { terminal_id: pan }))
      await call('POST', path, authorizationBody('tok_visa_approved', { amount: pan }))
      await call('POST', path, authorizationBody('tok_visa_unknown'))
      await call('GET', `/v1/transactions/${pan}`)
      await call('GET', `/v1/transactions?merchant_id=${pan}&status=${pan}`)
      await call('POST', `/v1/transactions/${pan}/void`)
    }
    // Where the network refuses every reversal there is no end.
    const endMs = performance.now() + settleMs
    for (;;) {
      const open = await database.sql`
        select status, operation, card_token from card_transactions where (status = 'pending' or operation is not null) and card_token not like '%void_declined'
        limit 5`
      if (open.length === 0) break
      if (performance.now() > endMs) throw new Error(`not ended: ${JSON.stringify(open)}`)
      await Bun.sleep(50)
    }
    const metrics = await (await fetch(`${url}/metrics`)).text()
    await call('GET', '/health')
    await call('GET', '/v1/transactions?limit=100')
    gateway.signal('SIGTERM')
    const { out, err, code } = await ended
    expect(code).toBe(0)
    const dump = await dumpOf(database)
    expect([200, 201, 400, 404, 502, 504].filter((status) => !statuses.has(status))).toEqual([])
    expect(dump.get('public.card_transactions')?.split('\n').length).toBeGreaterThanOrEqual(900)
    expect(metrics).toContain('cardgw')
    expect(collector.spans.length).toBeGreaterThan(payments)
    const exchanges = collector.spans.filter(({ name }) => name.startsWith('card exchange 0'))
    expect(exchanges.length).toBeGreaterThan(payments / 2)
    expect(out.split('\n').length).toBeGreaterThan(payments)
    const places = [
      ...dump,
      ...([
        ['standard output', out],
        ['standard error', err],
        ['traces', collector.text()],
        ['metrics', metrics],
        ['answers', answers.join('\n')],
      ] as const),
    ]
    expect(places.flatMap(([name, text]) => findings(name, text))).toEqual([])
  } finally {
    gateway.signal('SIGKILL')
    await ended
    for (const network of networks) network.stop()
    await vault.stop()
    collector.stop()
    await database.close()
  }
}, 240_000)
