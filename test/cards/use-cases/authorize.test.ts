import { describe, expect, test } from 'bun:test'
import { expectOwnedByAccount } from '../../support/app.ts'
import { until } from '../../support/card-network.ts'
import { authorizationBody, cardsRigOfFile, createCardsRig } from '../../support/cards-rig.ts'

const rig = await cardsRigOfFile()

const path = '/v1/transactions/authorize'
const eventTypes = async (id: string): Promise<readonly unknown[]> => {
  const { events } = (await (await rig.get(`/v1/transactions/${id}/events`)).json()) as {
    events: { type: string }[]
  }
  return events.map(({ type }) => type)
}

describe('an authorization', () => {
  test('is approved by network A', async () => {
    const response = await rig.post(path, authorizationBody('tok_visa_approved'))
    expect(response.status).toBe(201)
    const record = (await response.json()) as Record<string, unknown>
    expect(record).toMatchObject({
      status: 'authorized',
      amount: 10_000,
      currency: 'BRL',
      response_code: '00',
      response_message: 'Approved',
      brand: 'visa',
      merchant_id: 'MERCHANT000001',
      terminal_id: 'TERM01',
      installments: 1,
    })
    expect(record['auth_code']).toMatch(/^\d{6}$/)
    expect(record['rrn']).toEndWith(String(record['stan']))
    const entry = rig.simulators[0].book().find(({ rrn }) => rrn === record['rrn'])
    expect(entry).toMatchObject({ authorizedAmount: 10_000, capturedAmount: 0, reversals: 0 })
    const read = await rig.get(`/v1/transactions/${record['id']}`)
    expect(await read.json()).toEqual(record)
    expect(await eventTypes(String(record['id']))).toEqual(['authorization_sent', 'authorized'])
  })

  test('goes to network B by the card', async () => {
    const record = await rig.authorize('tok_mastercard_approved', {
      currency: 'USD',
      terminal_id: undefined,
      installments: 12,
    })
    expect(record).toMatchObject({ brand: 'mastercard', terminal_id: null, installments: 12 })
    expect(rig.simulators[1].book().some(({ rrn }) => rrn === record['rrn'])).toBe(true)
  })

  test.each(['01', '05', '14', '51', '54', '55', '57', '91', '96'])(
    'that is declined with %s is no error',
    async (code) => {
      const record = await rig.authorize(`tok_visa_declined_${code}`)
      expect(record).toMatchObject({ status: 'declined', auth_code: '', response_code: code })
      expect(record['response_message']).not.toBe('Declined')
      const [sent, ended] = await eventTypes(record.id)
      expect([sent, ended]).toEqual(['authorization_sent', 'declined'])
      // What the network does not know itself is taken back.
      const isCertain = code !== '91' && code !== '96'
      expect(record['operation']).toBe(isCertain ? undefined : 'reversing_authorization')
      expect((await rig.settled(record.id))['status']).toBe('declined')
    },
  )

  test('takes an answer that comes late but in time, and one that comes twice', async () => {
    expect(await rig.authorize('tok_visa_slow')).toMatchObject({ status: 'authorized' })
    expect(await rig.authorize('tok_visa_duplicate')).toMatchObject({ status: 'authorized' })
  })

  test.each([
    ['timeout', 504, 'NETWORK_TIMEOUT', 'timed_out'],
    ['wrong_rrn', 504, 'NETWORK_TIMEOUT', 'timed_out'],
    ['wrong_terminal', 504, 'NETWORK_TIMEOUT', 'timed_out'],
    ['drop', 502, 'NETWORK_UNAVAILABLE', 'connection_lost'],
    ['drop_before', 502, 'NETWORK_UNAVAILABLE', 'connection_lost'],
    ['garbage', 504, 'NETWORK_TIMEOUT', 'timed_out'],
    ['wrong_amount', 502, 'NETWORK_UNAVAILABLE', 'answer_mismatch'],
  ])('whose outcome nobody knows is reversed: %s', async (name, status, code, reason) => {
    await using own = await createCardsRig({ timeoutMs: 700 })
    const response = await own.post(path, authorizationBody(`tok_visa_${name}`))
    expect(response.status).toBe(status)
    const { error } = (await response.json()) as {
      error: { code: string; details: Record<string, unknown> }
    }
    expect(error).toMatchObject({ code, details: { sent: true, reason } })
    const id = String(error.details['transaction_id'])
    const record = await own.settled(id)
    expect(record).toMatchObject({ status: 'voided', auth_code: '', reason })
    expect(record['voided_at']).toBeString()
    expect(await own.reversalsOf(id)).toEqual([
      {
        network: 'neta',
        reverses: 'authorization',
        amount_cents: 10_000n,
        original_mti: '0100',
        original_stan: record['stan'],
        rrn: record['rrn'],
      },
    ])
    for (const entry of own.simulators[0].book()) {
      expect(entry).toMatchObject({ requests: 1, reversedAmount: 10_000 })
    }
  })

  test('that cannot be sent leaves nothing behind but its row', async () => {
    await using own = await createCardsRig()
    own.simulators[0].stop()
    await until(() => own.networks.byName('neta')?.health().connectionsUp === 0)
    const key = { 'Idempotency-Key': 'retry' }
    const body = authorizationBody('tok_visa_approved')
    const response = await own.post(path, body, key)
    expect(response.status).toBe(502)
    const { error } = (await response.json()) as { error: { details: Record<string, unknown> } }
    expect(error.details).toMatchObject({ sent: false, reason: 'no_connection', field: null })
    const id = String(error.details['transaction_id'])
    expect(await (await own.get(`/v1/transactions/${id}`)).json()).toMatchObject({
      status: 'voided',
      reason: 'not_sent',
      auth_code: '',
    })
    expect(await own.reversalsOf(id)).toEqual([])
    // The key is free: another attempt is another transaction.
    const again = await own.post(path, body, key)
    expect(again.headers.get('Idempotent-Replayed')).toBeNull()
    const second = (await again.json()) as { error: { details: Record<string, unknown> } }
    expect(second.error.details['transaction_id']).not.toBe(id)
  })
})

