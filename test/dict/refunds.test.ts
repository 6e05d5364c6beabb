/** Refund requests, on the simulated directory, which plays the other institution, and on returns that are settled. */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { DirectoryRefund } from '#codecs/dict'
import { createLetterSubjects } from '#src/spi/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { fresh } from '../spi/in/worker/support.ts'
import { testApp, testKey } from '../support/app.ts'
import { ispb, other, startDisputes } from './disputes-support.ts'
import type { Json } from './support.ts'

setDefaultTimeout(60_000)

const disputes = await startDisputes()
const { call, infractions, refunds } = disputes
const { setFaults } = disputes.dict.directory
afterAll(disputes.stop)
beforeEach(() => setFaults([]))

const base = '/v1/dict/refunds'
const act = (id: string, name: string, body: object = {}, idempotencyKey?: string) =>
  call(
    ...(['POST', `${base}/${id}/${name}`, body] as const),
    idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
  )
const find = async (id: string): Promise<Json> => (await call('GET', `${base}/${id}`)).json
const found = async (transactionId: string): Promise<Json[]> => {
  await disputes.poll()
  return (await call('GET', `${base}?transaction_id=${transactionId}`)).json.refunds
}
const eventTypes = async (id: string) =>
  (await disputes.eventsOf(id)).map(({ type, status }: Json) => `${type} ${status}`)

/** The other institution asks for R$ 10.50 that was paid to us back, or for what is given. */
const requested = async (
  more: Partial<DirectoryRefund> = {},
  transactionId = more.transactionId,
): Promise<{ readonly there: string; readonly here: string; readonly payment: string }> => {
  const payment = transactionId ?? (await disputes.received())
  const made = refunds.create(
    {
      transactionId: payment,
      reason: 'OPERATIONAL_FLAW',
      amountCents: 1_050n,
      details: 'Pago duas vezes',
      ...more,
    },
    other,
  )
  const [one] = await found(payment)
  return { there: made.id, here: one.id, payment }
}
const accept = { result: 'TOTALLY_ACCEPTED' }

