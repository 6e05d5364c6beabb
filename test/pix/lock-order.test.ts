/** Two processes that tell of the same charges, payments and returns take their rows in one order, whatever order they are told in. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Transaction } from '#src/platform/database/index.ts'
import type { IncomingPayment } from '../../src/pix/received/domain.ts'
import { chargeBody, freshTxid, startPix } from './support.ts'

const pix = await startPix()
const { sql } = pix
afterAll(() => pix.database.close())
const { key, token } = await pix.receiver('ana')

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

describe('charges of recurrences come before what pays them', () => {
  const txids = ['first', 'second']
  const paying = txids.map((txid) => `E3${txid.padEnd(30, '0')}`)
  const end = (endToEndId: string) => ({
    endToEndId,
    returnId: null,
    isSettled: true,
    reason: null,
  })

  beforeAll(async () => {
    await sql`
      insert into pix_recurrences (id, account, tax_id, receiver_name, debtor_tax_id, status, terms,
        history, created_at)
      values ('RN1', 'ana', '12345678000195', 'Ana', '12345678909', 'APROVADA', '{}', '[]', now())`
    for (const [cycle, txid] of txids.entries()) {
      await sql`
        insert into pix_collections (account, txid, recurrence_id, tax_id, status, due_on, cycle,
          amount_cents, content, history, created_at)
        values ('ana', ${txid}, 'RN1', '12345678000195', 'ATIVA', '2026-03-20', ${cycle}, 100, '{}',
          '[]', now())`
      await sql`
        insert into pix_collection_attempts (end_to_end_id, account, txid, position, kind,
          settles_on, status, history)
        values (${paying[cycle] ?? ''}, 'ana', ${txid}, 0, 'AGND', '2026-03-20', 'AGENDADA', '[]')`
      await sql`
        insert into pix_received (end_to_end_id, account, amount_cents, payer_tax_id, status,
          received_at)
        values (${paying[cycle] ?? ''}, 'ana', 100, '12345678909', 'PENDENTE',
          now() - interval '5 minutes')`
    }
  })

  test.each<readonly [string, (tx: Transaction) => Promise<void> | undefined]>([
    ['where payments are locked', (tx) => pix.receivables?.lock(tx, paying)],
    ['where they end', (tx) => pix.receivables?.end(tx, paying.map(end).toReversed(), new Date())],
  ])('%s', async (_, work) => {
    const other = await sql.reserve()
    try {
      await other`begin`
      const [first = ''] = txids
      await other`select from pix_collections where txid = ${first} for update`
      const done = sql.begin(work)
      await untilWaiting()
      // Whoever holds the charge may have its payments, and the charges that come after it.
      for (const free of [
        await other`select from pix_received where end_to_end_id in ${sql(paying)} for update skip locked`,
        await other`select from pix_collections where txid in ${sql(txids)} for update skip locked`,
      ]) {
        expect(free.count).toBe(2)
      }
      await other`commit`
      await done
    } finally {
      other.release()
    }
  })

  test('and both charges are concluded', async () => {
    const { count } = await sql`select from pix_collections where status = 'CONCLUIDA'`
    expect(count).toBe(2)
  })
})

describe('a payment that comes twice at once gets the answer that it got first', () => {
  const txid = freshTxid()
  beforeAll(async () => {
    const { status } = await pix.call('PUT', `/pix/v2/cob/${txid}`, {
      token,
      body: chargeBody(key),
    })
    expect(status).toBe(201)
  })
  const ofCharge = { txid, localInstrument: 'QRDN' }
  const ofKey = { txid: null, localInstrument: 'DICT' }

  test.each([
    ['of a charge', ofCharge, ofCharge, undefined],
    ['of none, and says something else', { ...ofKey, localInstrument: 'QRDN' }, ofKey, 'BE15'],
  ])('%s', async (_, first, second, answer) => {
    const endToEndId = `E9119355220260302${freshTxid().slice(-15)}`
    const receive = (tx: Transaction, more: Pick<IncomingPayment, 'txid' | 'localInstrument'>) => {
      const payment = {
        endToEndId,
        amountCents: 3_700n,
        creditorDocument: '12345678000195',
        creditorKey: key,
        debtorDocument: '15231470190',
        text: null,
        withdrawal: null,
        ...more,
      }
      return pix.receivables?.receive(tx, [payment], new Date())
    }
    const { again, one } = await sql.begin(async (tx) => {
      const one = await receive(tx, first)
      const again = sql.begin(async (other) => receive(other, second))
      await untilWaiting()
      return { one, again: { answer: again } }
    })
    const expected = new Map([[endToEndId, answer]])
    expect([one, await again.answer]).toEqual([expected, expected])
  })
})