describe('an Idempotency-Key', () => {
  test('belongs to the account: a rotated API key does not pay twice', () =>
    expectOwnedByAccount((headers) =>
      rig.post(path, authorizationBody('tok_visa_approved'), headers),
    ))

  test('gives the first answer again, byte for byte', async () => {
    const body = authorizationBody('tok_visa_approved', { amount: 4_321 })
    const first = await rig.post(path, body, { 'Idempotency-Key': 'a' })
    const again = await rig.post(path, body, { 'Idempotency-Key': 'a' })
    expect(again.status).toBe(201)
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(await again.text()).toBe(await first.text())
    expect(rig.simulators[0].book().filter((one) => one.authorizedAmount === 4_321)).toHaveLength(1)
  })

  test('of another request is refused', async () => {
    const second = await rig.post(path, authorizationBody('tok_visa_approved', { amount: 4_322 }), {
      'Idempotency-Key': 'a',
    })
    expect(second.status).toBe(422)
  })

  test('lets one of many requests at the same time through', async () => {
    const body = authorizationBody('tok_visa_slow', { amount: 4_323 })
    const all = await Promise.all(
      Array.from({ length: 20 }, () => rig.post(path, body, { 'Idempotency-Key': 'b' })),
    )
    // Who asks while it is under way is told so; who asks after it gets the same answer again.
    const isRepeated = ({ headers }: Response) => headers.get('Idempotent-Replayed') === 'true'
    const [first, ...others] = all
      .filter(({ status }) => status === 201)
      .sort((a, b) => Number(isRepeated(a)) - Number(isRepeated(b)))
    expect([first?.status, first !== undefined && isRepeated(first)]).toEqual([201, false])
    expect(others.every(isRepeated)).toBe(true)
    expect(all.filter(({ status }) => status === 409)).toHaveLength(19 - others.length)
    expect(rig.simulators[0].book().filter((one) => one.authorizedAmount === 4_323)).toHaveLength(1)
  })

  test('gives a 504 again', async () => {
    await using own = await createCardsRig({ timeoutMs: 700 })
    const body = authorizationBody('tok_visa_timeout')
    const first = await own.post(path, body, { 'Idempotency-Key': 'c' })
    expect(first.status).toBe(504)
    const again = await own.post(path, body, { 'Idempotency-Key': 'c' })
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([504, 'true'])
    expect(await again.text()).toBe(await first.text())
  })
})

