import { expect, test } from 'bun:test'
import { inSpan } from '#src/platform/observe/index.ts'
import { testTokens } from '../../../src/simulators/card-network/index.ts'
import { createNetworkRig, payment, stanOf } from '../../support/card-network.ts'
import { authorizationBody, createCardsRig } from '../../support/cards-rig.ts'
import { type CollectedSpan, type Collector, collected } from '../../support/collector.ts'
import { createReversalRig, isEnded, reversalOf } from '../reversals/support.ts'

const exchangesOf = ({ spans }: Collector): readonly CollectedSpan[] =>
  spans.filter(({ name }) => name.startsWith('card exchange'))

/** As digits, and as bytes in hexadecimal or base64 would show them. */
const shapesOf = (pan: Uint8Array): readonly string[] => [
  Buffer.from(pan).toString('latin1'),
  Buffer.from(pan).toString('hex'),
  Buffer.from(pan).toString('base64').replace(/=+$/, ''),
]

const expectNoCards = (collector: Collector): void => {
  const text = collector.text()
  const found = [...testTokens].filter(([, pan]) =>
    shapesOf(pan).some((shape) => text.includes(shape)),
  )
  expect(found.map(([token]) => token)).toEqual([])
}

test('every exchange is one client span with what came of it, and nothing of the card', async () => {
  const collector = await collected(async () => {
    await using rig = await createNetworkRig({ window: 2 })
    const { network } = rig
    const send = (number: number, token: string, timeoutMs = 20_000) =>
      network.exchange(payment(number, { token }), timeoutMs)
    await send(1, 'tok_visa_approved')
    await send(2, 'tok_visa_declined_51')
    await Promise.all([
      send(3, 'tok_visa_timeout', 60),
      send(3, 'tok_visa_timeout', 60),
      send(4, 'tok_visa_timeout', 60),
      send(5, 'tok_visa_approved', 60),
    ])
    const unwritable = payment(6, { amount: '4111111111111111' })
    await network.exchange(unwritable, 20_000).catch(() => {})
    await network.exchange(payment(7, {}, '0400'), 20_000)
    await network.stop()
    await send(8, 'tok_visa_approved')
  })
  const spans = exchangesOf(collector)
  const told = spans
    .map(({ name, attributes, isFailed }) => ({
      name,
      stan: attributes['trilho.cards.stan'],
      outcome: attributes['trilho.cards.outcome'],
      code: attributes['trilho.cards.response_code'],
      error: attributes['error.type'],
      isFailed,
    }))
    .sort((a, b) => `${a.stan} ${a.error}`.localeCompare(`${b.stan} ${b.error}`))
  const name = 'card exchange 0100'
  const answered = { name, outcome: 'answered', error: undefined, isFailed: false }
  const failed = (number: number, outcome: string | undefined, error: string) => ({
    name,
    stan: stanOf(number),
    outcome,
    code: undefined,
    error,
    isFailed: true,
  })
  expect(told).toEqual([
    { ...answered, stan: stanOf(1), code: '00' },
    { ...answered, stan: stanOf(2), code: '51' },
    failed(3, 'not_sent', 'duplicate_key'),
    failed(3, 'timed_out', 'timed_out'),
    failed(4, 'timed_out', 'timed_out'),
    failed(5, 'not_sent', 'window_full'),
    failed(6, undefined, 'iso8583_length'),
    { ...answered, name: 'card exchange 0400', stan: stanOf(7), code: '25' },
    failed(8, 'not_sent', 'stopping'),
  ])
  expect(spans[0]).toMatchObject({
    kind: 3,
    attributes: {
      'server.address': '127.0.0.1',
      'server.port': expect.any(Number),
      'network.transport': 'tcp',
      'network.protocol.name': 'iso8583',
      'network.protocol.version': '1987',
      'trilho.cards.network': 'neta',
      'trilho.cards.mti': '0100',
    },
  })
  expectNoCards(collector)
  expect(collector.text()).not.toContain('4111111111111111')
})

