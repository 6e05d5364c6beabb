/** Infraction reports, on the simulated directory, which plays the other institution. */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openDisputes } from '../../src/dict/disputes/store.ts'
import { ispb, other, startDisputes } from './disputes-support.ts'
import type { Json } from './support.ts'

setDefaultTimeout(60_000)

const disputes = await startDisputes()
const { call, infractions, sql } = disputes
const { setFaults } = disputes.dict.directory
afterAll(disputes.stop)
beforeEach(() => setFaults([]))

const base = '/v1/dict/infraction-reports'
const bodyOf = (transaction_id: string, more: object = {}) => ({
  transaction_id,
  reason: 'REFUND_REQUEST',
  situation: 'SCAM',
  details: 'Boleto “falso”',
  ...more,
})
const report = async (id: string, more?: object): Promise<Json> => {
  const { status, json } = await call('POST', base, bodyOf(id, more))
  if (status !== 201) throw new Error(JSON.stringify(json))
  return json
}
const act = (id: string, name: string, body: object = {}) =>
  call('POST', `${base}/${id}/${name}`, body)
const find = async (id: string): Promise<Json> => (await call('GET', `${base}/${id}`)).json
/** One that the other institution has made about a payment to us. */
const reported = async (): Promise<{ readonly there: string; readonly here: string }> => {
  const transactionId = await disputes.received()
  const { id: there } = infractions.create(
    {
      transactionId,
      reason: 'REFUND_REQUEST',
      situation: 'SCAM',
      details: 'Golpe',
      contact: { email: 'med@example.com', phone: '+5561988887777' },
    },
    other,
  )
  await disputes.poll()
  const { json } = await call('GET', `${base}?transaction_id=${transactionId}`)
  return { there, here: json.infraction_reports[0].id }
}
/** Nobody has asked for it for so long that the list shows what came of that. */
const longAgo = (id: string) => sql`
  update dict_disputes
  set tried_at = tried_at - interval '11 minutes', told_at = told_at - interval '11 minutes'
  where id = ${id}`
const eventTypes = async (id: string) =>
  (await disputes.eventsOf(id)).map(({ type, status }: Json) => `${type} ${status}`)