describe('a request', () => {
  test.each([
    [{ amount: 0 }, 'INVALID_AMOUNT', 'amount', 0],
    [{ amount: 1.5 }, 'INVALID_AMOUNT', 'amount', 1.5],
    [{ amount: '10000' }, 'INVALID_AMOUNT', 'amount', '10000'],
    [{ amount: 1_000_000_000_000 }, 'INVALID_AMOUNT', 'amount', null],
    [{ currency: 'EUR' }, 'INVALID_CURRENCY', 'currency', 'EUR'],
    [{ currency: undefined }, 'INVALID_CURRENCY', 'currency', null],
    [{ merchant_id: '' }, 'INVALID_MERCHANT_ID', 'merchant_id', ''],
    [{ merchant_id: 'M234567890123456' }, 'INVALID_MERCHANT_ID', 'merchant_id', null],
    [{ terminal_id: 'T23456789' }, 'INVALID_TERMINAL_ID', 'terminal_id', 'T23456789'],
    [{ installments: 0 }, 'INVALID_INSTALLMENTS', 'installments', 0],
    [{ installments: 13 }, 'INVALID_INSTALLMENTS', 'installments', 13],
    [{ capture: 'yes' }, 'INVALID_CAPTURE', 'capture', 'yes'],
    [{ card_token: undefined }, 'INVALID_CARD_TOKEN', 'card_token', null],
    [{ card_token: 't'.repeat(256) }, 'INVALID_CARD_TOKEN', 'card_token', null],
    [{ card_token: '4111111111111111' }, 'INVALID_CARD_TOKEN', 'card_token', null],
    [{ card_token: '4111-1111-1111-1111' }, 'INVALID_CARD_TOKEN', 'card_token', null],
    [{ pan: '4111111111111111' }, 'VALIDATION_FAILED', 'pan', null],
    [{ card_token: 'tok_unknown' }, 'CARD_TOKEN_NOT_FOUND', 'card_token', null],
  ])('is refused: %p', async (change, code, field, value) => {
    const response = await rig.post(path, authorizationBody('tok_visa_approved', change))
    expect(response.status).toBe(400)
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ error: { code, details: { field, value } } })
    expect(text).not.toMatch(/4111-?1111/)
  })

  test.each([
    { amount: 999_999_999_999 },
    { merchant_id: 'M23456789012345' },
    { terminal_id: 'T2345678' },
    { installments: 12 },
    { amount: 1 },
  ])('at the limit is taken: %p', async (change) => {
    expect(await rig.authorize('tok_visa_approved', change)).toMatchObject({ status: 'authorized' })
  })

  test('that is not JSON is refused without a word of it', async () => {
    const response = await rig.post(path, '{"card_token": 4111111111111111')
    expect(response.status).toBe(400)
    expect(await response.text()).not.toContain('411111111')
  })
})

test('no card number is stored or logged', async () => {
  await rig.authorize('tok_visa_approved')
  const { sql } = rig.database
  const rows = await sql<{ text: string }[]>`
    select t::text as text from card_transactions t union all select e::text from card_events e
    union all select convert_from(body, 'UTF8') from idempotency_keys where body is not null`
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter(({ text }) => /400000\d{10}|510000\d{10}/.test(text))).toEqual([])
  expect(rig.app.lines.filter((line) => /400000\d{10}|510000\d{10}/.test(line))).toEqual([])
})

test('without its database nothing is sent, and the caller may repeat', async () => {
  await using own = await createCardsRig()
  await own.database.close()
  const authorized = await own.post(path, authorizationBody('tok_visa_approved'))
  for (const response of [authorized, await own.post('/v1/transactions/txn_x/void')]) {
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      error: { code: 'UNAVAILABLE', details: { sent: false } },
    })
  }
  expect((await own.get('/v1/transactions')).status).toBe(503)
  expect(own.simulators[0].book()).toEqual([])
})

test('without its vault nothing is sent, and a repetition still gets its answer', async () => {
  await using own = await createCardsRig()
  const body = authorizationBody('tok_visa_approved')
  const first = await own.post(path, body, { 'Idempotency-Key': 'kept' })
  await own.stopVault()
  const refused = await own.post(path, body)
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({
    error: { code: 'VAULT_UNAVAILABLE', details: { sent: false } },
  })
  const again = await own.post(path, body, { 'Idempotency-Key': 'kept' })
  expect([again.status, await again.text()]).toEqual([201, await first.text()])
  expect(own.simulators[0].book()).toHaveLength(1)
})

test('a vault that fails for the capture only leaves the authorization, which says why', async () => {
  await using own = await createCardsRig()
  // Answered half a second later: the vault goes away while the network has the authorization.
  const answered = own.authorize('tok_visa_slow', { capture: true })
  await until(() => own.simulators[0].statistics().received['0100'] === 1)
  await own.stopVault()
  const record = await answered
  expect(record).toMatchObject({ status: 'authorized', capture_error: 'vault_unavailable' })
  expect(record['operation']).toBeUndefined()
  const { events } = (await (await own.get(`/v1/transactions/${record.id}/events`)).json()) as {
    readonly events: readonly unknown[]
  }
  expect(events.at(-1)).toMatchObject({
    type: 'capture_failed',
    data: { reason: 'vault_unavailable' },
  })
  expect(own.simulators[0].statistics().received['0200']).toBeUndefined()
  expect(own.simulators[0].book()).toMatchObject([{ authorizedAmount: 10_000, capturedAmount: 0 }])
})
