import { describe, expect, test } from 'bun:test'
import { authorizationBody, cardsRigOfFile, createCardsRig } from '../../support/cards-rig.ts'
import { storedKey } from '../../support/stored-key.ts'
import { until } from '../../support/until.ts'

const rig = await cardsRigOfFile()
/** For what ends by a time-out. */
const hasty = await cardsRigOfFile({ timeoutMs: 700 })

const json = async (response: Response) => (await response.json()) as Record<string, unknown>
const read = async (id: string) => json(await rig.get(`/v1/transactions/${id}`))
const entryOf = (record: Readonly<Record<string, unknown>>, from = rig) =>
  from.simulators[0].book().find(({ rrn }) => rrn === record['rrn'])

test.each(['capture', 'void', 'refund'])(
  'what is no object is not for want of a body that a %s is of the whole',
  async (operation) => {
    const { id } = await rig.authorize('tok_visa_approved', { capture: operation === 'refund' })
    const before = await read(id)
    for (const body of [null, [], 0, false]) {
      const response = await rig.post(`/v1/transactions/${id}/${operation}`, body)
      expect([body, response.status]).toEqual([body, 400])
    }
    expect(await read(id)).toEqual(before)
  },
)

describe('a capture', () => {
  test('that another has done under its Idempotency-Key meanwhile gets the answer of that', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const path = `/v1/transactions/${id}/capture`
    const fingerprint = new Bun.CryptoHasher('sha256').update(`POST ${path}\n`).digest('base64url')
    const { sql } = rig.database
    let repetition: Promise<Response> | undefined
    await sql.begin(async (tx) => {
      await tx`lock table card_transactions in access exclusive mode`
      repetition = rig.post(path, undefined, { 'idempotency-key': 'meanwhile' })
      // It has looked at what it needs before it reads the transaction.
      await until(async () => {
        const [row] = await tx<{ waiting: boolean }[]>`
          select exists (select from pg_locks where not granted
            and relation = 'card_transactions'::regclass) as waiting`
        return row?.waiting === true
      })
      await tx`
        update card_transactions set status = 'captured', captured_cents = amount_cents
        where id = ${id}`
      await tx`
        insert into idempotency_keys (key, fingerprint, status, body)
        values (${storedKey('meanwhile')}, ${fingerprint}, 200, ${Buffer.from('{"kept":1}')})`
    })
    const response = await repetition
    expect([response?.status, await response?.json()]).toEqual([200, { kept: 1 }])
  })

  test('without a body takes the whole', async () => {
    const authorized = await rig.authorize('tok_visa_approved')
    const response = await rig.post(`/v1/transactions/${authorized.id}/capture`)
    expect(response.status).toBe(200)
    const record = await json(response)
    expect(record).toMatchObject({
      status: 'captured',
      amount: 10_000,
      captured_amount: 10_000,
      auth_code: authorized['auth_code'],
      response_code: '00',
    })
    expect(record['captured_at']).toBeString()
    expect(entryOf(record)).toMatchObject({ capturedAmount: 10_000 })
    expect(await read(authorized.id)).toEqual(record)
  })

  test.each([
    [{}, 10_000],
    [{ amount: 10_000 }, 10_000],
    [{ amount: 2_500 }, 2_500],
    [{ amount: 1 }, 1],
  ])('of %p captures %p', async (body, captured) => {
    const { id } = await rig.authorize('tok_visa_approved')
    const record = await json(await rig.post(`/v1/transactions/${id}/capture`, body))
    expect(record).toMatchObject({ status: 'captured', captured_amount: captured, amount: 10_000 })
    expect(entryOf(record)).toMatchObject({ capturedAmount: captured })
  })

  test.each([
    [{ amount: 10_001 }, 'AMOUNT_EXCEEDS_AUTHORIZED'],
    [{ amount: 0 }, 'INVALID_AMOUNT'],
    [{ amount: '1' }, 'INVALID_AMOUNT'],
    [{ cents: 1 }, 'VALIDATION_FAILED'],
    [[], 'BAD_REQUEST'],
  ])('of %p is refused', async (body, code) => {
    const { id } = await rig.authorize('tok_visa_approved')
    const response = await rig.post(`/v1/transactions/${id}/capture`, body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code } })
    expect(await read(id)).toMatchObject({ status: 'authorized' })
  })

  test('that the network declines leaves the authorization, and may be tried again', async () => {
    const { id } = await rig.authorize('tok_visa_capture_declined')
    for (const _ of [1, 2]) {
      const response = await rig.post(`/v1/transactions/${id}/capture`)
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({
        error: {
          code: 'CAPTURE_DECLINED',
          details: {
            field: null,
            value: null,
            transaction_id: id,
            status: 'authorized',
            response_code: '05',
            response_message: 'Not authorized',
          },
        },
      })
    }
    expect(await read(id)).toMatchObject({
      status: 'authorized',
      response_code: '00',
      capture_error: 'declined_05',
    })
  })

  test('whose outcome nobody knows is reversed', async () => {
    const { id } = await hasty.authorize('tok_visa_capture_timeout')
    const headers = { 'Idempotency-Key': 'capture-timeout' }
    const response = await hasty.post(`/v1/transactions/${id}/capture`, { amount: 700 }, headers)
    expect(response.status).toBe(504)
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'NETWORK_TIMEOUT', details: { sent: true, transaction_id: id } },
    })
    const again = await hasty.post(`/v1/transactions/${id}/capture`, { amount: 700 }, headers)
    expect([again.status, await again.text()]).toEqual([504, text])
    const [entered] = await hasty.reversalsOf(id)
    expect(entered).toMatchObject({ reverses: 'capture', original_mti: '0200', amount_cents: 700n })
    const record = await hasty.settled(id)
    expect(record).toMatchObject({ status: 'authorized', capture_error: 'timed_out' })
    expect(record['captured_amount']).toBeUndefined()
    expect(entryOf(record, hasty)).toMatchObject({
      capturedAmount: 0,
      reversedAmount: 0,
      reversals: 1,
    })
  })

  test('of what is not authorized is refused', async () => {
    const declined = await rig.authorize('tok_visa_declined_05')
    const captured = await rig.authorize('tok_visa_approved', { capture: true })
    for (const { id, status } of [declined, captured]) {
      const response = await rig.post(`/v1/transactions/${id}/capture`)
      expect(response.status).toBe(409)
      expect(await response.json()).toMatchObject({
        error: { code: 'INVALID_STATE', details: { field: 'status', value: status } },
      })
    }
  })

  test('of what is not there is 404', async () => {
    const response = await rig.post('/v1/transactions/txn_none/capture')
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'TRANSACTION_NOT_FOUND' } })
  })
})