describe('a report of ours', () => {
  test('is made, acknowledged and closed by the other institution, and cancelled', async () => {
    const transactionId = await disputes.paid()
    const made = await report(transactionId, { contact: { email: 'a@b.br', phone: '+5561' } })
    expect(made).toMatchObject({
      role: 'asking',
      status: 'open',
      transaction_id: transactionId,
      other_ispb: other,
      situation: 'SCAM',
      details: 'Boleto “falso”',
      pending: null,
      refusal: null,
      contact: { email: 'a@b.br', phone: '+5561' },
      answer_until: new Date(Date.parse(made.created_at) + 7 * 86_400_000).toISOString(),
    })
    infractions.acknowledge(made.directory_id, other)
    await disputes.poll()
    infractions.close(made.directory_id, other, {
      result: 'AGREED',
      fraudType: 'MULE_ACCOUNT',
      analysis: 'Conta laranja',
    })
    await disputes.poll()
    await disputes.poll()
    expect(await find(made.id)).toMatchObject({
      status: 'closed',
      result: 'AGREED',
      fraud_type: 'MULE_ACCOUNT',
      analysis: 'Conta laranja',
      fraud_marker_id: expect.any(String),
      answer_until: null,
    })
    const cancelled = await act(made.id, 'cancel')
    expect([cancelled.status, cancelled.json.status]).toEqual([200, 'cancelled'])
    expect((await act(made.id, 'cancel')).status).toBe(200)
    await disputes.poll()
    expect(await eventTypes(made.id)).toEqual([
      'dict.infraction.changed open',
      'dict.infraction.changed acknowledged',
      'dict.infraction.changed closed',
      'dict.infraction.changed cancelled',
    ])
  })

  test('is made once, whatever is lost on the way', async () => {
    const transactionId = await disputes.paid()
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { status, json } = await call('POST', base, bodyOf(transactionId))
    expect([status, json.status, json.pending]).toEqual([202, 'requested', 'create'])
    // Its list does not know it yet: nobody knows.
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested' })
    disputes.dict.passThere(6_000)
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'open', refusal: null })
    const there = infractions.all().filter((one) => one.transactionId === transactionId)
    expect(there).toHaveLength(1)
    const again = await call('POST', base, bodyOf(transactionId))
    expect([again.status, again.json.code]).toEqual([409, 'dict_dispute_exists'])
  })

  test('is not given up while its list cannot be read, whatever else we know of the payment', async () => {
    const transactionId = await disputes.paid()
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { json } = await call('POST', base, bodyOf(transactionId))
    // The receiver's about the same payment: that it is over we have not heard yet.
    const former = {
      id: crypto.randomUUID(),
      directory_id: crypto.randomUUID(),
      role: 'asked',
      reason: 'REFUND_CANCELLED',
      status: 'open',
    }
    await sql`
      insert into dict_disputes
      select (jsonb_populate_record(d, ${JSON.stringify(former)}::text::jsonb)).*
      from dict_disputes d where id = ${json.id}`
    setFaults([{ kind: 'unavailable', operation: 'lookup' }])
    disputes.dict.passThere(6_000)
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested', refusal: null })
    setFaults([])
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'open', refusal: null })
    await sql`delete from dict_disputes where id = ${former.id}`
  })

  test('is not refused for the one that was made by a process that died before it heard so', async () => {
    const transactionId = await disputes.paid()
    setFaults([{ kind: 'unavailable', operation: 'write', times: 1 }])
    const { json } = await call('POST', base, bodyOf(transactionId))
    await longAgo(json.id)
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    await disputes.retry()
    // What is written after the request was sent is not.
    await sql`
      update dict_disputes set tried_at = tried_at - interval '11 minutes' where id = ${json.id}`
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested', refusal: null })
    await disputes.poll()
    expect(await find(json.id)).toMatchObject({ status: 'open', refusal: null })
    expect(infractions.all().filter((one) => one.transactionId === transactionId)).toHaveLength(1)
  })

  test('is not refused for one that its list has, and that cannot be read', async () => {
    const transactionId = await disputes.paid()
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { json } = await call('POST', base, bodyOf(transactionId))
    const made = infractions.all().find((one) => one.transactionId === transactionId)
    if (made === undefined) throw new Error('it was not made')
    // So long ago that the list has it.
    const there = { ...made, modifiedMs: made.modifiedMs - 6_000 }
    infractions.put({ ...there, situation: 'of a later version <x>' })
    await longAgo(json.id)
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested', refusal: null })
    infractions.put(there)
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'open', refusal: null })
    expect((await act(json.id, 'cancel')).json.status).toBe('cancelled')
  })

  test('that nobody answered is found by the list alone, as the same one', async () => {
    const transactionId = await disputes.paid()
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { json } = await call('POST', base, bodyOf(transactionId))
    await disputes.poll()
    expect(await find(json.id)).toMatchObject({ status: 'open' })
    const { json: list } = await call('GET', `${base}?transaction_id=${transactionId}`)
    expect(list.infraction_reports).toHaveLength(1)
  })

  test('under one Idempotency-Key is one', async () => {
    const body = bodyOf(await disputes.paid())
    const key = { 'Idempotency-Key': 'report-1' }
    const [one, two] = [await call('POST', base, body, key), await call('POST', base, body, key)]
    expect([one.status, two.status, two.json]).toEqual([201, 201, one.json])
  })

  test('that the directory refuses tells why', async () => {
    const unknown = await call('POST', base, bodyOf('E12345678202611011200unknown0001'))
    expect([unknown.status, unknown.json.directory_code]).toEqual([
      ...[422, 'InfractionReportTransactionNotFound'],
    ])
    // Only the payer’s institution may report a payment to us.
    const theirs = await call('POST', base, bodyOf(await disputes.received()))
    expect([theirs.status, theirs.json.directory_code]).toEqual([422, 'Forbidden'])
    const { json } = await call('GET', `${base}?status=refused`)
    expect(json.infraction_reports).toHaveLength(2)
  })

  test.each<[string, object, string, string]>([
    ['no details of OTHER', { situation: 'OTHER', details: undefined }, '/details', 'required'],
    ['a wrong situation', { reason: 'REFUND_CANCELLED' }, '/situation', 'consistency'],
    ['no EndToEndId', { transaction_id: 'E1' }, '/transaction_id', 'format'],
    ['too long details', { details: 'x'.repeat(2_001) }, '/details', 'length'],
  ])('with %s is refused before anybody is told', async (_, more, pointer, rule) => {
    const before = infractions.all().length
    const { status, json } = await call(
      'POST',
      base,
      bodyOf('E12345678202611011200abcdefghijk', more),
    )
    expect([status, json.errors]).toEqual([...[400, [expect.objectContaining({ pointer, rule })]]])
    expect(infractions.all()).toHaveLength(before)
  })
})

