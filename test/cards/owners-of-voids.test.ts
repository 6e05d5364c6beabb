import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type CardsRig, createCardsRig } from '../support/cards-rig.ts'
import { createScriptedNetwork, type ScriptedNetwork } from '../support/scripted-network.ts'
import { until } from '../support/until.ts'

/* A void that the network refuses, and then says that it has done. */

setDefaultTimeout(60_000)

let network: ScriptedNetwork
let rig: CardsRig
beforeAll(async () => {
  network = createScriptedNetwork()
  rig = await createCardsRig({ networkA: network })
})
afterAll(() => rig[Symbol.asyncDispose]())

type Json = Readonly<Record<string, unknown>>

const authorize = async (change: Json = {}) => (await rig.authorize('tok_visa_approved', change)).id
const read = async (id: string) => (await (await rig.get(`/v1/transactions/${id}`)).json()) as Json
const sent = async (id: string) => {
  const { rrn } = await read(id)
  return network.seen.filter((one) => one.rrn === rrn)
}
const mtisOf = async (id: string) => (await sent(id)).map(({ mti }) => mti)
/** Until so many answers for which nobody waited are kept. */
const untilLate = (id: string, count: number) =>
  until(async () => {
    const response = await rig.get(`/v1/transactions/${id}/events`)
    const { events } = (await response.json()) as { events: readonly { type: string }[] }
    return events.filter(({ type }) => type === 'late_answer').length === count
  })

/** Refuses the first void with 91, and says 00 to it when it is told to, and to all that follow. */
const contradicting = () => {
  let late: (() => void) | undefined
  network.on((request, peer) => {
    if (!request.mti.startsWith('04') || late !== undefined) {
      peer.answer({ responseCode: '00', authCode: 'A00001' })
      return
    }
    const copy = { stan: request.stan, rrn: request.rrn, amount: request.amount }
    peer.answer({ responseCode: '91' })
    late = () => peer.answer({ ...copy, responseCode: '00' })
  })
  return () => late?.()
}
const ask = async (id: string, path: string, body?: Json) =>
  (await rig.post(`/v1/transactions/${id}/${path}`, body)).status

test('a void that is refused and then done is voided, by a repeat of the same void', async () => {
  const sayLate = contradicting()
  const id = await authorize()
  expect(await ask(id, 'void')).toBe(422)
  expect(await read(id)).toMatchObject({ status: 'authorized', void_error: 'declined_91' })
  sayLate()
  await until(async () => (await read(id))['status'] === 'voided')
  const [, first, second] = await sent(id)
  expect(first).toMatchObject({ mti: '0400' })
  expect(second).toMatchObject({ mti: '0401', stan: first?.stan })
  // Once more of the same changes nothing.
  sayLate()
  await untilLate(id, 2)
  expect(await mtisOf(id)).toEqual(['0100', '0400', '0401'])
  const [confirmed] = await rig.database.sql`
    select exchange::jsonb from card_events where transaction_id = ${id} and type = 'reversal_confirmed'`
  expect(confirmed?.['exchange']).toMatchObject([
    { mti: '0401', fields: { '011': first?.stan } },
    { mti: '0410', fields: { '039': '00' } },
  ])
})

test('a void that is refused and then done is voided in part, and what comes after it too', async () => {
  const sayLate = contradicting()
  const id = await authorize()
  expect(await ask(id, 'void', { amount: 3_000 })).toBe(422)
  sayLate()
  await until(async () => (await read(id))['reversed_amount'] === 3_000)
  sayLate()
  await untilLate(id, 2)
  expect(await rig.settled(id)).toMatchObject({ status: 'authorized', reversed_amount: 3_000 })
  expect(await ask(id, 'capture', { amount: 7_001 })).toBe(400)
  expect(await ask(id, 'capture', { amount: 7_000 })).toBe(200)
})

test('a void that is refused and then done is voided where it was captured', async () => {
  const sayLate = contradicting()
  const id = await authorize({ capture: true })
  expect(await ask(id, 'void')).toBe(422)
  sayLate()
  await until(async () => (await read(id))['status'] === 'voided')
  expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
})

test('a void that is refused and then done needs a person where all of it is captured by then', async () => {
  const sayLate = contradicting()
  const id = await authorize()
  expect(await ask(id, 'void', { amount: 3_000 })).toBe(422)
  expect(await ask(id, 'capture')).toBe(200)
  sayLate()
  await until(async () => (await read(id))['needs_attention'] === true)
  expect(await read(id)).toMatchObject({ status: 'captured', captured_amount: 10_000 })
  expect(await mtisOf(id)).toEqual(['0100', '0400', '0200'])
})
