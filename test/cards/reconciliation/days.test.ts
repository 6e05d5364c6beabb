import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../support/card-network.ts'
import { cardsRigOfFile } from '../../support/cards-rig.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/* The business days of a network that ends them itself, over real sockets: what we booked is what it has booked. */

const path = join(temporaryDirectory(), 'messages.json')
const reconciliation = { cut_over: 'network', wait_seconds: 0 }
await Bun.write(path, JSON.stringify({ reconciliation }))
const environment = { CARDGW_NETA_MESSAGES_FILE: path }
const rig = await cardsRigOfFile({ timeoutMs: 300, windowMs: 0, environment })

type Sum = { readonly number: number | null; readonly amount: number | null }
type Reconciliation = Readonly<
  Record<'ours' | 'theirs' | 'difference', Record<string, Sum> | null>
> & {
  readonly id: string
  readonly day: string
  readonly status: string
  readonly attempts: number
}

const list = async (query = ''): Promise<readonly Reconciliation[]> => {
  const path = `/v1/transactions/reconciliations${query}`
  const response = await rig.app.call('GET', path, { key: rig.adminKey })
  return ((await response.json()) as { readonly reconciliations: readonly Reconciliation[] })
    .reconciliations
}

/** Moves a date by a number of days. */
const later = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
const mmdd = (day: string): string => day.slice(5).replace('-', '')

const openDay = async (): Promise<string | undefined> => {
  const [row] = await rig.database
    .sql`select day::text from card_business_days where network = 'neta'`
  return row?.['day']
}

/** Looks until there is something. */
const eventually = async <T>(look: () => Promise<T | undefined>, what: string): Promise<T> => {
  const deadline = performance.now() + 40_000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`waited for ${what}`)
    await Bun.sleep(5)
  }
}

/** The network ends its day, and the comparison of it is waited for. */
const ended = async (): Promise<Reconciliation> => {
  const day = await eventually(openDay, 'the first day being open')
  rig.simulators[0].endDay(mmdd(day), mmdd(later(day, 1)))
  const found = await eventually(
    async () => (await list()).find((one) => one.day === day && one.status !== 'pending'),
    `the reconciliation of ${day}`,
  )
  expect(await openDay()).toBe(later(day, 1))
  return found
}

const pay = (path: string, body?: unknown) => rig.post(`/v1/transactions/${path}`, body)

test('what was captured, given back, taken back and never answered is in both books alike', async () => {
  const { id: captured } = await rig.authorize('tok_visa_approved', { capture: true })
  expect((await pay(`${captured}/refund`, { amount: 4_000 })).status).toBe(200)
  const { id: parts } = await rig.authorize('tok_visa_approved', { amount: 20_000 })
  expect((await pay(`${parts}/capture`, { amount: 500, final: false })).status).toBe(200)
  expect((await pay(`${parts}/capture`, { amount: 700 })).status).toBe(200)
  expect((await pay(`${parts}/void`)).status).toBe(200)
  await rig.settled(parts)
  const { id: silent } = await rig.authorize('tok_visa_capture_timeout')
  expect((await pay(`${silent}/capture`)).status).toBe(504)
  await rig.settled(silent)
  const { id: refused } = await rig.authorize('tok_visa_capture_declined')
  expect((await pay(`${refused}/capture`)).status).toBe(422)
  const given = await rig.authorize('tok_visa_refund_timeout', { amount: 300, capture: true })
  expect((await pay(`${given.id}/refund`)).status).toBe(504)
  await rig.settled(given.id)
  const { id: held } = await rig.authorize('tok_visa_approved')
  expect((await pay(`${held}/void`)).status).toBe(200)
  const found = await ended()
  expect(found).toMatchObject({
    network: 'neta',
    currency: 'BRL',
    status: 'balanced',
    attempts: 1,
    ours: {
      debit: { number: 5, amount: 10_000 + 500 + 700 + 10_000 + 300 },
      debit_reversal: { number: 3, amount: 500 + 700 + 10_000 },
      credit: { number: 2, amount: 4_000 + 300 },
      credit_reversal: { number: 1, amount: 300 },
      net: 10_000 + 300 - 4_000,
    },
    response_code: '00',
    settlement_code: '1',
    resolved_at: null,
  })
  const { authorizations, fees, ...differences } = found.difference ?? {}
  expect([authorizations, fees] as unknown).toEqual([null, null])
  for (const sum of Object.values(differences)) expect(sum).toEqual({ number: 0, amount: 0 })
})

