import { expect, setDefaultTimeout, test } from 'bun:test'
import { eventGroups } from '#src/events/index.ts'
import { authorizationBody, cardsRigOfFile } from '../support/cards-rig.ts'
import { subscribe } from '../support/webhooks.ts'

setDefaultTimeout(60_000)

const rig = await cardsRigOfFile({ timeoutMs: 300 })
await subscribe(rig.database.sql, ['card.transaction.*'])

const toldOf = async (id: string) => {
  const rows = await rig.database.sql<{ type: string; sequence: bigint; data: string }[]>`
    select type, sequence, data from webhook_events where subject = ${id} order by sequence`
  return rows.map(({ type, sequence, data }) => {
    const read = eventGroups.cards.payload.parse(JSON.parse(data))
    expect(read.transaction_id).toBe(id)
    expect(type).toBe(`card.transaction.${read.status}`)
    return [Number(sequence), read.status, read.reason] as const
  })
}

test('each status that a transaction takes is told once, in the commit that makes it', async () => {
  const { id } = await rig.authorize('tok_visa_approved')
  expect(await toldOf(id)).toEqual([[1, 'authorized', null]])
  await rig.post(`/v1/transactions/${id}/capture`, { amount: 4_000 })
  await rig.post(`/v1/transactions/${id}/void`)
  expect(await toldOf(id)).toEqual([
    [1, 'authorized', null],
    [2, 'captured', null],
    [3, 'voided', null],
  ])
  const declined = await rig.authorize('tok_visa_declined_05')
  expect(await toldOf(declined.id)).toEqual([[1, 'declined', null]])
  const both = await rig.authorize('tok_visa_approved', { capture: true })
  expect((await toldOf(both.id)).map(([, status]) => status)).toEqual(['authorized', 'captured'])
})

test('what nobody knows is told when its reversal is confirmed, and not before', async () => {
  const lost = await rig.post('/v1/transactions/authorize', authorizationBody('tok_visa_timeout'))
  const { error } = (await lost.json()) as { error: { details: { transaction_id: string } } }
  const id = error.details.transaction_id
  await rig.settled(id)
  expect(await toldOf(id)).toEqual([[1, 'voided', 'timed_out']])
})

test('without a subscription nothing is written', async () => {
  await rig.database.sql`update webhook_endpoints set active = false`
  const { id } = await rig.authorize('tok_visa_approved')
  expect(await toldOf(id)).toEqual([])
  const sequences = await rig.database.sql`select from webhook_sequences where subject = ${id}`
  expect(sequences).toHaveLength(0)
})

test('what happened to a transaction is read page by page, from the first to the last', async () => {
  type Page = {
    readonly events: readonly { readonly id: string }[]
    readonly next_cursor: string | null
  }
  const { id } = await rig.authorize('tok_visa_approved')
  await rig.post(`/v1/transactions/${id}/capture`)
  await rig.post(`/v1/transactions/${id}/void`)
  await rig.settled(id)
  const read = async (query: string) =>
    (await (await rig.get(`/v1/transactions/${id}/events?${query}`)).json()) as Page
  const whole = await read('')
  expect([whole.events.length > 3, whole.next_cursor]).toEqual([true, null])
  const ids: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Page = await read(cursor === '' ? 'limit=2' : `limit=2&cursor=${cursor}`)
    expect(page.events.length).toBeWithin(1, 3)
    ids.push(...page.events.map((event) => event.id))
    cursor = page.next_cursor
  }
  expect(ids).toEqual(whole.events.map((event) => event.id))
})
