import { describe, expect, test } from 'bun:test'
import type { NewReversal } from '../../../src/cards/reversals/types.ts'
import { transactionById } from '../../../src/cards/transactions/store.ts'
import { createAbandonedSweep, holdOpen } from '../../../src/cards/use-cases/abandoned.ts'
import { endReversal } from '../../../src/cards/use-cases/resolve.ts'
import { authorizationBody, type CardRecord, cardsRigOfFile } from '../../support/cards-rig.ts'
import { collected } from '../../support/collector.ts'
import { quietLogger } from '../../support/database.ts'
import { storedKey } from '../../support/stored-key.ts'

const rig = await cardsRigOfFile()

const hourMs = 3_600_000

/** As if so much time had passed; only the database's clock counts. */
const sweeper = (aheadMs: number, networks = [{ name: 'neta', timeoutMs: 1_000 }]) => {
  const entered: NewReversal[] = []
  const sweep = createAbandonedSweep({
    sql: rig.database.sql,
    insertReversals: async (_, rows) => {
      entered.push(...rows)
    },
    networks,
    marginMs: 15_000 - aheadMs,
    logger: quietLogger,
    emission: undefined,
    now: () => new Date(),
  })
  return { entered, sweep: sweep.sweep }
}

/** As a process leaves it that ends with the message on the wire. */
const abandon = async (id: string, status: string, operation: string | null) => {
  await rig.database.sql`
    update card_transactions set status = ${status}, operation = ${operation},
      operation_stan = ${operation === null ? null : '000077'},
      operation_transmission = ${operation === null ? null : '1121000000'},
      operation_cents = ${operation === null ? null : '600'}
    where id = ${id}`
}

const stateOf = async (id: string) => {
  const row = await transactionById(rig.database.sql, id)
  return { status: row?.status, operation: row?.operation, needsAttention: row?.needsAttention }
}

