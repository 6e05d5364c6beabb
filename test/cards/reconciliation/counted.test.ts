import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import {
  type CardNetwork,
  createCardNetwork,
  findDialect,
  findFraming,
} from '../../../src/simulators/card-network/index.ts'
import { cardsRigOfFile } from '../../support/cards-rig.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/* A network that compares how many authorizations there were (DE 81), and tells what it charges: of each message (DE 28), and of the day (DE 83 and 85). */

let network: CardNetwork
const [dialect, framing] = [findDialect('ascii'), findFraming('binary-2')]
if (dialect === undefined || framing === undefined) throw new Error('no such dialect or framing')
network = createCardNetwork({ dialect, framing, lateMs: 600, feeBasisPoints: 250 })
network.start()
const fields = { '81': { from: 'totals.authorization.number' } }
const file = {
  reconciliation: { cut_over: 'network', wait_seconds: 0 },
  content: {
    messages: {
      authorization: { fields: { '60': { from: 'accept_partial' } } },
      reconciliation: { fields },
    },
  },
}
const path = join(temporaryDirectory(), 'messages.json')
await Bun.write(path, JSON.stringify(file))
const rig = await cardsRigOfFile({
  timeoutMs: 300,
  windowMs: 0,
  networkA: network,
  environment: { CARDGW_NETA_MESSAGES_FILE: path, CARDGW_NETA_CONNECT_WAIT_MS: '0' },
})

/** Asks, and lets whatever it begins end. */
const ask = async (status: number, path: string, body?: unknown): Promise<string> => {
  const response = await rig.post(`/v1/transactions/${path}`, body)
  expect([path, response.status]).toEqual([path, status])
  const { id, error } = (await response.json()) as {
    id?: string
    error?: { details: { transaction_id: string } }
  }
  const of = id ?? error?.details.transaction_id ?? ''
  await rig.settled(of)
  return of
}
const card = (token: string, change: object = {}) => ({
  card_token: `tok_visa_${token}`,
  amount: 1_000,
  currency: 'BRL',
  merchant_id: 'MERCHANT000001',
  terminal_id: 'TERM01',
  ...change,
})

const endOf = async (day: string, next: string): Promise<Readonly<Record<string, unknown>>> => {
  network.endDay(day.slice(5).replace('-', ''), next.slice(5).replace('-', ''))
  for (const endMs = performance.now() + 40_000; ; await Bun.sleep(10)) {
    const path = '/v1/transactions/reconciliations'
    const response = await rig.app.call('GET', path, { key: rig.adminKey })
    const { reconciliations } = (await response.json()) as {
      reconciliations: Readonly<Record<string, unknown>>[]
    }
    const found = reconciliations.find((one) => one['day'] === day && one['status'] !== 'pending')
    if (found !== undefined) return found
    if (performance.now() > endMs) throw new Error(`waited for the end of ${day}`)
  }
}

const openDay = async () => {
  const [row] = await rig.database.sql<{ day: string; next: string }[]>`
    select day::text, (day + 1)::text as next from card_business_days where network = 'neta'`
  if (row === undefined) throw new Error('no day')
  return row
}

test('what was approved is counted alike, whatever became of it, and fees are told', async () => {
  const sold = await ask(201, 'authorize', card('approved', { capture: true }))
  await ask(200, `${sold}/refund`, { amount: 400 })
  const held = await ask(201, 'authorize', card('approved'))
  await ask(200, `${held}/increment`, { amount: 100 })
  await ask(200, `${held}/void`)
  await ask(201, 'authorize', card('partial', { accept_partial: true }))
  await ask(504, 'authorize', card('timeout'))
  await ask(504, 'authorize', card('lost'))
  await ask(201, 'authorize', card('declined_05'))
  const { currency: _, amount: __, ...verified } = card('approved')
  await ask(201, 'verify', { ...verified, currency: 'BRL' })
  const { day, next } = await openDay()
  const found = await endOf(day, next)
  expect(found).toMatchObject({
    status: 'balanced',
    // Two approved, one in part, one taken back without an answer, an increment and a verification.
    ours: { authorizations: 6, debit: { number: 1, amount: 1_000 } },
    theirs: {
      authorizations: 6,
      fees: {
        credit_processing: null,
        credit_transaction: 10,
        debit_processing: null,
        debit_transaction: 25,
      },
    },
    difference: {
      authorizations: 0,
      debit: { number: 0, amount: 0 },
      fees: {
        credit_processing: null,
        credit_transaction: 0,
        debit_processing: null,
        debit_transaction: 0,
      },
    },
  })
})

/** What was compared of the fees of sales in a day. */
const feesOfDay = async () => {
  const { day, next } = await openDay()
  const { status, ours, theirs, difference } = await endOf(day, next)
  const of = (side: unknown): number | null =>
    (side as { fees: { debit_transaction: number | null } | null }).fees?.debit_transaction ?? null
  return { status, ours: of(ours), theirs: of(theirs), difference: of(difference) }
}

test('other fees than those of the answers are a difference', async () => {
  const sales = [1_000, 2_000].map((amount) => card('approved', { capture: true, amount }))
  const ids = [await ask(201, 'authorize', sales[0]), await ask(201, 'authorize', sales[1])]
  await rig.database.sql`
    update card_movements set transaction_fee_cents = 24 where transaction_id = ${ids[0] ?? ''}
      and kind = 'debit'`
  expect(await feesOfDay()).toEqual({ status: 'different', ours: 74, theirs: 75, difference: -1 })
})

test('fees are not compared where an answer told none, or a sale was taken back', async () => {
  const sale = card('approved', { capture: true })
  const [id = ''] = [await ask(201, 'authorize', sale), await ask(201, 'authorize', sale)]
  await rig.database.sql`
    update card_movements set transaction_fee_cents = null where transaction_id = ${id}
      and kind = 'debit'`
  const unknown = { status: 'balanced', ours: null, theirs: 50, difference: null }
  expect(await feesOfDay()).toEqual(unknown)
  await ask(200, `${await ask(201, 'authorize', sale)}/void`)
  await ask(201, 'authorize', sale)
  expect(await feesOfDay()).toEqual(unknown)
})

test('another number of them is a difference', async () => {
  const id = await ask(201, 'authorize', card('approved'))
  await rig.database.sql`delete from card_movements where transaction_id = ${id}`
  const { day, next } = await openDay()
  expect(await endOf(day, next)).toMatchObject({
    status: 'different',
    difference: { authorizations: -1, debit: { number: 0, amount: 0 } },
  })
})