describe('capture: true', () => {
  test('captures right after the approval', async () => {
    const record = await rig.authorize('tok_visa_approved', { capture: true })
    expect(record).toMatchObject({ status: 'captured', captured_amount: 10_000 })
    expect(entryOf(record)).toMatchObject({ capturedAmount: 10_000 })
  })

  test('needs the right to capture, without which nothing is sent; a repetition has its answer', async () => {
    const ask = (capture: boolean, key = rig.authorizerKey, headers = {}) =>
      rig.app.call('POST', '/v1/transactions/authorize', {
        key,
        headers,
        body: authorizationBody('tok_visa_approved', { capture }),
      })
    const keyed = { 'Idempotency-Key': 'taken before' }
    const taken = await (await ask(true, rig.key, keyed)).text()
    expect(await (await ask(true, rig.authorizerKey, keyed)).text()).toBe(taken)
    const refused = await ask(true)
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { code: 'FORBIDDEN', message: expect.stringContaining('cards:capture') } },
    ])
    expect((await ask(false)).status).toBe(201)
  })

  test('declined captures nothing', async () => {
    const record = await rig.authorize('tok_visa_declined_51', { capture: true })
    expect(record).toMatchObject({ status: 'declined' })
  })

  test('leaves the authorization where only the capture is declined', async () => {
    const record = await rig.authorize('tok_visa_capture_declined', { capture: true })
    expect(record).toMatchObject({
      status: 'authorized',
      response_code: '00',
      capture_error: 'declined_05',
    })
    expect(record['operation']).toBeUndefined()
  })

  test('reverses the capture alone where only its outcome is unknown', async () => {
    const record = await hasty.authorize('tok_visa_capture_timeout', { capture: true })
    expect(record).toMatchObject({
      status: 'authorized',
      capture_error: 'timed_out',
      operation: 'reversing_capture',
    })
    expect(await hasty.reversalsOf(record.id)).toMatchObject([{ reverses: 'capture' }])
    expect(entryOf(await hasty.settled(record.id), hasty)).toMatchObject({ capturedAmount: 0 })
  })

  test('is repeated under its key as one', async () => {
    const body = authorizationBody('tok_visa_approved', { capture: true, amount: 8_765 })
    const headers = { 'Idempotency-Key': 'auto-capture' }
    const first = await (await rig.post('/v1/transactions/authorize', body, headers)).text()
    const second = await (await rig.post('/v1/transactions/authorize', body, headers)).text()
    expect(second).toBe(first)
    const entries = rig.simulators[0].book().filter((one) => one.authorizedAmount === 8_765)
    expect(entries).toMatchObject([{ capturedAmount: 8_765 }])
  })
})