describe('what a process left on the wire', () => {
  test('is reversed once, whatever it was', async () => {
    const cases = [
      ['pending', null, 'authorization', '0100'],
      ['authorized', 'capture', 'capture', '0200'],
      ['authorized', 'void', 'void', '0100'],
      // This one is older than the kept numbers of captures.
      ['captured', 'void', 'void', '0100'],
    ] as const
    const ids = await Promise.all(
      cases.map(async ([status, operation]) => {
        const { id } = await rig.authorize('tok_visa_approved')
        await abandon(id, status, operation)
        return id
      }),
    )
    // Too young: it may still be answered.
    const early = sweeper(10_000)
    expect(await early.sweep()).toBe(0)

    const several = [sweeper(hourMs), sweeper(hourMs), sweeper(hourMs)]
    const counts = await Promise.all(several.map(({ sweep }) => sweep()))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(cases.length)
    const entered = several.flatMap((one) => one.entered)
    expect(entered).toHaveLength(cases.length)
    for (const [index, [status, , reverses, originalMti]] of cases.entries()) {
      const id = ids[index] ?? ''
      const reversal = entered.find(({ transactionId }) => transactionId === id)
      expect(reversal).toMatchObject({
        reverses,
        originalMti,
        amountCents: reverses === 'capture' ? 600n : 10_000n,
        ...(reverses === 'capture' ? { originalStan: '000077' } : {}),
        // A void is the first attempt itself.
        ...(reverses === 'void' ? { attempts: 1, stan: '000077' } : { attempts: 0 }),
      })
      expect(await stateOf(id)).toMatchObject({ status, operation: `reversing_${reverses}` })
    }
    expect(await sweeper(hourMs).sweep()).toBe(0)
  })

  test('waits for the time of its own network, and of one that is gone for the longest', async () => {
    const networks = [
      { name: 'netb', timeoutMs: 1_000 },
      { name: 'neta', timeoutMs: 2 * hourMs },
    ]
    const { id } = await rig.authorize('tok_visa_approved')
    await abandon(id, 'pending', null)
    expect(await sweeper(hourMs, networks).sweep()).toBe(0)
    expect(
      await sweeper(hourMs, [networks[0]!, { name: 'other', timeoutMs: 2 * hourMs }]).sweep(),
    ).toBe(0)
    expect(
      await sweeper(hourMs, [
        { name: 'neta', timeoutMs: 1_000 },
        { name: 'netb', timeoutMs: 2 * hourMs },
      ]).sweep(),
    ).toBe(1)
  })

  test('is answered under its key from then on', async () => {
    const body = authorizationBody('tok_visa_approved', { amount: 777 })
    const headers = { 'Idempotency-Key': 'crashed' }
    const first = await rig.post('/v1/transactions/authorize', body, headers)
    const { id } = (await first.json()) as { id: string }
    await rig.database
      .sql`update idempotency_keys set status = null where key = ${storedKey('crashed')}`
    await abandon(id, 'pending', null)
    expect((await rig.post('/v1/transactions/authorize', body, headers)).status).toBe(409)
    expect(await sweeper(hourMs).sweep()).toBe(1)
    const after = await rig.post('/v1/transactions/authorize', body, headers)
    expect(after.status).toBe(504)
    expect(after.headers.get('Idempotent-Replayed')).toBe('true')
    expect(await after.json()).toMatchObject({ error: { details: { transaction_id: id } } })
  })

  test.each([
    ['verify', 'pending', 'verification', 'nothing is on hold'],
    ['authorize', 'authorized', 'void', 'it is repeated until the network has done it'],
  ] as const)('is told as what it was: %s, %s %s', async (path, status, operation, follows) => {
    const { amount, ...fields } = authorizationBody('tok_visa_approved')
    const body = path === 'verify' ? fields : { ...fields, amount }
    const headers = { 'Idempotency-Key': `crashed-${operation}` }
    const first = await rig.post(`/v1/transactions/${path}`, body, headers)
    const { id } = (await first.json()) as { id: string }
    await rig.database.sql`
      update idempotency_keys set status = null where key = ${storedKey(`crashed-${operation}`)}`
    await abandon(id, status, operation)
    expect(await sweeper(hourMs).sweep()).toBe(1)
    const after = await rig.post(`/v1/transactions/${path}`, body, headers)
    expect(after.status).toBe(504)
    const { error } = (await after.json()) as { error: { message: string } }
    expect(error.message).toEndWith(`; ${follows}.`)
  })

  test('is reversed in the trace of its request', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    await collected(async () => {
      const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
      const body = authorizationBody('tok_visa_approved')
      const response = await rig.post('/v1/transactions/authorize', body, headers)
      const { id } = (await response.json()) as { id: string }
      await abandon(id, 'pending', null)
    })
    const { entered, sweep } = sweeper(hourMs)
    expect(await sweep()).toBe(1)
    expect(entered[0]?.traceparent).toStartWith(`00-${traceId}-`)
  })

  test('is reversed although an earlier reversal waits for somebody', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    await abandon(id, 'authorized', 'capture')
    await rig.database.sql`update card_transactions set needs_attention = true where id = ${id}`
    const { entered, sweep } = sweeper(hourMs)
    expect(await sweep()).toBe(1)
    expect(entered).toMatchObject([{ transactionId: id, reverses: 'capture' }])
    expect(await stateOf(id)).toMatchObject({ operation: 'reversing_capture' })
  })

  test('is left alone while its own process still waits', async () => {
    const slow = rig.post('/v1/transactions/authorize', authorizationBody('tok_visa_slow'))
    expect(await sweeper(0).sweep()).toBe(0)
    expect(await (await slow).json()).toMatchObject({ status: 'authorized' })
  })

  test('and is swept too early is not called a success', async () => {
    const slow = rig.post('/v1/transactions/authorize', authorizationBody('tok_visa_slow'))
    const { sql } = rig.database
    for (;;) {
      const [row] =
        await sql`select id from card_transactions where status = 'pending' and operation is null`
      if (row !== undefined) break
    }
    const early = sweeper(hourMs)
    expect(await early.sweep()).toBe(1)
    const response = await slow
    expect(response.status).toBe(504)
    expect(await stateOf(early.entered[0]?.transactionId ?? '')).toMatchObject({
      status: 'pending',
      operation: 'reversing_authorization',
    })
  })
})

