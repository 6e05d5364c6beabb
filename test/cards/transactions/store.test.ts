import { afterAll, expect, test } from 'bun:test'
import { emitWithin } from '#src/webhooks/index.ts'
import { changed } from '../../../src/cards/transactions/changes.ts'
import { type CardTransaction, transactionById } from '../../../src/cards/transactions/store.ts'
import { changeTransactions, writeTransactions } from '../../../src/cards/transactions/writes.ts'
import { createTestDatabase } from '../../support/database.ts'

const database = await createTestDatabase(1)

afterAll(() => database.close())

const at = new Date()

const inserted = async (id: string): Promise<CardTransaction> => {
  const transaction = {
    id,
    network: 'neta',
    brand: 'visa',
    cardToken: 'tok_visa_approved',
    currency: 'BRL',
    merchantId: 'MERCHANT000001',
    terminalId: undefined,
    installments: 1,
    amountCents: 100n,
    stan: '000001',
    rrn: id,
    transmission: '1121000000',
    account: 'default',
    createdBy: 'test',
    createdAt: at,
    traceparent: `00-${'1'.repeat(32)}-00f067aa0ba902b7-01`,
    status: 'pending',
    updatedAt: at,
    needsAttention: false,
    operation: undefined,
    operationStan: undefined,
    operationTransmission: undefined,
    operationCents: undefined,
    capturedCents: undefined,
    authCode: undefined,
    captureStan: undefined,
    captureTransmission: undefined,
    captures: undefined,
    responseCode: undefined,
    captureError: undefined,
    voidError: undefined,
    reason: undefined,
    claimKey: undefined,
    reference: undefined,
    details: undefined,
    refundError: undefined,
    incrementError: undefined,
    requestedCents: undefined,
    refundedCents: undefined,
    reversedCents: undefined,
    captureAdvised: undefined,
    standIn: undefined,
    capturedAt: undefined,
    voidedAt: undefined,
  } as const satisfies CardTransaction
  const caller = { idempotencyKey: undefined, requestId: 'test' }
  await writeTransactions(database.sql, [{ transaction, caller }], [], undefined)
  const row = await transactionById(database.sql, id)
  if (row === undefined) throw new Error('not there')
  return row
}

test('changes of one transaction that come together: the one that leaves its true state is made', async () => {
  const pending = await inserted('together')
  const authorized = changed(pending, 'authorization_approved', { authCode: '1' }, at)
  const started = changed(authorized, 'void_started', { operationStan: '000002' }, at)
  const write = (before: CardTransaction, after: CardTransaction, type: string) => ({
    before,
    after,
    events: [{ type, data: {} }],
  })
  await changeTransactions(database.sql, [write(pending, authorized, 'authorized')], undefined)
  await changeTransactions(database.sql, [write(authorized, started, 'void_sent')], undefined)
  const stale = changed(authorized, 'capture_started', { operationStan: '000003' }, at)
  const voided = changed(started, 'void_approved', { voidedAt: at }, at)
  expect(
    await changeTransactions(
      database.sql,
      [
        write(authorized, stale, 'capture_sent'),
        write(started, voided, 'voided'),
        write(started, voided, 'voided'),
      ],
      emitWithin,
    ),
  ).toEqual([false, true, false])
  expect(await transactionById(database.sql, 'together')).toMatchObject({ status: 'voided' })
  const events = await database.sql<{ type: string }[]>`
    select type from card_events where transaction_id = 'together' order by id`
  expect(events.map(({ type }) => type)).toEqual(['authorized', 'void_sent', 'voided'])
})

test('an operation that knows less than all captures does not begin', async () => {
  const pending = await inserted('partly')
  const write = (before: CardTransaction, after: CardTransaction) => ({
    before,
    after,
    events: [],
  })
  const open = changed(pending, 'authorization_approved', { authCode: '1' }, at)
  const first = changed(open, 'partial_capture_started', { operationStan: '000002' }, at)
  const partly = changed(first, 'partial_capture_approved', { capturedCents: 60n }, at)
  for (const [before, after] of [
    [pending, open],
    [open, first],
    [first, partly],
  ] as const) {
    expect(await changeTransactions(database.sql, [write(before, after)], undefined)).toEqual([
      true,
    ])
  }
  const stale = changed(open, 'partial_capture_started', { operationStan: '000003' }, at)
  expect(await changeTransactions(database.sql, [write(open, stale)], undefined)).toEqual([false])
  const next = changed(partly, 'partial_capture_started', { operationStan: '000003' }, at)
  expect(await changeTransactions(database.sql, [write(partly, next)], undefined)).toEqual([true])
})

test('new ones and steps of others share a statement, and somebody who subscribes between two is told', async () => {
  const { sql } = database
  const caller = { idempotencyKey: undefined, requestId: 'test' }
  const told = async (id: string) =>
    (await sql<{ type: string }[]>`select type from webhook_events where subject = ${id}`).map(
      ({ type }) => type,
    )
  const step = (before: CardTransaction) => ({
    before,
    after: changed(before, 'authorization_approved', { authCode: '1' }, at),
    events: [{ type: 'authorized', data: {} }],
  })
  const both = async (id: string, next: string) => {
    const pending = await inserted(id)
    const transaction = { ...pending, id: next, rrn: next }
    expect(
      await writeTransactions(sql, [{ transaction, caller }], [step(pending)], emitWithin),
    ).toEqual({ inserted: [true], changed: [true] })
    expect(await transactionById(sql, id)).toMatchObject({ status: 'authorized' })
    expect(await transactionById(sql, next)).toMatchObject({ status: 'pending' })
    return told(id)
  }
  // The first statement asks; the second knows that nobody takes it, and is made again where somebody does.
  expect(await both('nobody', 'nobody_next')).toEqual([])
  expect(await both('nobody2', 'nobody2_next')).toEqual([])
  await sql`
    insert into webhook_endpoints (id, url, events, secret, account)
    values ('wh_1', 'https://a.test', '{card.transaction.authorized}', '\\x00', 'default')`
  expect(await both('told', 'told_next')).toEqual(['card.transaction.authorized'])
  expect(await both('told2', 'told2_next')).toEqual(['card.transaction.authorized'])
  await sql`update webhook_endpoints set active = false`
  expect(await both('over', 'over_next')).toEqual([])
  expect(await both('over2', 'over2_next')).toEqual([])
})
