/** What institutions say that have no part in a mandate or charge. */
import { afterAll, expect, test } from 'bun:test'
import type { Event, Fact, Stated } from '#src/spi/recurring/domain.ts'
import { applyFacts } from '#src/spi/recurring/project.ts'
import { createTestDatabase } from '../../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const ours = '12345678'
const payers = '99999010'
const other = '99999A04'
const stranger = '87654321'

let serial = 0
const newKey = () => `K${++serial}`

type Said = readonly [type: string, event: Event, speaker: string | undefined]

const fact = (kind: Fact['kind'], key: string, [type, event, speaker]: Said): Fact => ({
  kind,
  key,
  position: 0,
  type,
  event,
  requestId: null,
  status: null,
  reason: null,
  mandateId: null,
  reconciliationId: null,
  terms: speaker === undefined ? null : { creditor_ispb: ours, debtor_ispb: speaker },
})

const ofCharge = (key: string, [type, event, speaker]: Said): Fact => ({
  ...fact('charge', key, [type, event, type === 'pain.013' ? speaker : undefined]),
  ...(type.startsWith('camt') && speaker !== undefined ? { speaker } : {}),
})

const ofMandate = (key: string, said: Said): Fact => ({
  ...fact('mandate', key, said),
  mandate: {
    reference: null,
    journey: null,
    debtorDocument: '12345678909',
    debtorIspb: said[2] ?? '',
    debtorAccount: '1',
    debtorBranch: null,
    debtorTown: null,
  },
})

/** The states of what is asked for and then said to be, message by message and all at once. */
const statesOf = async (
  of: typeof ofCharge,
  lines: readonly (readonly [Stated['direction'], ...Said])[],
): Promise<readonly unknown[]> => {
  const key = newKey()
  const told = lines.map(([direction, ...said]) => ({
    messageId: Bun.randomUUIDv7(),
    direction,
    fact: of(key, said),
  }))
  const stateNow = async () =>
    (await sql<{ state: string }[]>`select state from spi_recurrences where key = ${key}`)[0]?.state
  const states: unknown[] = []
  for (const one of told) {
    await sql.begin((tx) => applyFacts(tx, [one]))
    states.push(await stateNow())
  }
  const [count] = await sql<{ steps: number }[]>`
    select count(*)::int as steps from spi_recurrence_steps where recurrence_id like ${`% ${key}`}`
  expect(count?.steps).toBe(lines.length)
  await sql`delete from spi_recurrence_steps where recurrence_id like ${`% ${key}`}`
  await sql`delete from spi_recurrences where key = ${key}`
  await sql.begin((tx) => applyFacts(tx, told))
  expect(await stateNow()).toBe(states.at(-1) as string)
  return states
}

test('a charge is cancelled by its institutions alone', async () => {
  const states = await statesOf(ofCharge, [
    ['OUTBOUND', 'pain.013', 'requested', payers],
    ['INBOUND', 'pain.014', 'scheduled', undefined],
    ['INBOUND', 'camt.055', 'cancelled', stranger],
    ['INBOUND', 'camt.029', 'cancelled', stranger],
    ['INBOUND', 'camt.055', 'cancellation_requested', stranger],
    ['OUTBOUND', 'camt.055', 'cancellation_requested', ours],
    ['INBOUND', 'camt.029', 'cancellation_refused', stranger],
    ['INBOUND', 'camt.029', 'cancelled', payers],
  ])
  expect(states).toEqual([
    ...['requested', 'scheduled', 'scheduled', 'scheduled', 'scheduled'],
    ...['cancellation_requested', 'cancellation_requested', 'cancelled'],
  ])
})

test('a request for a mandate is answered by the institution that was asked last', async () => {
  const states = await statesOf(ofMandate, [
    ['OUTBOUND', 'pain.009', 'requested', payers],
    ['INBOUND', 'pain.012', 'refused', stranger],
    ['INBOUND', 'pain.012', 'unnamed_refused', stranger],
    ['INBOUND', 'pain.012', 'confirmed', stranger],
    ['INBOUND', 'pain.012', 'pending', payers],
    ['OUTBOUND', 'pain.009', 'requested', other],
    ['INBOUND', 'pain.012', 'confirmed', payers],
    ['INBOUND', 'pain.012', 'confirmed', other],
  ])
  expect(states).toEqual([
    ...['requested', 'requested', 'requested', 'requested', 'pending'],
    ...['pending', 'pending', 'confirmed'],
  ])
})

test('a payer may authorise a mandate elsewhere than where he was asked, and that institution end it', async () => {
  const states = await statesOf(ofMandate, [
    ['OUTBOUND', 'pain.009', 'requested', payers],
    ['INBOUND', 'pain.012', 'pending', other],
    ['OUTBOUND', 'pain.012', 'confirmed', other],
    ['INBOUND', 'pain.011', 'cancellation_requested', other],
    ['OUTBOUND', 'pain.012', 'cancelled', other],
  ])
  expect(states).toEqual([
    ...['requested', 'pending', 'confirmed', 'cancellation_requested', 'cancelled'],
  ])
})

test('a request that changes nothing leaves what was agreed', async () => {
  const termsAfter = async (of: typeof ofCharge, ...lines: readonly Said[]) => {
    const key = newKey()
    for (const [type, ...said] of lines) {
      const direction = type === 'pain.012' || type === 'pain.014' ? 'INBOUND' : 'OUTBOUND'
      const one = { messageId: Bun.randomUUIDv7(), fact: of(key, [type, ...said]) }
      await sql.begin((tx) => applyFacts(tx, [{ ...one, direction }]))
    }
    const [row] = await sql<{ debtor: string }[]>`
      select terms->>'debtor_ispb' as debtor from spi_recurrences where key = ${key}`
    return row?.debtor
  }
  const asked = ['pain.009', 'requested', payers] as const
  const again = ['pain.009', 'requested', other] as const
  const confirmed = ['pain.012', 'confirmed', payers] as const
  const cancelling = ['pain.011', 'cancellation_requested', payers] as const
  expect(await termsAfter(ofMandate, asked, again)).toBe(other)
  expect(await termsAfter(ofMandate, asked, ['pain.012', 'pending', payers], again)).toBe(other)
  expect(await termsAfter(ofMandate, asked, cancelling, again)).toBe(other)
  expect(await termsAfter(ofMandate, asked, confirmed, again)).toBe(payers)
  expect(await termsAfter(ofMandate, asked, confirmed, cancelling, again)).toBe(payers)
  const first = ['pain.013', 'requested', payers] as const
  const second = ['pain.013', 'requested', other] as const
  const scheduled = ['pain.014', 'scheduled', undefined] as const
  expect(await termsAfter(ofCharge, first, scheduled, second)).toBe(payers)
})
