import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type CardMessage, formatOriginalData } from '#codecs/iso8583'
import { standingAfter } from '../../../src/cards/reconciliation/movements.ts'
import { type CardsRig, cardsRigOfFile } from '../../support/cards-rig.ts'
import { createScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(60_000)

/* Where authorizations are sales, a void of a part is a reversal of that part in the network's totals. */

const network = createScriptedNetwork()
const path = join(temporaryDirectory(), 'messages.json')
const content = { messages: { authorization: { mti: '0200' } } }
const reconciliation = { cut_over: '00:00', wait_seconds: 0 }
await Bun.write(path, JSON.stringify({ content, reconciliation }))
const rig = await cardsRigOfFile({
  networkA: network,
  environment: { CARDGW_NETA_MESSAGES_FILE: path },
})

const answering = (first: string) =>
  network.on(({ mti }, peer) =>
    peer.answer({ responseCode: mti === '0400' ? first : '00', authCode: 'A00001' }),
  )
const voidOf = async (id: string, amount?: number): Promise<void> => {
  const response = await rig.post(
    `/v1/transactions/${id}/void`,
    amount === undefined ? undefined : { amount },
  )
  expect([200, 202]).toContain(response.status)
  await rig.settled(id)
}
const booked = async (id: string) => [
  ...(await rig.database.sql<{ kind: string; cents: number }[]>`
    select kind, amount_cents::int as cents from card_movements where transaction_id = ${id} order by id`),
]
/** The sales of the day that stand. */
const standing = async () => {
  const { sql } = rig.database
  const [{ day } = { day: '' }] = await sql<{ day: string }[]>`
    select day::text from card_business_days where network = 'neta'`
  const found: (readonly [string, bigint])[] = []
  for (let uploadedTo: bigint | null = null; ; ) {
    const of = { network: 'neta', day, currency: 'BRL', uploadedTo }
    const next = await standingAfter(sql, of)
    if (next === undefined) return found
    found.push([next.transactionId, next.cents])
    uploadedTo = next.id
  }
}

test('parts are booked one by one, and then what they left, and what stands is told', async () => {
  answering('00')
  const { id } = await rig.authorize('tok_visa_approved')
  const { id: other } = await rig.authorize('tok_visa_approved')
  await voidOf(id, 2_500)
  answering('91')
  await voidOf(id, 1_500)
  await voidOf(id, 1_500)
  const parts = [
    { kind: 'debit', cents: 10_000 },
    { kind: 'debit_reversal', cents: 2_500 },
    { kind: 'debit_reversal', cents: 1_500 },
    { kind: 'debit_reversal', cents: 1_500 },
  ]
  expect(await booked(id)).toEqual(parts)
  expect(await standing()).toEqual([
    [id, 4_500n],
    [other, 10_000n],
  ])
  await voidOf(id)
  expect(await booked(id)).toEqual([...parts, { kind: 'debit_reversal', cents: 4_500 }])
  expect(await standing()).toEqual([[other, 10_000n]])
})

const increment = async (id: string, amount: number, status: number): Promise<void> => {
  const response = await rig.post(`/v1/transactions/${id}/increment`, { amount })
  expect(response.status).toBe(status)
  await rig.settled(id)
}

test('an increment of a sale is a sale of what it adds, and is told with it', async () => {
  answering('00')
  const before = await standing()
  const { id } = await rig.authorize('tok_visa_approved')
  await increment(id, 2_000, 200)
  network.on(({ mti }, peer) => peer.answer({ responseCode: mti === '0100' ? '91' : '00' }))
  await increment(id, 700, 422)
  answering('00')
  const bookedOf = async (kind: string) =>
    (await booked(id)).filter((one) => one.kind === kind).map(({ cents }) => cents)
  expect(await bookedOf('debit')).toEqual([10_000, 2_000, 700])
  expect(await bookedOf('debit_reversal')).toEqual([700])
  await voidOf(id, 11_000)
  expect(await standing()).toEqual([...before, [id, 1_000n]])
  await voidOf(id)
  expect(await bookedOf('debit_reversal')).toEqual([700, 11_000, 1_000])
  expect(await standing()).toEqual(before)
  const { id: later } = await rig.authorize('tok_visa_approved')
  await increment(later, 2_000, 200)
  await rig.database.sql`
    update card_movements set day = day - 1 where transaction_id = ${later} and amount_cents = 10000`
  expect(await standing()).toEqual([...before, [later, 2_000n]])
})

test.each([
  ['all of it', [undefined], []],
  ['a part that an increment outweighs', [500], [1_500n, 700n]],
  ['more than the first increment', [2_100], [600n]],
  ['more than the increments, by parts', [2_100, 900], []],
  ['a part, and then what is left', [500, undefined], []],
])(
  'of increments of a sale of an earlier day what stands is told, after a void of %s',
  async (...[_, voids, left]) => {
    answering('00')
    const before = await standing()
    const { id } = await rig.authorize('tok_visa_approved')
    await increment(id, 2_000, 200)
    network.on(({ mti }, peer) => peer.answer({ responseCode: mti === '0100' ? '91' : '00' }))
    await increment(id, 400, 422)
    answering('00')
    await increment(id, 700, 200)
    await rig.database.sql`
    update card_movements set day = day - 1 where transaction_id = ${id} and amount_cents = 10000`
    for (const amount of voids) await voidOf(id, amount)
    expect(await standing()).toEqual([...before, ...left.map((cents) => [id, cents] as const)])
  },
)

const tell = async (message: Partial<CardMessage>): Promise<void> => {
  const before = network.answers.length
  network.tell({ currency: '986', amount: '000000010000', responseCode: '00', ...message })
  await until(() => network.answers.length > before)
  expect(network.answers.at(-1)?.responseCode).toBe('00')
}

test('a sale that the network has reversed of its own accord is taken back in the book, once', async () => {
  answering('00')
  const { id, rrn } = await rig.authorize('tok_visa_approved')
  await voidOf(id, 2_500)
  const reversal = { rrn: String(rrn), stan: '900001', transmissionDateTime: '1122120000' }
  await tell({ ...reversal, mti: '0420' })
  await tell({ ...reversal, mti: '0421' })
  expect((await rig.settled(id)).status).toBe('voided')
  expect(await booked(id)).toEqual([
    { kind: 'debit', cents: 10_000 },
    { kind: 'debit_reversal', cents: 2_500 },
    { kind: 'debit_reversal', cents: 7_500 },
  ])
})

test('a sale that the network has booked is the one in the book, or somebody’s business', async () => {
  answering('00')
  const { id, rrn, stan } = await rig.authorize('tok_visa_approved')
  const transmissionDateTime = network.seen.find((one) => one.rrn === rrn)?.transmissionDateTime
  const ids = { acquirerId: '', forwarderId: '' }
  const sale = {
    mti: '0200',
    stan: String(stan),
    transmissionDateTime: transmissionDateTime ?? '',
    ...ids,
  }
  const booking = { mti: '0220', rrn: String(rrn), transmissionDateTime: '1122120000' } as const
  await tell({ ...booking, stan: '900010' })
  await tell({ ...booking, stan: '900011', originalData: formatOriginalData(sale) })
  expect((await rig.settled(id))['needs_attention']).toBeUndefined()
  await tell({ ...booking, stan: '900012', amount: '000000009999' })
  expect((await rig.settled(id))['needs_attention']).toBe(true)
})

test('a booking that names the sale tells of what stands of it, or of its capture', async () => {
  answering('00')
  const named = async (
    amount: string,
    { rrn, stan }: Awaited<ReturnType<CardsRig['authorize']>>,
  ) => {
    const sent = network.seen.find((one) => one.rrn === rrn)?.transmissionDateTime ?? ''
    const ids = { acquirerId: '', forwarderId: '' }
    const sale = { mti: '0200', stan: String(stan), transmissionDateTime: sent, ...ids }
    const numbers = {
      rrn: String(rrn),
      stan: `9001${named.count++}`,
      transmissionDateTime: '1122120000',
    }
    await tell({ mti: '0220', ...numbers, originalData: formatOriginalData(sale), amount })
  }
  named.count = 10
  const needsAttention = async ({ id }: { id: string }) =>
    (await rig.settled(id))['needs_attention'] === true
  const voided = await rig.authorize('tok_visa_approved')
  await voidOf(voided.id, 2_500)
  await named('000000007500', voided)
  expect(await needsAttention(voided)).toBe(false)
  const captured = await rig.authorize('tok_visa_approved')
  const response = await rig.post(`/v1/transactions/${captured.id}/capture`, { amount: 6_000 })
  expect(response.status).toBe(200)
  await named('000000006000', captured)
  expect(await needsAttention(captured)).toBe(false)
  await named('000000010000', captured)
  expect(await needsAttention(captured)).toBe(true)
})
