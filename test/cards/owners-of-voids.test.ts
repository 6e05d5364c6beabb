import { expect, setDefaultTimeout, test } from 'bun:test'
import { cardsRigOfFile } from '../support/cards-rig.ts'
import { createScriptedNetwork } from '../support/scripted-network.ts'
import { until } from '../support/until.ts'

/* A void that the network has not decided on, and one that it refuses and then says that it has done. */

setDefaultTimeout(60_000)

const network = createScriptedNetwork()
const rig = await cardsRigOfFile({ networkA: network })

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

/** Refuses the first void with 57, and says 00 to it when it is told to, and to all that follow. */
const contradicting = () => {
  let late: (() => void) | undefined
  network.on((request, peer) => {
    if (!request.mti.startsWith('04') || late !== undefined) {
      peer.answer({ responseCode: '00', authCode: 'A00001' })
      return
    }
    const copy = { stan: request.stan, rrn: request.rrn, amount: request.amount }
    peer.answer({ responseCode: '57' })
    late = () => peer.answer({ ...copy, responseCode: '00' })
  })
  return () => late?.()
}
const ask = async (id: string, path: string, body?: Json) =>
  (await rig.post(`/v1/transactions/${id}/${path}`, body)).status

/** Does not decide on the first void, and says 00 to all that follow. */
const undecidedOnce = (responseCode: string) => {
  let isDecided = false
  network.on((request, peer) => {
    const isFirst = request.mti.startsWith('04') && !isDecided
    isDecided ||= isFirst
    peer.answer({ responseCode: isFirst ? responseCode : '00', authCode: 'A00001' })
  })
}
const askFor = async (id: string, path: string, body?: Json) => {
  const response = await rig.post(`/v1/transactions/${id}/${path}`, body)
  return { status: response.status, record: (await response.json()) as Json }
}

test.each(['68', '90', '91', '96', '09', '10', '85', 'XX'])(
  'a void that is answered %s is not decided: it is stored before its caller knows, and repeated',
  async (code) => {
    undecidedOnce(code)
    const id = await authorize()
    const { status, record } = await askFor(id, 'void')
    expect([status, record]).toMatchObject([
      202,
      { status: 'authorized', operation: 'reversing_void', void_error: `undecided_${code}` },
    ])
    // Whoever is killed now, another goes on with it.
    const [stored] = await rig.database.sql`
      select stan, transmission from card_reversals where transaction_id = ${id}`
    expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
    const [, first, second] = await sent(id)
    expect([first?.mti, second?.mti]).toEqual(['0400', '0401'])
    expect([second?.stan, second?.transmissionDateTime]).toEqual([
      first?.stan,
      first?.transmissionDateTime,
    ])
    expect(stored).toEqual({ stan: first?.stan, transmission: first?.transmissionDateTime })
    const events = await rig.database.sql`
      select data from card_events where transaction_id = ${id} and type = 'void_unknown'`
    expect(events).toMatchObject([{ data: { reason: 'undecided', response_code: code } }])
  },
)

test('a void of a part is not decided either', async () => {
  undecidedOnce('91')
  const id = await authorize()
  expect(await askFor(id, 'void', { amount: 3_000 })).toMatchObject({
    status: 202,
    record: { operation: 'reversing_partial_void' },
  })
  expect(await rig.settled(id)).toMatchObject({ status: 'authorized', reversed_amount: 3_000 })
  expect(await mtisOf(id)).toEqual(['0100', '0400', '0401'])
})

test('nor is one of what captures have left', async () => {
  undecidedOnce('96')
  const id = await authorize()
  expect(await ask(id, 'capture', { amount: 4_000, final: false })).toBe(200)
  expect(await askFor(id, 'void', { amount: 6_000 })).toMatchObject({
    status: 202,
    record: { operation: 'reversing_release' },
  })
  expect(await rig.settled(id)).toMatchObject({ status: 'captured', reversed_amount: 6_000 })
})

test('nor one of what is captured: the hold beneath it goes too', async () => {
  undecidedOnce('68')
  const id = await authorize({ capture: true })
  expect((await askFor(id, 'void')).status).toBe(202)
  expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
  expect(await mtisOf(id)).toEqual(['0100', '0200', '0400', '0401', '0400'])
})

test('an answer that says undecided, and then done, counts once', async () => {
  let say: (() => void) | undefined
  network.on((request, peer) => {
    const isFirst = request.mti === '0400'
    const copy = { stan: request.stan, rrn: request.rrn, amount: request.amount }
    peer.answer({ responseCode: isFirst ? '91' : '00', authCode: 'A00001' })
    if (isFirst) say = () => peer.answer({ ...copy, responseCode: '00' })
  })
  const id = await authorize()
  expect((await askFor(id, 'void', { amount: 3_000 })).status).toBe(202)
  say?.()
  await untilLate(id, 1)
  expect(await rig.settled(id)).toMatchObject({ status: 'authorized', reversed_amount: 3_000 })
})

test('a void that is refused and then done is voided, by a repeat of the same void', async () => {
  const sayLate = contradicting()
  const id = await authorize()
  expect(await ask(id, 'void')).toBe(422)
  expect(await read(id)).toMatchObject({ status: 'authorized', void_error: 'declined_57' })
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

test('a void that is refused and then done needs a person at once where something else is being reversed, however long', async () => {
  const sayLate = contradicting()
  const id = await authorize()
  expect(await ask(id, 'void')).toBe(422)
  // Another amount than was asked for is taken back, which the network does not decide on.
  let decides = '96'
  network.on(({ mti }, peer) =>
    peer.answer(
      mti === '0200'
        ? { responseCode: '00', authCode: 'A00001', amount: '000000006000' }
        : { responseCode: decides },
    ),
  )
  expect(await ask(id, 'capture')).toBe(502)
  expect(await read(id)).toMatchObject({ operation: 'reversing_capture' })
  sayLate()
  await until(async () => (await read(id))['needs_attention'] === true)
  expect(await read(id)).toMatchObject({ operation: 'reversing_capture' })
  decides = '00'
  expect(await rig.settled(id)).toMatchObject({ status: 'authorized', needs_attention: true })
})

test('a void that is refused and then done needs nobody where the next one is being repeated', async () => {
  const sayLate = contradicting()
  const id = await authorize()
  expect(await ask(id, 'void')).toBe(422)
  let decides = '96'
  network.on((_, peer) => peer.answer({ responseCode: decides }))
  expect(await ask(id, 'void')).toBe(202)
  sayLate()
  await untilLate(id, 1)
  decides = '00'
  const record = await rig.settled(id)
  expect([record.status, record['needs_attention']]).toEqual(['voided', undefined])
})