describe('a request against us', () => {
  test('that is accepted gives the money back, then tells the directory by what', async () => {
    const { there, here, payment } = await requested()
    expect(await find(here)).toMatchObject({
      role: 'asked',
      status: 'open',
      amount: '10.50',
      reason: 'OPERATIONAL_FLAW',
      other_ispb: other,
      details: 'Pago duas vezes',
      return: null,
    })
    const closing = await act(here, 'close', accept)
    const { return_id: returnId } = closing.json
    expect([closing.status, closing.json]).toMatchObject([
      ...[
        202,
        { status: 'open', pending: 'close', return_id: expect.stringMatching(/^D12345678/) },
      ],
    ])
    const { json } = await call('GET', `/v1/pix/payments/${payment}/refunds/${returnId}`)
    expect(json).toMatchObject({ amount: '10.50', status: 'pending', reason: { code: 'BE08' } })
    // Nothing is settled yet, so nothing is told.
    await disputes.retry()
    expect(refunds.find(there, ispb).status).toBe('OPEN')
    await disputes.answer(payment, returnId, 'ACSC')
    await disputes.retry()
    expect(refunds.find(there, ispb)).toMatchObject({
      status: 'CLOSED',
      result: 'TOTALLY_ACCEPTED',
      returnId,
    })
    expect(await find(here)).toMatchObject({
      status: 'closed',
      result: 'TOTALLY_ACCEPTED',
      pending: null,
      return: { id: returnId, amount: '10.50', status: 'settled' },
    })
    await disputes.poll()
    expect((await act(here, 'close', accept)).status).toBe(200)
    expect(await disputes.returnsSent(payment)).toBe(1)
    expect(await eventTypes(here)).toEqual([
      ...['dict.refund.received open', 'dict.refund.changed closed'],
    ])
  })

  test('for fraud goes back as FR01, in part if so decided', async () => {
    const payment = await disputes.received()
    const { id } = infractions.create(
      {
        transactionId: payment,
        reason: 'REFUND_REQUEST',
        situation: 'SCAM',
        details: undefined,
        contact: undefined,
      },
      other,
    )
    infractions.acknowledge(id, ispb)
    infractions.close(id, ispb, {
      result: 'AGREED',
      fraudType: 'MULE_ACCOUNT',
      analysis: undefined,
    })
    const { there, here } = await requested({ transactionId: payment, reason: 'FRAUD' })
    const body = { result: 'PARTIALLY_ACCEPTED', amount: 400, analysis: 'Saldo menor' }
    const { return_id: returnId } = (await act(here, 'close', body)).json
    const { json } = await call('GET', `/v1/pix/payments/${payment}/refunds/${returnId}`)
    expect(json).toMatchObject({ amount: '4.00', reason: { code: 'FR01' } })
    await disputes.answer(payment, returnId, 'ACSC')
    await disputes.retry()
    expect(refunds.find(there, ispb)).toMatchObject({
      status: 'CLOSED',
      result: 'PARTIALLY_ACCEPTED',
      returnId,
      analysis: 'Saldo menor',
    })
    const again = (more: object) => act(here, 'close', { ...body, ...more })
    expect((await again({})).status).toBe(200)
    expect((await again({ amount: 300 })).json.code).toBe('dict_return_impossible')
    const rejected = { result: 'REJECTED', amount: undefined, rejection_reason: 'NO_BALANCE' }
    for (const other of [rejected, { result: 'TOTALLY_ACCEPTED', amount: undefined }]) {
      const { status, json } = await again(other)
      expect([status, json.code, json.result]).toEqual([
        ...[409, 'dict_dispute_state', 'PARTIALLY_ACCEPTED'],
      ])
    }
  })

  test('that is rejected moves nothing', async () => {
    const { there, here, payment } = await requested()
    const rejection = {
      result: 'REJECTED',
      rejection_reason: 'NO_BALANCE',
      analysis: 'Conta zerada',
    }
    const { status, json } = await act(here, 'close', rejection)
    expect([status, json]).toMatchObject([
      200,
      { status: 'closed', rejection_reason: 'NO_BALANCE', return_id: null },
    ])
    expect(refunds.find(there, ispb)).toMatchObject({ result: 'REJECTED' })
    expect(await disputes.returnsSent(payment)).toBe(0)
  })

  test('gives back once, however often and whoever asks at once, and whatever is lost', async () => {
    const { there, here, payment } = await requested()
    setFaults([{ kind: 'error_after_storing', operation: 'write' }])
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) => act(here, 'close', accept, i < 4 ? 'one' : undefined)),
    )
    expect(all.filter(({ status }) => status === 202).length).toBeGreaterThan(0)
    expect(all.filter(({ status }) => status !== 202 && status !== 409)).toEqual([])
    expect(await disputes.returnsSent(payment)).toBe(1)
    const { return_id: returnId } = await find(here)
    await disputes.answer(payment, returnId, 'ACSC')
    await disputes.retry()
    expect(refunds.find(there, ispb).status).toBe('CLOSED')
    expect(await find(here)).toMatchObject({ status: 'open', pending: 'close' })
    setFaults([])
    await disputes.retry()
    expect(await find(here)).toMatchObject({ status: 'closed', pending: null })
    expect(await disputes.returnsSent(payment)).toBe(1)
  })

  test('stays open when the return is refused, and may be accepted again', async () => {
    const { there, here, payment } = await requested()
    const { return_id: first } = (await act(here, 'close', accept)).json
    await disputes.answer(payment, first, 'RJCT', 'AM04')
    await disputes.retry()
    expect(await find(here)).toMatchObject({
      status: 'open',
      pending: null,
      refusal: 'AM04',
      return_id: null,
    })
    const { return_id: second } = (await act(here, 'close', accept)).json
    expect(second).not.toBe(first)
    await disputes.answer(payment, second, 'ACSC')
    await disputes.retry()
    expect(refunds.find(there, ispb)).toMatchObject({ status: 'CLOSED', returnId: second })
  })

  test('whose return is refused is never told as accepted, also where the process ends between', async () => {
    const { sql } = disputes
    const { there, here, payment } = await requested()
    const { return_id: first } = (await act(here, 'close', accept)).json
    await disputes.answer(payment, first, 'RJCT', 'AM04')
    await sql.unsafe(`
      create function ended() returns trigger language plpgsql as 'begin raise exception ''ended''; end';
      create trigger ended before update on dict_disputes for each row
        when (old.wanted is not null and new.wanted is null) execute function ended()`)
    await disputes.retry()
    await sql.unsafe('drop trigger ended on dict_disputes; drop function ended')
    await disputes.retry()
    expect(await find(here)).toMatchObject({ status: 'open', refusal: 'AM04', return_id: null })
    expect(refunds.find(there, ispb).status).toBe('OPEN')
  })

  test('that is to be accepted, and has no return, is left to be decided again', async () => {
    const { there, here } = await requested()
    await act(here, 'close', accept)
    await disputes.sql`update dict_disputes set return_id = null where id = ${here}::uuid`
    await disputes.retry()
    expect(await find(here)).toMatchObject({ status: 'open', pending: null, refusal: 'RJCT' })
    expect(refunds.find(there, ispb).status).toBe('OPEN')
  })

  test('stays open when the return never goes out, and may be decided otherwise', async () => {
    const { sql } = disputes
    const { there, here, payment } = await requested()
    const { return_id: first } = (await act(here, 'close', accept)).json
    const [sent] = await sql<{ id: string }[]>`
      update spi_messages m set status = 'FAILED' from spi_transactions t
      where t.message_id = m.id and t.instruction_id = ${first} and m.direction = 'OUTBOUND'
      returning m.id`
    const letter = { headers: { 'message-id': sent?.id ?? '' } }
    await disputes.retry()
    // As long as somebody may have it sent, nobody decides otherwise.
    expect(await find(here)).toMatchObject({ pending: 'close', return_id: first })
    await sql.begin((tx) => createLetterSubjects(emitEvents, undefined, undefined).end(tx, letter))
    await disputes.retry()
    expect(await find(here)).toMatchObject({
      status: 'open',
      pending: null,
      refusal: 'never_sent',
      return_id: null,
    })
    const { return_id: second } = (await act(here, 'close', accept)).json
    expect(second).not.toBe(first)
    await disputes.answer(payment, second, 'ACSC')
    await disputes.retry()
    expect(refunds.find(there, ispb)).toMatchObject({ status: 'CLOSED', returnId: second })
  })

  test('that is cancelled there after the money went back keeps what went, and no second goes', async () => {
    const { there, here, payment } = await requested()
    const { return_id: returnId } = (await act(here, 'close', accept)).json
    refunds.cancel(there, other)
    await disputes.answer(payment, returnId, 'ACSC')
    await disputes.retry()
    expect(await find(here)).toMatchObject({
      status: 'cancelled',
      pending: null,
      return_id: returnId,
      return: { status: 'settled' },
    })
    expect((await act(here, 'close', accept)).json.code).toBe('dict_dispute_state')
    expect(await disputes.returnsSent(payment)).toBe(1)
  })

  test('for what was given back another way is refused with what is left', async () => {
    const payment = await disputes.received()
    const path = `/v1/pix/payments/${payment}/refunds`
    expect((await call('POST', path, { amount: 300, reason: 'MD06' })).status).toBe(202)
    const { here } = await requested({ transactionId: payment })
    const { status, json } = await act(here, 'close', accept)
    expect([status, json]).toMatchObject([
      409,
      { code: 'dict_return_impossible', reason: 'refund_exceeds_payment' },
    ])
    expect(json.refundable).toBe('7.50')
    expect(await find(here)).toMatchObject({ status: 'open', pending: null, return_id: null })
    const part = await act(here, 'close', { result: 'PARTIALLY_ACCEPTED', amount: 750 })
    expect(part.status).toBe(202)
  })

  test.each<[string, object, string, string]>([
    ['a part without its amount', { result: 'PARTIALLY_ACCEPTED' }, '/amount', 'required'],
    ['an amount of the whole', { ...accept, amount: 1 }, '/amount', 'forbidden'],
    ['no reason of a rejection', { result: 'REJECTED' }, '/rejection_reason', 'required'],
    [
      'nothing said of an invalid request',
      { result: 'REJECTED', rejection_reason: 'INVALID_REQUEST' },
      ...(['/analysis', 'required'] as const),
    ],
    ['more than is asked', { result: 'PARTIALLY_ACCEPTED', amount: 1_051 }, '/amount', 'maximum'],
    ['as much as is asked', { result: 'PARTIALLY_ACCEPTED', amount: 1_050 }, '/amount', 'maximum'],
  ])('with %s is refused', async (_, body, pointer, rule) => {
    const { here, payment } = await requested()
    const { status, json } = await act(here, 'close', body)
    expect([status, json.errors]).toEqual([...[400, [expect.objectContaining({ pointer, rule })]]])
    expect(await disputes.returnsSent(payment)).toBe(0)
  })

  test('is accepted by nobody who may not move money', async () => {
    const { here } = await requested()
    const clerk = testKey('dict:*')
    const app = testApp(disputes.dict.routes, { keys: [clerk.record] })
    const close = (body: object) =>
      app.call('POST', `${base}/${here}/close`, { key: clerk.key, body })
    expect((await close(accept)).status).toBe(403)
    expect((await close({ result: 'REJECTED', rejection_reason: 'OTHER' })).status).toBe(200)
  })
})