test('a day in which nothing moved is compared, too, and each in its currencies', async () => {
  expect((await ended()).theirs?.['debit']).toEqual({ number: 0, amount: 0 })
  await rig.authorize('tok_visa_approved', { capture: true, currency: 'USD', amount: 800 })
  await rig.authorize('tok_visa_approved', { capture: true, amount: 900 })
  const { day } = await ended()
  await eventually(async () => {
    const ofDay = (await list('?status=balanced')).filter((one) => one.day === day)
    return ofDay.length === 2 ? ofDay : undefined
  }, 'both currencies')
  const amounts = (await list()).filter((one) => one.day === day).map(({ ours }) => ours?.['debit'])
  expect(amounts).toEqual(
    expect.arrayContaining([
      { number: 1, amount: 800 },
      { number: 1, amount: 900 },
    ]),
  )
})

test('a cut-over that is told again ends nothing', async () => {
  const { day } = await ended()
  rig.simulators[0].endDay(mmdd(day), mmdd(later(day, 1)))
  const answers = () => rig.simulators[0].statistics().received['0810']
  const before = answers()
  rig.simulators[0].ask('201')
  await until(() => answers() !== before, 'the answer')
  expect(await openDay()).toBe(later(day, 1))
})

test('a difference is shown with its movements, until somebody has seen to it', async () => {
  const { id } = await rig.authorize('tok_visa_approved', { capture: true, amount: 1_234 })
  const { sql } = rig.database
  await sql`delete from card_movements where transaction_id = ${id}`
  const kept = await rig.authorize('tok_visa_approved', { capture: true, amount: 111 })
  const found = await ended()
  expect(found).toMatchObject({
    status: 'different',
    ours: { debit: { number: 1, amount: 111 } },
    theirs: { debit: { number: 2, amount: 1_345 } },
    difference: { debit: { number: -1, amount: -1_234 }, credit: { number: 0, amount: 0 } },
    response_code: '95',
    settlement_code: '2',
  })
  const path = `/v1/transactions/reconciliations/${found.id}`
  const page = await rig.app.call('GET', `${path}/movements`, { key: rig.adminKey })
  expect(await page.json()).toMatchObject({
    movements: [{ transaction_id: kept.id, kind: 'debit', amount: 111, rrn: kept['rrn'] }],
    next_cursor: null,
  })
  const resolve = () =>
    rig.app.call('POST', `${path}/resolve`, {
      key: rig.adminKey,
      body: { reason: 'the network books it tomorrow' },
    })
  expect((await resolve()).status).toBe(200)
  expect((await resolve()).status).toBe(404)
  const [again] = (await list('?status=different')).filter((one) => one.id === found.id)
  expect(again).toMatchObject({ resolved_reason: 'the network books it tomorrow' })
})

test('without an answer it is sent again, as 0501 with the same numbers and totals', async () => {
  await rig.authorize('tok_visa_approved', { capture: true, amount: 222 })
  const { received: before } = rig.simulators[0].statistics()
  rig.simulators[0].setFaults({ no_answer: 1 })
  const comparing = ended()
  const repeats = () => rig.simulators[0].statistics().received['0501'] ?? 0
  await until(() => repeats() > (before['0501'] ?? 0), 'a repeat')
  rig.simulators[0].setFaults({})
  const found = await comparing
  expect(found).toMatchObject({ status: 'balanced', ours: { debit: { number: 1, amount: 222 } } })
  expect(found.attempts).toBeGreaterThan(1)
  expect(rig.simulators[0].statistics().received['0500']).toBe((before['0500'] ?? 0) + 1)
})
