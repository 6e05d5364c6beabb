import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  authorizationBody,
  type CardRecord,
  type CardsRig,
  createCardsRig,
} from '../../support/cards-rig.ts'

let rig: CardsRig
beforeAll(async () => {
  rig = await createCardsRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

type Page = { readonly transactions: readonly CardRecord[]; readonly next_cursor: string | null }

const list = async (query: string): Promise<Page> => {
  const response = await rig.get(`/v1/transactions?${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

describe('what people read', () => {
  test('is Portuguese where that is preferred, also of what was kept in English', async () => {
    const body = authorizationBody('tok_visa_declined_51')
    const asked = async (language: string) => {
      const headers = { 'Idempotency-Key': 'in-two-languages', 'Accept-Language': language }
      const response = await rig.post('/v1/transactions/authorize', body, headers)
      const told = response.headers.get('content-language')
      const { response_message: message, ...machine } = (await response.json()) as CardRecord
      return { told, message, vary: response.headers.get('vary'), machine }
    }
    const english = await asked('en')
    expect(english).toMatchObject({ told: 'en', message: 'Insufficient funds' })
    const portuguese = await asked('pt-BR, en;q=0.5')
    const { machine } = english
    const vary = 'Accept-Language'
    expect(portuguese).toEqual({ told: 'pt-BR', message: 'Saldo insuficiente', vary, machine })
    expect(await asked('en')).toEqual(english)
  })

  test('is so of an error that is kept under a key, too', async () => {
    const { id } = await rig.authorize('tok_visa_capture_declined')
    const response = await rig.post(
      `/v1/transactions/${id}/capture`,
      {},
      { 'Accept-Language': 'pt' },
    )
    expect([response.status, await response.json()]).toMatchObject([
      422,
      {
        error: { code: 'CAPTURE_DECLINED', message: expect.stringContaining('recusou a captura') },
      },
    ])
  })
})

describe('the list', () => {
  test('is newest first, in pages that neither repeat nor miss', async () => {
    const ids: string[] = []
    for (let at = 0; at < 5; at++) {
      const { id } = await rig.authorize('tok_visa_approved', { merchant_id: 'PAGES' })
      ids.unshift(id)
    }
    const first = await list('merchant_id=PAGES&limit=2')
    expect(first.transactions.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    const second = await list(`merchant_id=PAGES&limit=2&cursor=${first.next_cursor}`)
    expect(second.transactions.map(({ id }) => id)).toEqual(ids.slice(2, 4))
    const third = await list(`merchant_id=PAGES&limit=2&cursor=${second.next_cursor}`)
    expect(third.transactions.map(({ id }) => id)).toEqual(ids.slice(4))
    expect(third.next_cursor).toBeNull()
  })

  test('is narrowed by status and time', async () => {
    const common = { merchant_id: 'FILTERS' }
    const declined = await rig.authorize('tok_visa_declined_05', common)
    const captured = await rig.authorize('tok_visa_approved', { ...common, capture: true })
    const ids = async (query: string) =>
      (await list(`merchant_id=FILTERS&${query}`)).transactions.map(({ id }) => id)
    expect(await ids('status=declined')).toEqual([declined.id])
    expect(await ids('status=captured')).toEqual([captured.id])
    expect(await ids('status=voided')).toEqual([])
    const between = String(captured['created_at'])
    expect(await ids(`from=${between}`)).toContain(captured.id)
    expect(await ids('to=2020-01-01T00:00:00Z')).toEqual([])
    expect(await ids('from=2020-01-01T00:00:00Z')).toEqual([captured.id, declined.id])
  })

  test.each([
    'limit=0',
    'limit=201',
    'status=lost',
    'cursor=x',
    'from=yesterday',
    'other=1',
    'needs_attention=false',
    'limit=1&limit=2',
  ])('refuses %s', async (query) => {
    const response = await rig.get(`/v1/transactions?${query}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: expect.stringMatching(/^(VALIDATION_FAILED|VALUE_REFUSED)$/) },
    })
  })
})

describe('one transaction', () => {
  test('that is not there is 404', async () => {
    for (const path of ['/v1/transactions/txn_none', '/v1/transactions/txn_none/events']) {
      const response = await rig.get(path)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { code: 'TRANSACTION_NOT_FOUND' } })
    }
  })

  test('has its events in order, with a late answer among them', async () => {
    await using rig = await createCardsRig({ timeoutMs: 700 })
    const response = await rig.post(
      '/v1/transactions/authorize',
      authorizationBody('tok_visa_late'),
    )
    expect(response.status).toBe(504)
    const { error } = (await response.json()) as { error: { details: { transaction_id: string } } }
    const id = error.details.transaction_id
    const deadline = performance.now() + 40_000
    let types: readonly string[] = []
    while (!types.includes('late_answer') && performance.now() < deadline) {
      const body = await (await rig.get(`/v1/transactions/${id}/events`)).json()
      const { events } = body as { events: readonly { type: string; data: unknown }[] }
      types = events.map(({ type }) => type)
      const late = events.find(({ type }) => type === 'late_answer')
      if (late !== undefined) {
        expect(late.data).toMatchObject({ mti: '0110', response_code: '00' })
      }
    }
    // A look that comes late sees that it is taken back, too.
    expect(types.filter((type) => !type.startsWith('reversal')).slice(0, 3)).toEqual([
      'authorization_sent',
      'authorization_unknown',
      'late_answer',
    ])
    const record = (await (await rig.get(`/v1/transactions/${id}`)).json()) as CardRecord
    expect(record['auth_code']).toBe('')
    expect(['pending', 'voided']).toContain(record.status)
  })

  test('shows what went over the wire, also of rows that have it as jsonb', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const told = async () => {
      const body = await (await rig.get(`/v1/transactions/${id}/events`)).json()
      return (body as { events: readonly { messages: readonly { mti: string }[] }[] }).events
    }
    const events = await told()
    expect(events.map(({ messages }) => messages.map(({ mti }) => mti))).toEqual([
      [],
      ['0100', '0110'],
    ])
    await rig.database.sql`
      update card_events set messages = exchange::jsonb, exchange = null where transaction_id = ${id}`
    expect(await told()).toEqual(events)
  })

  test('tells once that it was sent, also where a row says so', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const told = async () => {
      const body = await (await rig.get(`/v1/transactions/${id}/events`)).json()
      return (body as { events: readonly { id: string; type: string; data: object }[] }).events
    }
    const [sent, ...others] = await told()
    expect(sent).toMatchObject({ id: '0', type: 'authorization_sent' })
    await rig.database.sql`
      insert into card_events (id, transaction_id, type, data, at)
      select -1, transaction_id, 'authorization_sent', ${JSON.stringify(sent?.data)}::text::jsonb, at
      from card_events where transaction_id = ${id} limit 1`
    const before = await told()
    expect(before.map(({ id: _, ...event }) => event.type)).toEqual([
      'authorization_sent',
      ...others.map(({ type }) => type),
    ])
    expect(before[0]).toMatchObject({ id: '-1', data: sent?.data })
  })
})

test.each(['authorize', 'txn_x/capture', 'txn_x/void'])('%s needs its scope', async (path) => {
  const { app, readKey: key } = rig
  const body = authorizationBody('tok_visa_approved')
  const refused = await app.call('POST', `/v1/transactions/${path}`, { key, body })
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({ error: { code: 'FORBIDDEN' } })
  expect((await app.call('GET', '/v1/transactions', { key })).status).toBe(200)
  expect((await app.call('GET', '/v1/transactions')).status).toBe(401)
})