describe('the end of a reversal', () => {
  /** That of what {@link abandon} leaves. */
  const reversal = {
    originalStan: '000077',
    originalTransmission: '1121000000',
    amountCents: 600n,
  } as const
  const begun = async (status: string, operation: string) => {
    const { id } = await rig.authorize('tok_visa_approved')
    await abandon(id, status, operation)
    return id
  }

  test.each([
    ['pending', 'authorization', 'voided'],
    ['authorized', 'capture', 'authorized'],
    ['authorized', 'void', 'voided'],
    ['captured', 'void', 'voided'],
  ] as const)('of a %s one, of the %s: confirmed it is %s', async (status, reverses, after) => {
    const { sql } = rig.database
    const transactionId = await begun(status, `reversing_${reverses}`)
    const ended = { ...reversal, transactionId, reverses }
    await endReversal(sql, ended, 'confirmed', new Date(), undefined)
    const row = await transactionById(sql, transactionId)
    expect(row).toMatchObject({ status: after, needsAttention: false })
    // The hold beneath a capture goes by a reversal of its own, which may have its answer by now.
    const sent = status === 'captured' ? ['authorization'] : []
    const reversals = await rig.reversalsOf(transactionId)
    expect(reversals.map((one) => one['reverses'])).toEqual(sent)
    if (sent.length === 0) {
      expect([row?.operation, row?.operationStan]).toEqual([undefined, undefined])
    }
    expect(row?.voidedAt === undefined).toBe(after !== 'voided')
  })

  test('that expired leaves the state and asks for attention', async () => {
    const transactionId = await begun('pending', 'reversing_authorization')
    const ended = { ...reversal, transactionId, reverses: 'authorization' } as const
    await endReversal(rig.database.sql, ended, 'expired', new Date(), undefined)
    expect(await stateOf(transactionId)).toEqual({
      status: 'pending',
      operation: 'reversing_authorization',
      needsAttention: true,
    })
    expect(await sweeper(hourMs).sweep()).toBe(0)
    // The network may confirm it after all, by whatever way.
    await endReversal(rig.database.sql, ended, 'confirmed', new Date(), undefined)
    expect(await stateOf(transactionId)).toMatchObject({ status: 'voided', needsAttention: false })
  })

  test('of another operation changes nothing', async () => {
    const transactionId = await begun('authorized', 'void')
    const ended = { ...reversal, transactionId, reverses: 'capture' } as const
    await endReversal(rig.database.sql, ended, 'confirmed', new Date(), undefined)
    expect(await stateOf(transactionId)).toMatchObject({ status: 'authorized', operation: 'void' })
  })

  test.each([
    ['authorized', 'capture'],
    ['authorized', 'increment'],
    ['captured', 'refund'],
  ] as const)('of another one of its kind changes nothing: %s, %s', async (status, reverses) => {
    const { sql } = rig.database
    const operation = `reversing_${reverses}` as const
    const transactionId = await begun(status, operation)
    const numbers = { originalStan: '000078', originalTransmission: '1121000000' } as const
    const other = { ...reversal, ...numbers, transactionId, reverses }
    await endReversal(sql, other, 'confirmed', new Date(), undefined)
    expect(await stateOf(transactionId)).toEqual({ status, operation, needsAttention: false })
    await endReversal(sql, other, 'expired', new Date(), undefined)
    expect(await transactionById(sql, transactionId)).toMatchObject({
      operation,
      operationStan: '000077',
      operationCents: 600n,
      needsAttention: true,
    })
  })

  test('that expired when all else was over has its own amount and numbers', async () => {
    const { sql } = rig.database
    const { id: transactionId } = await rig.authorize('tok_visa_approved')
    const ended = { ...reversal, transactionId, reverses: 'capture' } as const
    await endReversal(sql, ended, 'expired', new Date(), undefined)
    const body = { outcome: 'captured', reason: 'the network has it' }
    const path = `/v1/transactions/${transactionId}/resolve`
    const resolved = await rig.app.call('POST', path, { key: rig.adminKey, body })
    expect(resolved.status).toBe(200)
    expect(await transactionById(sql, transactionId)).toMatchObject({
      status: 'captured',
      capturedCents: 600n,
      captureStan: '000077',
    })
  })
})