describe('a report against us', () => {
  test('is found once, acknowledged and closed', async () => {
    const { there, here } = await reported()
    await disputes.poll()
    expect(await find(here)).toMatchObject({
      role: 'asked',
      status: 'open',
      directory_id: there,
      other_ispb: other,
      contact: { email: 'med@example.com', phone: '+5561988887777' },
    })
    const early = await act(here, 'close', { result: 'DISAGREED' })
    expect([early.status, early.json.dispute_status]).toEqual([409, 'open'])
    expect((await act(here, 'cancel')).json.code).toBe('dict_dispute_not_yours')
    expect((await act(here, 'acknowledge')).json.status).toBe('acknowledged')
    expect((await act(here, 'acknowledge')).status).toBe(200)
    const closing = { result: 'AGREED', fraud_type: 'SCAMMER_ACCOUNT', analysis: 'Bloqueado' }
    const closed = await act(here, 'close', closing)
    expect([closed.status, closed.json]).toMatchObject([
      200,
      { status: 'closed', result: 'AGREED', fraud_marker_id: expect.any(String) },
    ])
    expect(infractions.find(there, ispb)).toMatchObject({ status: 'CLOSED', result: 'AGREED' })
    await disputes.poll()
    expect(await eventTypes(here)).toEqual([
      'dict.infraction.received open',
      'dict.infraction.changed acknowledged',
      'dict.infraction.changed closed',
    ])
  })

  test('is closed once, whatever is lost on the way', async () => {
    const { there, here } = await reported()
    await act(here, 'acknowledge')
    setFaults([{ kind: 'error_after_storing', operation: 'write', times: 1 }])
    const { status, json } = await act(here, 'close', { result: 'DISAGREED' })
    expect([status, json.status, json.pending]).toEqual([202, 'acknowledged', 'close'])
    const other = await act(here, 'close', { result: 'AGREED', fraud_type: 'MULE_ACCOUNT' })
    expect([other.status, other.json.code]).toEqual([409, 'dict_dispute_state'])
    await disputes.retry()
    expect(await find(here)).toMatchObject({ status: 'closed', pending: null })
    expect(infractions.find(there, ispb).result).toBe('DISAGREED')
  })

  test('that is acknowledged stays so for who asks again, after it could not be closed', async () => {
    const { there, here } = await reported()
    await act(here, 'acknowledge')
    const known = infractions.find(there, ispb)
    infractions.put({ ...known, status: 'OPEN' })
    const close = () => act(here, 'close', { result: 'DISAGREED' })
    const { status, json } = await close()
    expect([status, json.directory_code]).toEqual([422, 'InfractionReportOperationInvalid'])
    const again = await act(here, 'acknowledge')
    expect([again.status, again.json.status]).toEqual([200, 'acknowledged'])
    infractions.put(known)
    expect((await close()).status).toBe(200)
  })

  test('that is closed is not closed otherwise, also where that is asked by nobody here', async () => {
    const { here } = await reported()
    await act(here, 'acknowledge')
    const agreed = { result: 'AGREED', fraud_type: 'MULE_ACCOUNT' }
    expect((await act(here, 'close', agreed)).status).toBe(200)
    expect((await act(here, 'close', agreed)).status).toBe(200)
    for (const body of [{ result: 'DISAGREED' }, { ...agreed, fraud_type: 'SCAMMER_ACCOUNT' }]) {
      const { status, json } = await act(here, 'close', body)
      expect([status, json]).toMatchObject([
        409,
        { code: 'dict_dispute_state', dispute_status: 'closed', result: 'AGREED' },
      ])
    }
    const pending = await reported()
    await act(pending.here, 'acknowledge')
    setFaults([{ kind: 'unavailable', operation: 'write', times: 1 }])
    expect((await act(pending.here, 'close', agreed)).status).toBe(202)
    infractions.close(pending.there, ispb, {
      result: 'DISAGREED',
      fraudType: undefined,
      analysis: undefined,
    })
    await disputes.retry()
    const refusal = 'InfractionReportOperationInvalid'
    expect(await find(pending.here)).toMatchObject({
      status: 'closed',
      result: 'DISAGREED',
      pending: null,
      refusal,
    })
  })

  test('that was cancelled there meanwhile is shown so, and not closed', async () => {
    const { there, here } = await reported()
    await act(here, 'acknowledge')
    infractions.cancel(there, other)
    const { status, json } = await act(here, 'close', { result: 'DISAGREED' })
    expect([status, json.directory_code]).toEqual([422, 'InfractionReportOperationInvalid'])
    expect(await find(here)).toMatchObject({ status: 'cancelled', pending: null })
  })
})

