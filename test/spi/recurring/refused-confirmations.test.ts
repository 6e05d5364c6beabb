/** What becomes of a mandate whose confirmation this institution refuses. */
import { afterAll, expect, test } from 'bun:test'
import type { Event, Stated } from '#src/spi/recurring/domain.ts'
import { applyFacts } from '#src/spi/recurring/project.ts'
import { createTestDatabase } from '../../support/database.ts'
import { newMandateId } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

type Said = {
  readonly type?: string
  readonly event: Event
  readonly id: string
  /** The id of what is answered. */
  readonly answers?: string
}

const statedOf = (
  key: string,
  direction: Stated['direction'],
  { type = 'pain.012', event, id, answers }: Said,
): Stated => ({
  messageId: Bun.randomUUIDv7(),
  direction,
  fact: {
    kind: 'mandate',
    key,
    position: 0,
    type,
    event,
    requestId: id,
    status: event === 'confirmed' ? 'CFDB' : null,
    reason: null,
    mandateId: key,
    reconciliationId: null,
    terms: null,
    mandate: {
      reference: answers ?? null,
      journey: null,
      debtorDocument: '12345678909',
      debtorIspb: '12345678',
      debtorAccount: '1',
      debtorBranch: null,
      debtorTown: null,
    },
  },
})

type Line = readonly [Stated['direction'], Said, state: string]

const asked = (id: string, state = 'requested'): Line => [
  'OUTBOUND',
  { type: 'pain.009', event: 'requested', id },
  state,
]
const cancelled = (id: string): Line => [
  'OUTBOUND',
  { type: 'pain.011', event: 'cancellation_requested', id },
  'cancellation_requested',
]
const said = (event: Event, id: string, state: string, answers?: string): Line => [
  'INBOUND',
  { event, id, ...(answers && { answers }) },
  state,
]
const weRefuse = (answers: string, state: string): Line => [
  'OUTBOUND',
  { event: 'refused', id: `OF ${answers}`, answers },
  state,
]

const stories: Readonly<Record<string, readonly Line[]>> = {
  'of a request that is over, it may be asked for and refused again': [
    asked('SC1'),
    said('confirmed', 'IS1', 'confirmed', 'SC1'),
    weRefuse('IS1', 'requested'),
    asked('SC2'),
    said('refused', 'IS2', 'rejected', 'SC2'),
  ],
  'of another payer, it may be confirmed by the one who was asked': [
    asked('SC1'),
    said('confirmed', 'IS1', 'confirmed'),
    weRefuse('IS1', 'requested'),
    said('confirmed', 'IS2', 'confirmed'),
    weRefuse('IS2', 'requested'),
    said('confirmed', 'IS3', 'confirmed', 'SC1'),
  ],
  'beside one that counts, it stays confirmed': [
    asked('SC1'),
    said('confirmed', 'IS1', 'confirmed', 'SC1'),
    said('confirmed', 'IS2', 'confirmed'),
    weRefuse('IS2', 'confirmed'),
  ],
  'of a request that is being taken back, it is not what a refusal of that leads back to': [
    asked('SC1'),
    cancelled('IC1'),
    said('confirmed', 'IS1', 'cancellation_requested', 'SC1'),
    weRefuse('IS1', 'cancellation_requested'),
    said('cancellation_refused', 'IS2', 'requested', 'IC1'),
  ],
  'where it was an authorisation that waits, the mandate is rejected': [
    asked('SC1'),
    said('pending', 'IS1', 'pending'),
    weRefuse('IS1', 'rejected'),
  ],
}

test.each(Object.entries(stories))('%s', async (_, lines) => {
  const key = newMandateId()
  const told = lines.map(([direction, one]) => statedOf(key, direction, one))
  const stateNow = async () => {
    const [row] = await sql<{ state: string }[]>`
      select state from spi_recurrences where key = ${key}`
    return row?.state
  }
  const states: unknown[] = []
  for (const one of told) {
    await sql.begin((tx) => applyFacts(tx, [one]))
    states.push(await stateNow())
  }
  expect(states).toEqual(lines.map(([, , state]) => state))
  // A rebuild tells them together.
  await sql`delete from spi_recurrence_steps where recurrence_id = ${`mandate ${key}`}`
  await sql`delete from spi_recurrences where key = ${key}`
  await sql.begin((tx) => applyFacts(tx, told))
  expect(await stateNow()).toEqual(lines.at(-1)?.[2])
})
