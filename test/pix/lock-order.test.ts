/** Two processes that tell of the same payments and returns take their rows in one order, whatever order they are told in. */
import { afterAll, expect, test } from 'bun:test'
import { startPix } from './support.ts'

const pix = await startPix()
const { sql } = pix
afterAll(() => pix.database.close())
await pix.receiver('ana')

const ids = ['E1', 'E2'].map((start) => `${start}${'0'.repeat(30)}`)
for (const id of ids) {
  await sql`
    insert into pix_received (end_to_end_id, account, amount_cents, payer_tax_id, status, received_at)
    values (${id}, 'ana', 100, '12345678909', 'PENDENTE', now())`
  await sql`
    insert into pix_returns (end_to_end_id, id, return_id, amount_cents, nature, requested_at)
    values (${id}, 'one', ${`D${id}`}, 100, 'ORIGINAL', now())`
}

/** Until a session of the database waits for another one's lock. */
const untilWaiting = async (): Promise<void> => {
  for (;;) {
    const [waiting] = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    if (waiting !== undefined) return
    await Bun.sleep(10)
  }
}

test.each([
  ['payments', 'pix_received', null],
  ['returns', 'pix_returns', 'D'],
])('the ends of %s', async (_, table, letter) => {
  const ends = ids.toReversed().map((endToEndId) => ({
    endToEndId,
    returnId: letter && `${letter}${endToEndId}`,
    isSettled: true,
    reason: null,
  }))
  const other = await sql.reserve()
  try {
    await other`begin`
    const [first = '', second = ''] = ids
    await other`select from ${sql(table)} where end_to_end_id = ${first} for update`
    const ended = sql.begin(async (tx) => pix.receivables?.end(tx, ends, new Date()))
    await untilWaiting()
    const free = await other`
      select from ${sql(table)} where end_to_end_id = ${second} for update skip locked`
    expect(free.count).toBe(1)
    await other`rollback`
    await ended
    const open = await sql`
      select from ${sql(table)} where status in ('PENDENTE', 'EM_PROCESSAMENTO')`
    expect(open.count).toBe(0)
  } finally {
    other.release()
  }
})
