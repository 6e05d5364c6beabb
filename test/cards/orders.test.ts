import { setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createOrders, ordersEnvironment } from '../support/cards-orders.ts'
import { cardsRigOfFile } from '../support/cards-rig.ts'
import { anyRound } from '../support/cards-rounds.ts'
import { seed } from '../support/seed.ts'

/*
 * Increments, captures, partial reversals, voids, refunds and expiry in any order, while the network approves parts, loses
 * answers, tells them late, says the contrary of what it does, cuts connections, or is away, and other processes take
 * over what seems to be abandoned. In the end the payment is what its caller was told, and the network's ledger is ours
 * to the cent.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const runs = isLong ? 400 : 5
const timeoutMs = 200
const windowMs = 600

setDefaultTimeout(isLong ? 3_600_000 : 120_000)

const orders = createOrders({ answerMs: 260, arriveMs: 320 }, timeoutMs)
const environment = await ordersEnvironment()
const rig = await cardsRigOfFile({ networkA: orders.network, timeoutMs, windowMs, environment })
const told = async (response: Response) => ({
  status: response.status,
  record: (await response.json()) as Readonly<Record<string, unknown>>,
})
orders.through({
  sql: rig.database.sql,
  networks: rig.networks,
  settled: rig.settled,
  post: async (path, body) => told(await rig.post(`/v1/transactions${path}`, body)),
  recordOf: async (id) => (await told(await rig.get(`/v1/transactions/${id}`))).record,
})

test(`${runs} times payments in any order of operations are what was told, here and at the network (seed ${seed})`, () =>
  fc.assert(
    fc.asyncProperty(anyRound(), (round) => orders.play(round)),
    {
      numRuns: runs,
      seed,
      endOnFailure: true,
    },
  ))
