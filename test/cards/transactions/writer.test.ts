import { expect, test } from 'bun:test'
import type { Client } from '#src/platform/database/index.ts'
import type { CardTransaction } from '../../../src/cards/transactions/store.ts'
import { createCardWriter } from '../../../src/cards/transactions/writer.ts'

/* What the writer takes while the database answers nothing: a bound for new ones, and room for what was sent. */

const newMax = 10_000
const turnMs = 50

/** A database that never answers; parts of statements are made of it, too. */
const silent = (() => new Promise(() => undefined)) as unknown as Client

const transaction = { id: 'txn_1', status: 'pending', amountCents: 1n } as CardTransaction
const caller = { idempotencyKey: undefined, requestId: 'test' }

test('as many new ones wait as may, one more is refused unsent, and a step of another finds room', async () => {
  const writer = createCardWriter(
    ...([silent, async () => undefined, () => undefined, undefined] as const),
  )
  const refusals: unknown[] = []
  const ended: string[] = []
  const insert = () =>
    writer.insert({ transaction, caller }).then(
      () => ended.push('insert'),
      (error) => refusals.push(error),
    )
  for (let count = 0; count < newMax; count++) void insert()
  await Bun.sleep(turnMs)
  expect([refusals, ended]).toEqual([[], []])
  void insert()
  const change = { before: transaction, after: transaction, events: [] }
  void writer.change(change).then(
    () => ended.push('change'),
    (error) => refusals.push(error),
  )
  await Bun.sleep(turnMs)
  expect([refusals, ended]).toMatchObject([
    ...[[{ definition: { code: 'cards_too_busy' }, details: { sent: false } }], []],
  ])
})