describe('what a restored copy has on the wire', () => {
  const resolve = async (id: string, outcome: string): Promise<CardRecord> => {
    const body = { outcome, reason: 'as in the file of the network' }
    const given = { key: rig.adminKey, body }
    const response = await rig.app.call('POST', `/v1/transactions/${id}/resolve`, given)
    return (await response.json()) as CardRecord
  }
  const held = async (status: string, operation: string | null): Promise<string> => {
    const { id } = await rig.authorize('tok_visa_approved')
    if (operation === 'refund') await rig.post(`/v1/transactions/${id}/capture`)
    await abandon(id, status, operation)
    await holdOpen(rig.database.sql)
    return id
  }

  test('is held once, for a person, and no sweep takes it back', async () => {
    await sweeper(hourMs).sweep()
    const id = await held('pending', null)
    expect(await holdOpen(rig.database.sql)).toBe(0)
    expect(await sweeper(hourMs).sweep()).toBe(0)
    const record = (await (await rig.get(`/v1/transactions/${id}`)).json()) as CardRecord
    expect(record).toMatchObject({
      status: 'pending',
      reason: 'restored',
      needs_attention: true,
      possible_outcomes: ['voided', 'authorized', 'captured', 'declined'],
    })
    const page = await (await rig.get('/v1/transactions?needs_attention=true')).json()
    expect(JSON.stringify(page)).toContain(id)
    await resolve(id, 'declined')
  })

  test('is answered under its key as unknown, and that a person decides', async () => {
    const body = authorizationBody('tok_visa_approved', { amount: 778 })
    const headers = { 'Idempotency-Key': 'copied' }
    const first = await rig.post('/v1/transactions/authorize', body, headers)
    const { id } = (await first.json()) as { id: string }
    await rig.database
      .sql`update idempotency_keys set status = null where key = ${storedKey('copied')}`
    await abandon(id, 'pending', null)
    await holdOpen(rig.database.sql)
    const after = await rig.post('/v1/transactions/authorize', body, headers)
    expect(after.status).toBe(504)
    const { error } = (await after.json()) as { error: { message: string } }
    expect(error.message).toEndWith('; a person decides what becomes of it.')
    const inPortuguese = { ...headers, 'Accept-Language': 'pt-BR' }
    const again = await rig.post('/v1/transactions/authorize', body, inPortuguese)
    expect(await again.text()).toContain('a tempo; uma pessoa decide o desfecho.')
    await resolve(id, 'declined')
  })

  test.each([
    ['pending', null, 'authorized', { status: 'authorized', response_code: '00' }],
    ['pending', null, 'captured', { status: 'captured', captured_amount: 10_000 }],
    ['pending', null, 'declined', { status: 'declined' }],
    ['authorized', 'capture', 'captured', { status: 'captured', captured_amount: 600 }],
    [
      'authorized',
      'partial_capture',
      'partially_captured',
      { status: 'authorized', captured_amount: 600 },
    ],
    ['authorized', 'increment', 'incremented', { status: 'authorized', amount: 10_600 }],
    ['captured', 'refund', 'refunded', { status: 'captured', refunded_amount: 600 }],
  ] as const)('is settled as the network has it: %s %s %s', async (status, operation, as, ends) => {
    const record = await resolve(await held(status, operation), as)
    expect(record).toMatchObject(ends)
    expect([record['operation'], record['reason'], record['needs_attention']]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test.each([
    ['pending', null, 'voided', 'voided'],
    ['authorized', 'capture', 'authorized', 'authorized'],
    ['authorized', 'increment', 'authorized', 'authorized'],
    ['captured', 'refund', 'captured', 'captured'],
  ] as const)('is reversed if a person says so: %s %s %s', async (status, operation, as, end) => {
    const id = await held(status, operation)
    const record = await resolve(id, as)
    expect(record['operation']).toBe(`reversing_${operation ?? 'authorization'}`)
    expect(await rig.settled(id)).toMatchObject({ status: end })
  })

  test('goes on if it is a void', async () => {
    const id = await held('authorized', 'void')
    expect(await stateOf(id)).toMatchObject({ needsAttention: false })
    expect(await sweeper(hourMs).sweep()).toBe(1)
  })
})