describe('a request of ours', () => {
  const bodyOf = (transaction_id: string, more: object = {}) => ({
    transaction_id,
    reason: 'OPERATIONAL_FLAW',
    amount: 1_230,
    details: 'Pago duas vezes',
    ...more,
  })

  test('is matched with the return that answers it, once it has come', async () => {
    const payment = await disputes.paid()
    const made = await call('POST', base, bodyOf(payment))
    expect([made.status, made.json]).toMatchObject([
      201,
      { role: 'asking', status: 'open', amount: '12.30', other_ispb: other },
    ])
    const returnId = fresh.returnId()
    refunds.close(made.json.directory_id, other, {
      result: 'TOTALLY_ACCEPTED',
      analysis: undefined,
      rejectionReason: undefined,
      returnId,
      effectiveCents: undefined,
    })
    await disputes.poll()
    await disputes.retry()
    expect(await find(made.json.id)).toMatchObject({
      status: 'closed',
      return_id: returnId,
      returned_at: null,
      return: null,
    })
    await disputes.returned(payment, returnId)
    await disputes.retry()
    await disputes.retry()
    expect(await find(made.json.id)).toMatchObject({
      returned_at: expect.any(String),
      return: { amount: '12.30', status: 'settled' },
    })
    expect(await eventTypes(made.json.id)).toEqual([
      ...['dict.refund.changed open', 'dict.refund.changed closed'],
      'dict.refund.returned closed',
    ])
  })

  test('is made once, whatever is lost on the way, and cancelled', async () => {
    const payment = await disputes.paid()
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { status, json } = await call('POST', base, bodyOf(payment))
    expect([status, json.status]).toEqual([202, 'requested'])
    disputes.dict.passThere(6_000)
    setFaults([{ kind: 'proxy_refusal', operation: 'write', times: 1 }])
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested' })
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'open' })
    expect(refunds.all().filter((one) => one.transactionId === payment)).toHaveLength(1)
    const cancelled = await act(json.id, 'cancel')
    expect([cancelled.status, cancelled.json.status]).toEqual([200, 'cancelled'])
    expect(refunds.find(cancelled.json.directory_id, other).status).toBe('CANCELLED')
  })

  test('is one, whose answer was lost, also when it was closed before it was looked for', async () => {
    const payment = await disputes.paid()
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { json } = await call('POST', base, bodyOf(payment))
    const there = refunds.all().find((one) => one.transactionId === payment)
    const returnId = fresh.returnId()
    refunds.close(there?.id ?? '', other, {
      result: 'TOTALLY_ACCEPTED',
      analysis: undefined,
      rejectionReason: undefined,
      returnId,
      effectiveCents: undefined,
    })
    // Its list does not know it yet: nobody knows.
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested', refusal: null })
    disputes.dict.passThere(6_000)
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({
      status: 'closed',
      result: 'TOTALLY_ACCEPTED',
      return_id: returnId,
      refusal: null,
    })
    expect(await eventTypes(json.id)).toEqual(['dict.refund.changed closed'])
    const second = await call('POST', base, bodyOf(payment))
    expect([second.status, second.json.directory_code]).toEqual([
      ...[422, 'RefundAlreadyProcessedForTransaction'],
    ])
  })

  test('that was made, whatever is refused since then, is found before it ends', async () => {
    const payment = await disputes.paid()
    const report = infractions.create(
      {
        transactionId: payment,
        reason: 'REFUND_REQUEST',
        situation: 'SCAM',
        details: undefined,
        contact: undefined,
      },
      ispb,
    )
    infractions.acknowledge(report.id, other)
    const closing = { result: 'AGREED', fraudType: 'MULE_ACCOUNT', analysis: undefined } as const
    infractions.close(report.id, other, closing)
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { json } = await call('POST', base, bodyOf(payment, { reason: 'FRAUD' }))
    infractions.cancel(report.id, ispb)
    disputes.dict.passThere(6_000)
    disputes.dict.pass(6_000)
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'open', refusal: null })
  })

  test('for fraud needs a report that is agreed to', async () => {
    const payment = await disputes.paid()
    const early = await call('POST', base, bodyOf(payment, { reason: 'FRAUD' }))
    expect([early.status, early.json.directory_code]).toEqual([
      ...[422, 'RefundInfractionReportNotFound'],
    ])
  })
})