test('reports are listed page by page, by role and status', async () => {
  const listed: string[] = []
  let cursor = ''
  do {
    const { json } = await call('GET', `${base}?limit=2&role=asked${cursor}`)
    listed.push(...json.infraction_reports.map(({ id }: Json) => id))
    cursor = json.next_cursor === null ? '' : `&cursor=${json.next_cursor}`
  } while (cursor !== '')
  expect(new Set(listed).size).toBe(6)
  const { json } = await call('GET', `${base}?role=asked&status=cancelled`)
  expect(json.infraction_reports).toHaveLength(1)
})

test('what waits for a person here is listed, until it is closed', async () => {
  const waiting = async (): Promise<string[]> => {
    const { json } = await call('GET', `${base}?needs_attention=true`)
    return json.infraction_reports.map(({ id }: Json) => id)
  }
  const { here } = await reported()
  const { id: ours } = await report(await disputes.paid())
  expect(await waiting()).toEqual([here])
  await act(here, 'acknowledge')
  expect(await waiting()).toEqual([here])
  expect([(await find(here)).needs_attention, (await find(ours)).needs_attention]).toEqual([
    true,
    false,
  ])
  await act(here, 'close', { result: 'DISAGREED' })
  expect(await waiting()).toEqual([])
})

describe('a report of ours about a payment that the other institution has reported', () => {
  const theirs = async (): Promise<string> => {
    const transactionId = await disputes.received()
    const request = { situation: 'SCAM', details: undefined, contact: undefined } as const
    infractions.create({ ...request, transactionId, reason: 'REFUND_REQUEST' }, other)
    return transactionId
  }
  const code = 'InfractionReportAlreadyBeingProcessedForTransaction'
  const ours = (id: string) =>
    call('POST', base, bodyOf(id, { reason: 'REFUND_CANCELLED', situation: 'OTHER' }))

  test('is refused where we know of it', async () => {
    const transactionId = await theirs()
    await disputes.poll()
    const { status, json } = await ours(transactionId)
    expect([status, json.directory_code]).toEqual([422, code])
  })

  test('is refused where we do not, once the list is sure to show all', async () => {
    const transactionId = await theirs()
    const { status, json } = await ours(transactionId)
    expect([status, json.status]).toEqual([202, 'requested'])
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested', refusal: null })
    await longAgo(json.id)
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'refused', refusal: code })
  })

  test('waits for the list after a try that nobody answered, however old it is', async () => {
    const transactionId = await theirs()
    const { json } = await ours(transactionId)
    await longAgo(json.id)
    setFaults([{ kind: 'unavailable', operation: 'write', times: 1 }])
    await disputes.retry()
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested', refusal: null })
  })

  test('goes behind others each time that it is refused', async () => {
    const { json } = await ours(await theirs())
    await sql`
      update dict_disputes set tried_at = tried_at - interval '11 minutes' where id = ${json.id}`
    const turns = async () =>
      (await openDisputes(sql, 'infraction', 60_000, 100)).map(({ id }) => id)
    expect(await turns()).toContain(json.id)
    await disputes.retry()
    expect(await find(json.id)).toMatchObject({ status: 'requested', refusal: null })
    expect(await turns()).not.toContain(json.id)
  })
})

test('whoever may not speak for the institution finds nothing', async () => {
  const response = await disputes.dict.app.call('GET', base, { key: disputes.dict.readerKey })
  expect(response.status).toBe(403)
})
