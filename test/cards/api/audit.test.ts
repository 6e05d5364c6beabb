import { expect, test } from 'bun:test'
import { cardsRigOfFile } from '../../support/cards-rig.ts'

const rig = await cardsRigOfFile()

const keyId = async (id: string): Promise<string | undefined> => {
  const [row] = await rig.database.sql<{ by: string }[]>`
    select created_by as by from card_transactions where id = ${id}`
  return row?.by
}
const entries = (id: string) => rig.database.sql<Record<string, string | null>[]>`
  select actor, action, outcome, request_id as request from audit_log where object = ${id}
  order by id`

test('who authorized, captured and voided is recorded, once per Idempotency-Key', async () => {
  const headers = (name: string) => ({ 'Idempotency-Key': name, 'X-Request-Id': `request-${name}` })
  const body = {
    card_token: 'tok_visa_approved',
    amount: 10_000,
    currency: 'BRL',
    merchant_id: 'MERCHANT000001',
  }
  const authorize = () => rig.post('/v1/transactions/authorize', body, headers('a'))
  const { id } = (await (await authorize()).json()) as { readonly id: string }
  await authorize()
  for (const [operation, name] of [
    ['capture', 'c'],
    ['void', 'v'],
  ] as const) {
    for (const _ of [1, 2]) {
      const done = await rig.post(`/v1/transactions/${id}/${operation}`, undefined, headers(name))
      expect(done.status).toBe(200)
    }
  }
  const actor = await keyId(id)
  expect([...(await entries(id))] as unknown).toEqual([
    { actor, action: 'cards.authorize', outcome: 'pending', request: 'request-a' },
    { actor, action: 'cards.capture', outcome: 'started', request: 'request-c' },
    { actor, action: 'cards.void', outcome: 'started', request: 'request-v' },
  ])
})

test('what captures at once is recorded as a capture, too', async () => {
  const { id } = await rig.authorize('tok_visa_approved', { capture: true })
  const declined = await rig.authorize('tok_visa_declined_51', { capture: true })
  const actions = async (one: string) => (await entries(one)).map(({ action }) => action)
  expect(await actions(id)).toEqual(['cards.authorize', 'cards.capture'])
  expect(await actions(declined.id)).toEqual(['cards.authorize'])
})

test('a step that the transaction does not allow leaves no entry', async () => {
  const { id } = await rig.authorize('tok_visa_approved')
  expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(200)
  expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(409)
  expect((await entries(id)).map(({ action }) => action)).toEqual(['cards.authorize', 'cards.void'])
})

test('who resolved is recorded, with what was answered', async () => {
  const { id } = await rig.authorize('tok_visa_approved')
  await rig.database.sql`
    update card_transactions set operation = 'reversing_void', needs_attention = true,
      operation_stan = '000001' where id = ${id}`
  const resolve = () =>
    rig.app.call('POST', `/v1/transactions/${id}/resolve`, {
      key: rig.adminKey,
      body: { outcome: 'voided', reason: 'Network desk, case 4711' },
    })
  expect((await resolve()).status).toBe(200)
  expect((await resolve()).status).toBe(409)
  const [, entry, ...others] = await entries(id)
  expect(others).toEqual([])
  expect(entry).toMatchObject({ action: 'cards.resolve', outcome: 'voided' })
  expect(entry?.['actor']).not.toBe(await keyId(id))
})