/** What a directory may say that is not so. */
describe('a directory that lies', () => {
  /** Puts a request in without any rule. */
  const impose = (more: Partial<DirectoryRefund>): DirectoryRefund => {
    const at = disputes.dict.nowThere()
    return refunds.put({
      id: crypto.randomUUID(),
      status: 'OPEN',
      requesting: other,
      contested: ispb,
      transactionId: fresh.endToEndId(),
      reason: 'FRAUD',
      amountCents: 1_050n,
      details: undefined,
      createdMs: at,
      modifiedMs: at,
      recoveryId: undefined,
      result: undefined,
      analysis: undefined,
      rejectionReason: undefined,
      returnId: undefined,
      effectiveCents: undefined,
      ...more,
    })
  }

  test('about a payment that we have not received has nothing given back', async () => {
    const { transactionId } = impose({})
    const [one] = await found(transactionId)
    const { status, json } = await act(one.id, 'close', accept)
    expect([status, json.code, json.reason]).toEqual([409, 'dict_return_impossible', 'no_payment'])
  })

  test('about a payment of ours to others has nothing given back', async () => {
    const { transactionId } = impose({ transactionId: await disputes.paid() })
    const [one] = await found(transactionId)
    const { status, json } = await act(one.id, 'close', accept)
    expect([status, json.reason]).toEqual([409, 'payment_not_refundable'])
    expect(await disputes.returnsSent(transactionId)).toBe(0)
  })

  test('about the amount has no more given back than was paid', async () => {
    const payment = await disputes.received()
    impose({ transactionId: payment, amountCents: 1_051n })
    const [one] = await found(payment)
    const { status, json } = await act(one.id, 'close', accept)
    expect([status, json.reason]).toEqual([409, 'refund_exceeds_payment'])
    expect(await disputes.returnsSent(payment)).toBe(0)
  })

  test('and makes the amount another one later is not believed', async () => {
    const payment = await disputes.received()
    const told = impose({ transactionId: payment, amountCents: 500n })
    const [one] = await found(payment)
    refunds.put({ ...told, amountCents: 1_050n, modifiedMs: disputes.dict.nowThere() + 1 })
    await disputes.poll()
    expect(await find(one.id)).toMatchObject({ amount: '5.00', status: 'open' })
    await act(one.id, 'close', accept)
    const { json } = await call('GET', `/v1/pix/payments/${payment}/refunds`)
    expect(json.refunds).toMatchObject([{ amount: '5.00' }])
  })

  test('with many requests of one payment has it given back once', async () => {
    const payment = await disputes.received()
    for (let i = 0; i < 4; i++) impose({ transactionId: payment })
    const all = await found(payment)
    expect(all).toHaveLength(4)
    const done = await Promise.all(all.map(({ id }) => act(id, 'close', accept)))
    expect(done.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409])
    expect(await disputes.returnsSent(payment)).toBe(1)
  })

  test('and shows what is between others, or opens what is closed, changes nothing', async () => {
    const { there, here } = await requested()
    await act(here, 'close', { result: 'REJECTED', rejection_reason: 'OTHER' })
    refunds.put({
      ...refunds.find(there, ispb),
      status: 'OPEN',
      modifiedMs: disputes.dict.nowThere() + 1,
    })
    const between = impose({ requesting: '11111111', contested: '22222222' })
    const ours = impose({ requesting: ispb })
    expect(await found(between.transactionId)).toEqual([])
    expect(await found(ours.transactionId)).toEqual([])
    expect(await find(here)).toMatchObject({ status: 'closed', result: 'REJECTED' })
  })

  test('and repeats its pages does not hold up what is behind', async () => {
    setFaults([{ kind: 'repeated_list', operation: 'lookup' }])
    const { here } = await requested()
    expect(await find(here)).toMatchObject({ status: 'open' })
  })

  test('and tells late is heard all the same', async () => {
    const payment = await disputes.received()
    impose({ transactionId: payment })
    setFaults([{ kind: 'late_list', operation: 'lookup' }])
    expect(await found(payment)).toEqual([])
    setFaults([])
    expect(await found(payment)).toHaveLength(1)
  })

  test('and cannot be verified is not heard', async () => {
    const payment = await disputes.received()
    impose({ transactionId: payment })
    setFaults([{ kind: 'no_signature', operation: 'lookup' }])
    await expect(disputes.poll()).rejects.toThrow()
    setFaults([])
    expect(await found(payment)).toHaveLength(1)
  })
})

test('a page of the longest requests is read', async () => {
  const long = 'é&'.repeat(1_000)
  const payment = await disputes.received()
  const [first] = refunds.all()
  if (first === undefined) throw new Error('none')
  const at = Date.now()
  for (let i = 0; i < 150; i++) {
    refunds.put({
      ...first,
      id: crypto.randomUUID(),
      transactionId: payment,
      status: 'OPEN',
      details: long,
      analysis: long,
      createdMs: at,
      modifiedMs: at + i,
    })
  }
  await disputes.poll()
  const { json } = await call('GET', `${base}?transaction_id=${payment}&limit=500`)
  expect(json.refunds).toHaveLength(150)
  expect(json.refunds[0].details).toBe(long)
})