describe('a void', () => {
  test.each([false, true])('takes everything back, captured %p', async (capture) => {
    const { id } = await rig.authorize('tok_visa_approved', { capture })
    const response = await rig.post(`/v1/transactions/${id}/void`)
    expect(response.status).toBe(200)
    const record = await json(response)
    expect(record).toMatchObject({ status: 'voided', amount: 10_000, response_code: '00' })
    expect(record['voided_at']).toBeString()
    await rig.settled(id)
    expect(entryOf(record)).toMatchObject({ reversedAmount: 10_000, capturedAmount: 0 })
    const again = await rig.post(`/v1/transactions/${id}/void`)
    expect(again.status).toBe(409)
  })

  test('that the network declines changes nothing', async () => {
    const { id } = await rig.authorize('tok_visa_void_declined', { capture: true })
    const response = await rig.post(`/v1/transactions/${id}/void`)
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      error: {
        code: 'VOID_DECLINED',
        details: {
          status: 'captured',
          response_code: '57',
          response_message: 'Transaction not permitted',
        },
      },
    })
    expect(await read(id)).toMatchObject({ status: 'captured', void_error: 'declined_57' })
  })

  test('whose outcome nobody knows is repeated as a reversal', async () => {
    const { id, ...record } = await hasty.authorize('tok_visa_void_timeout')
    const response = await hasty.post(`/v1/transactions/${id}/void`)
    expect(response.status).toBe(504)
    expect(await hasty.reversalsOf(id)).toMatchObject([
      { reverses: 'void', original_mti: '0100', original_stan: record['stan'] },
    ])
    expect(await hasty.settled(id)).toMatchObject({ status: 'voided' })
    expect(entryOf(record, hasty)).toMatchObject({ reversedAmount: 10_000 })
  })

  test('that cannot be sent gives its key free', async () => {
    await using own = await createCardsRig()
    const { id } = await own.authorize('tok_visa_approved')
    own.simulators[0].stop()
    await until(() => own.networks.byName('neta')?.health().connectionsUp === 0)
    const headers = { 'Idempotency-Key': 'void' }
    const response = await own.post(`/v1/transactions/${id}/void`, undefined, headers)
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { details: { sent: false } } })
    own.simulators[0].start()
    await until(() => own.networks.byName('neta')?.health().connectionsUp === 1)
    const again = await own.post(`/v1/transactions/${id}/void`, undefined, headers)
    expect(await again.json()).toMatchObject({ status: 'voided' })
  })
})

describe('at the same time', () => {
  test('of 200 captures and voids one begins', async () => {
    const { id } = await rig.authorize('tok_visa_approved')
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        rig.post(
          `/v1/transactions/${id}/${index % 2 === 0 ? 'capture' : 'void'}`,
          undefined,
          index % 4 < 2 ? {} : { 'Idempotency-Key': `race-${index}` },
        ),
      ),
    )
    const statuses = responses.map(({ status }) => status)
    // A void may follow a capture that has ended; of each there is at most one.
    const winners = await Promise.all(
      responses
        .filter(({ status }) => status === 200)
        .map(async (one) => (await json(one))['status']),
    )
    expect(new Set(winners).size).toBe(winners.length)
    expect(winners.length).toBeGreaterThanOrEqual(1)
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([])
    // After a capture, a void takes that back and answers; the authorization's reversal follows.
    const record = await rig.settled(id)
    const entry = entryOf(record)
    if (record.status === 'captured') {
      expect(entry).toMatchObject({ capturedAmount: 10_000, reversals: 0 })
    } else expect(entry).toMatchObject({ reversedAmount: 10_000, reversals: winners.length })
  })

  test.each(['capture', 'void'])('of 200 times %s exactly one wins', async (operation) => {
    const { id } = await rig.authorize('tok_visa_approved')
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => rig.post(`/v1/transactions/${id}/${operation}`)),
    )
    const statuses = responses.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(199).fill(409)])
  })

  test('500 authorizations each get their own answer', async () => {
    const records = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        rig.authorize(index % 2 === 0 ? 'tok_visa_approved' : 'tok_mastercard_approved', {
          amount: 20_000 + index,
        }),
      ),
    )
    for (const [index, record] of records.entries()) {
      expect(record).toMatchObject({ status: 'authorized', amount: 20_000 + index })
      const simulator = rig.simulators[index % 2 === 0 ? 0 : 1]
      const entry = simulator.book().find(({ rrn }) => rrn === record['rrn'])
      expect(entry).toMatchObject({
        authorizedAmount: 20_000 + index,
        authCode: String(record['auth_code']),
        requests: 1,
      })
    }
    // Each network counts on its own: how far depends on what the tests before have sent there.
    for (const remainder of [0, 1]) {
      const ours = records.filter((_, index) => index % 2 === remainder)
      expect(new Set(ours.map((record) => record['rrn'])).size).toBe(250)
    }
  })
})