test('an exchange belongs to the trace of the request that caused it', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
  const collector = await collected(async () => {
    await using rig = await createCardsRig()
    const path = '/v1/transactions/authorize'
    const approved = await rig.post(path, authorizationBody('tok_visa_approved'), headers)
    expect(approved.status).toBe(201)
    const { id } = (await approved.json()) as { readonly id: string }
    await rig.post(`/v1/transactions/${id}/void`, undefined, headers)
    await rig.settled(id)
  })
  const ofTrace = collector.spans.filter((span) => span.traceId === traceId)
  const requests = new Set(ofTrace.filter(({ kind }) => kind === 2).map(({ spanId }) => spanId))
  const exchanges = exchangesOf(collector).filter((span) => span.traceId === traceId)
  expect(exchanges.length).toBeGreaterThan(0)
  for (const { parentSpanId } of exchanges) expect(requests.has(parentSpanId)).toBe(true)
  // The vault is asked for the number by each of the two.
  const asked = ofTrace.filter(({ name }) => name === 'POST')
  expect(asked.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([200, 200])
  for (const { parentSpanId } of asked) expect(requests.has(parentSpanId)).toBe(true)
  expectNoCards(collector)
})

test('a reversal continues the trace of its payment, whoever sends it and when', async () => {
  const traceIds = ['1', '2', '3'].map((digit) => digit.repeat(32))
  const collector = await collected(async () => {
    await using rig = await createCardsRig({ timeoutMs: 700 })
    const reversed = traceIds.map(async (traceId) => {
      const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
      const body = authorizationBody('tok_visa_timeout')
      const response = await rig.post('/v1/transactions/authorize', body, headers)
      expect(response.status).toBe(504)
      const { error } = (await response.json()) as {
        readonly error: { readonly details: { readonly transaction_id: string } }
      }
      await rig.settled(error.details.transaction_id)
    })
    await Promise.all(reversed)
  })
  for (const traceId of traceIds) {
    const own = collector.spans.filter((span) => span.traceId === traceId)
    const request = own.find(({ kind }) => kind === 2)
    const [reversal, ...others] = own.filter(({ name }) => name === 'card reversal')
    expect(others).toEqual([])
    expect(reversal).toMatchObject({
      kind: 5,
      parentSpanId: request?.spanId ?? 'none',
      attributes: {
        'trilho.cards.network': 'neta',
        'trilho.cards.reverses': 'authorization',
        'trilho.cards.outcome': 'confirmed',
      },
    })
    const sent = own.filter(({ name }) => name === 'card exchange 0400')
    expect(sent.map(({ parentSpanId }) => parentSpanId)).toEqual([reversal?.spanId ?? 'none'])
  }
  expectNoCards(collector)
})

test('a void without an answer is repeated in the trace of the void, not of the authorization', async () => {
  const traceIds = ['4', '5'].map((digit) => digit.repeat(32))
  const [authorizing, voiding] = traceIds.map((id) => ({
    traceparent: `00-${id}-00f067aa0ba902b7-01`,
  }))
  const collector = await collected(async () => {
    await using rig = await createCardsRig({ timeoutMs: 700 })
    const body = authorizationBody('tok_visa_void_timeout')
    const approved = await rig.post('/v1/transactions/authorize', body, authorizing)
    const { id } = (await approved.json()) as { readonly id: string }
    const response = await rig.post(`/v1/transactions/${id}/void`, undefined, voiding)
    expect(response.status).toBe(504)
    await rig.settled(id)
  })
  const reversals = collector.spans.filter(({ name }) => name === 'card reversal')
  expect(reversals.length).toBeGreaterThan(0)
  expect(new Set(reversals.map(({ traceId }) => traceId))).toEqual(new Set(traceIds.slice(1)))
})

test('a reversal without a trace begins one of its own, whatever woke the engine', async () => {
  const collector = await collected(async () => {
    await using rig = await createReversalRig()
    const engine = rig.engine({ timing: { pollMs: 60_000, windowMs: 0 } })
    await rig.insert(reversalOf(1))
    inSpan('another request', {}, () => engine.kick())
    await rig.until(isEnded)
  })
  const reversal = collector.spans.find(({ name }) => name === 'card reversal')
  const other = collector.spans.find(({ name }) => name === 'another request')
  expect(reversal?.parentSpanId).toBe('')
  expect(reversal?.traceId).not.toBe(other?.traceId)
})
