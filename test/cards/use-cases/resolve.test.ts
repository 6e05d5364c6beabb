import { describe, expect, test } from 'bun:test'
import { type EndedReversal, insertReversals } from '../../../src/cards/reversals/index.ts'
import { transactionById } from '../../../src/cards/transactions/store.ts'
import { reversalOf } from '../../../src/cards/use-cases/begun-reversals.ts'
import { endReversal } from '../../../src/cards/use-cases/resolve.ts'
import { type CardRecord, cardsRigOfFile } from '../../support/cards-rig.ts'

const rig = await cardsRigOfFile()

type Waiting = `reversing_${'authorization' | 'capture' | 'void' | 'partial_void' | 'refund'}`

/** A transaction whose reversal was given up, as the expiry leaves it. */
const waiting = async (status: string, operation: Waiting): Promise<string> => {
  const { id } = await rig.authorize('tok_visa_approved')
  await rig.database.sql`
    update card_transactions set status = ${status}, operation = ${operation}, needs_attention = true,
      operation_stan = '000001', operation_transmission = '1120120000', operation_cents = 2500
    where id = ${id}`
  return id
}

const resolve = async (id: string, body: unknown, headers: Record<string, string> = {}) => {
  const response = await rig.app.call('POST', `/v1/transactions/${id}/resolve`, {
    key: rig.adminKey,
    body,
    headers,
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}
const listed = async (query: string): Promise<readonly string[]> => {
  const response = await rig.get(`/v1/transactions?${query}`)
  const { transactions } = (await response.json()) as {
    readonly transactions: readonly CardRecord[]
  }
  return transactions.map((record) => record.id)
}
const reason = 'Network desk, case 4711'
const read = async (id: string) =>
  (await (await rig.get(`/v1/transactions/${id}`)).json()) as CardRecord

test('what waits for somebody is listed until it is resolved', async () => {
  const [first, second] = [
    await waiting('pending', 'reversing_authorization'),
    await waiting('authorized', 'reversing_void'),
  ]
  const other = await rig.authorize('tok_visa_approved')
  expect(await listed('needs_attention=true&limit=2')).toEqual([second, first])
  expect(await listed('needs_attention=true&status=pending&limit=1')).toEqual([first])
  expect(await listed('limit=1')).toEqual([other.id])
  await resolve(second, { outcome: 'voided', reason })
  expect(await listed('needs_attention=true')).not.toContain(second)
  await resolve(first, { outcome: 'voided', reason })
})

describe('the answer of somebody who asked the network', () => {
  test.each([
    ['pending', 'reversing_authorization', 'voided', { voided_at: expect.any(String) }],
    ['authorized', 'reversing_capture', 'authorized', {}],
    ['authorized', 'reversing_capture', 'captured', { captured_amount: 2_500 }],
    ['authorized', 'reversing_void', 'voided', { voided_at: expect.any(String) }],
    ['authorized', 'reversing_void', 'authorized', {}],
    ['captured', 'reversing_void', 'captured', {}],
    ['captured', 'reversing_refund', 'captured', {}],
    ['authorized', 'reversing_partial_void', 'authorized', {}],
  ] as const)('ends %s with %s as %s', async (status, operation, outcome, fields) => {
    const id = await waiting(status, operation)
    expect((await read(id))['possible_outcomes']).toContain(outcome)
    const answer = await resolve(id, { outcome, reason })
    expect(answer.status).toBe(200)
    const record = await read(id)
    expect(JSON.parse(answer.text)).toEqual(record)
    expect(record).toMatchObject({ status: outcome, ...fields })
    expect([record['operation'], record['needs_attention']]).toEqual([undefined, undefined])
    const { events } = (await (await rig.get(`/v1/transactions/${id}/events`)).json()) as {
      readonly events: readonly unknown[]
    }
    expect(events.at(-1)).toMatchObject({
      type: 'resolved',
      data: { outcome, reason, operation, api_key: expect.stringMatching(/./) },
    })
  })

  test.each([
    ['pending', 'reversing_authorization', 'authorized'],
    ['pending', 'reversing_authorization', 'captured'],
    ['authorized', 'reversing_capture', 'voided'],
    ['authorized', 'reversing_void', 'captured'],
    ['captured', 'reversing_void', 'authorized'],
  ] as const)('cannot end %s with %s as %s', async (status, operation, outcome) => {
    const id = await waiting(status, operation)
    expect((await read(id))['possible_outcomes']).not.toContain(outcome)
    const answer = await resolve(id, { outcome, reason })
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([
      409,
      'OUTCOME_NOT_POSSIBLE',
    ])
    expect(await read(id)).toMatchObject({ status, operation, needs_attention: true })
  })

  test('is for what needs attention only', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const answer = await resolve(id, { outcome: 'voided', reason })
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([409, 'INVALID_STATE'])
    expect((await resolve('txn_none', { outcome: 'voided', reason })).status).toBe(404)
  })

  test('given many times at once counts once', async () => {
    const id = await waiting('authorized', 'reversing_capture')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        resolve(id, { outcome: at % 2 === 0 ? 'captured' : 'authorized', reason }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
  })

  test('is taken while an earlier one of the kind is still taken back', async () => {
    const id = await waiting('authorized', 'reversing_capture')
    const { sql } = rig.database
    const row = await transactionById(sql, id)
    if (row === undefined) throw new Error('no such transaction')
    const earlier = { ...row, network: 'nobody', operationStan: '000009' }
    await insertReversals(sql, [reversalOf(earlier, 'capture')])
    expect((await resolve(id, { outcome: 'captured', reason })).status).toBe(200)
  })

  test('is repeated under its key', async () => {
    const id = await waiting('captured', 'reversing_void')
    const key = { 'Idempotency-Key': 'resolve-once' }
    const first = await resolve(id, { outcome: 'voided', reason }, key)
    const again = await resolve(id, { outcome: 'voided', reason }, key)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })

  test('that a captured payment is voided has the hold beneath it released', async () => {
    const id = await waiting('captured', 'reversing_void')
    expect((await resolve(id, { outcome: 'voided', reason })).status).toBe(200)
    expect(await rig.reversalsOf(id)).toMatchObject([
      { reverses: 'authorization', original_mti: '0100' },
    ])
    expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
  })

  test('needs the scope ops:admin', async () => {
    const id = await waiting('captured', 'reversing_void')
    expect(
      (await rig.post(`/v1/transactions/${id}/resolve`, { outcome: 'voided', reason })).status,
    ).toBe(403)
  })

  test.each([
    [{ reason }, 'INVALID_OUTCOME'],
    [{ outcome: 'pending', reason }, 'INVALID_OUTCOME'],
    [{ outcome: 'voided' }, 'INVALID_REASON'],
    [{ outcome: 'voided', reason: ' ' }, 'INVALID_REASON'],
    [{ outcome: 'voided', reason: 'x'.repeat(201) }, 'INVALID_REASON'],
    [{ outcome: 'voided', reason: 'card 4000 0000 0000 0002' }, 'INVALID_REASON'],
    [{ outcome: 'voided', reason: 'a\nb' }, 'INVALID_REASON'],
    [{ outcome: 'voided', reason, amount: 1 }, 'VALIDATION_FAILED'],
  ])('of %j is refused', async (body, code) => {
    const id = await waiting('captured', 'reversing_void')
    const answer = await resolve(id, body)
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([400, code])
    expect(answer.text).not.toContain('4000 0000')
    expect((await resolve(id, { outcome: 'voided', reason: 'x'.repeat(200) })).status).toBe(200)
  })
})

describe('a reversal that was given up while others of its transaction go on', () => {
  type Ended = 'authorization' | 'capture'
  type Named = Pick<EndedReversal, 'originalStan' | 'originalTransmission' | 'amountCents'>

  /** As the engine ends it: the reversal's row first, then the transaction, in one commit. */
  const end = (id: string, reverses: Ended, outcome: 'confirmed' | 'expired'): Promise<void> =>
    rig.database.sql.begin(async (tx) => {
      const row = await transactionById(tx, id)
      if (row === undefined) throw new Error('no such transaction')
      await tx`
        update card_reversals set status = ${outcome} where transaction_id = ${id} and reverses = ${reverses}`
      const [found] = await tx<Named[]>`
        select original_stan as "originalStan", original_transmission as "originalTransmission",
          amount_cents as "amountCents"
        from card_reversals where transaction_id = ${id} and reverses = ${reverses}`
      if (found === undefined) throw new Error('no such reversal')
      const ended = { ...found, transactionId: id, reverses }
      await endReversal(tx, ended, outcome, new Date(), undefined)
    })

  /** A voided payment whose first capture, and then the hold, are to be taken back; no engine sends for it. */
  const voided = async (): Promise<string> => {
    const { id } = await rig.authorize('tok_visa_approved')
    const { sql } = rig.database
    await sql`
      update card_transactions set status = 'voided', operation = 'reversing_authorization'
      where id = ${id}`
    const row = await transactionById(sql, id)
    if (row === undefined) throw new Error('no such transaction')
    const of = { ...row, network: 'nobody', operationStan: '000007', operationCents: 1_000n }
    const capture = reversalOf({ ...of, operationTransmission: '1122000000' }, 'capture')
    await insertReversals(sql, [capture, reversalOf(of, 'authorization')])
    return id
  }

  test('is somebody’s business until somebody has asked the network', async () => {
    const id = await voided()
    await end(id, 'capture', 'expired')
    await end(id, 'authorization', 'confirmed')
    expect(await read(id)).toMatchObject({ status: 'voided', needs_attention: true })
    expect(await listed('needs_attention=true')).toContain(id)
    expect((await resolve(id, { outcome: 'captured', reason })).status).toBe(409)
    const answer = await resolve(id, { outcome: 'voided', reason })
    expect(answer.status).toBe(200)
    expect((await read(id))['needs_attention']).toBeUndefined()
    expect(await listed('needs_attention=true')).not.toContain(id)
    expect((await resolve(id, { outcome: 'voided', reason })).status).toBe(409)
  })

  test('asks again only for what was given up since', async () => {
    const id = await voided()
    await end(id, 'capture', 'expired')
    expect((await resolve(id, { outcome: 'voided', reason })).status).toBe(200)
    await end(id, 'authorization', 'expired')
    expect(await read(id)).toMatchObject({ needs_attention: true })
    await end(id, 'authorization', 'confirmed')
    expect((await read(id))['needs_attention']).toBeUndefined()
  })

  test('is resolved once, however many tell of it at once', async () => {
    const id = await voided()
    await end(id, 'capture', 'expired')
    await end(id, 'authorization', 'confirmed')
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => resolve(id, { outcome: 'voided', reason })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
  })
})
