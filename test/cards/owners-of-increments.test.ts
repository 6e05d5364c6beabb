import { expect, setDefaultTimeout, test } from 'bun:test'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import { authorizationBody, cardsRigOfFile } from '../support/cards-rig.ts'
import { createScriptedNetwork } from '../support/scripted-network.ts'

/* What a network approves late or twice of an increment, or of a part of an authorization. */

setDefaultTimeout(60_000)

const network = createScriptedNetwork()
const rig = await cardsRigOfFile({ timeoutMs: 1_000, windowMs: 1_400, networkA: network })

const approves = { responseCode: '00', authCode: 'A00001' } as const

type Json = Readonly<Record<string, unknown>>

const authorize = async (change: Json = {}) => {
  const body = authorizationBody('tok_visa_approved', change)
  const response = await rig.post('/v1/transactions/authorize', body)
  return (await response.json()) as Json & { readonly id: string }
}
const typesOf = async (id: string): Promise<readonly string[]> => {
  const response = await rig.get(`/v1/transactions/${id}/events`)
  const { events } = (await response.json()) as { events: readonly { type: string }[] }
  return events.map(({ type }) => type)
}
const until = async (what: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 40_000
  while (!(await what())) {
    if (performance.now() > deadline) throw new Error('did not come true in time')
    await Bun.sleep(5)
  }
}
const originalOf = ({ originalData = '' }: CardMessage) => parseOriginalData(originalData)

test.each(['000000004000', '000000010000'])(
  'a part that is taken and comes again is not taken back, though it is %s',
  async (amount) => {
    const part = { responseCode: '10', authCode: 'A00001', amount }
    let again: (() => void) | undefined
    network.on(({ mti, stan = '', rrn = '' }, peer) => {
      if (mti !== '0100') return peer.answer(approves)
      peer.answer(part)
      peer.answer(part)
      // What is told while the same is looked into is left out.
      again = () => peer.answer({ ...part, authCode: 'A00002', mti: '0110', stan, rrn })
    })
    const { id, rrn, ...record } = await authorize({ accept_partial: true })
    expect(record).toMatchObject({ status: 'authorized', amount: Number(amount) })
    const lateCount = async () => (await typesOf(id)).filter((one) => one === 'late_answer').length
    await until(async () => (await lateCount()) === 1)
    network.tell({
      mti: '0120',
      stan: '900001',
      transmissionDateTime: '1122120000',
      rrn: String(rrn),
      ...part,
    })
    await until(async () => (await typesOf(id)).includes('network_advice'))
    const captured = await rig.post(`/v1/transactions/${id}/capture`)
    expect(await captured.json()).toMatchObject({
      status: 'captured',
      captured_amount: Number(amount),
    })
    expect(await rig.reversalsOf(id)).toEqual([])
    expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(200)
    const reversals = (await rig.reversalsOf(id)).length
    again?.()
    await until(async () => (await lateCount()) === 2)
    expect(await rig.reversalsOf(id)).toHaveLength(reversals)
    expect((await typesOf(id)).filter((one) => one === 'late_authorization')).toEqual([])
  },
)

test('a part that is more than what was asked for, or nothing, is taken back', async () => {
  for (const amount of ['000000010001', '000000000000']) {
    network.on((request, peer) =>
      peer.answer(request.mti === '0100' ? { responseCode: '10', amount } : approves),
    )
    const { id } = await authorize({ accept_partial: true })
    expect(await rig.settled(id)).toMatchObject({ status: 'declined', response_code: '10' })
    expect(await rig.reversalsOf(id)).toMatchObject([{ reverses: 'authorization' }])
  }
})

test('an increment that is approved after its reversal found nothing is taken back', async () => {
  const held = new Map<string, number>()
  let send = (): void => undefined
  network.on((request, peer) => {
    const { mti, stan = '', amount } = request
    if (mti === '0100' && held.size === 0) {
      held.set(stan, Number(amount))
      peer.answer(approves)
    } else if (mti === '0100') {
      send = () => {
        held.set(stan, Number(amount))
        peer.answer({ ...approves, mti: '0110', stan, amount })
      }
    } else {
      const isKnown = held.delete(originalOf(request).stan)
      peer.answer({ responseCode: isKnown ? '00' : '25' })
      // The increment arrives at the issuer only now.
      send()
      send = () => undefined
    }
  })
  const { id } = await authorize()
  const answer = await rig.post(`/v1/transactions/${id}/increment`, { amount: 700 })
  expect(answer.status).toBe(504)
  expect(await rig.settled(id)).toMatchObject({ status: 'authorized', amount: 10_000 })
  expect([...held.values()]).toEqual([10_000])
})

test('the answer of an increment that comes twice is taken once', async () => {
  network.on((_, peer) => {
    peer.answer(approves)
    peer.answer(approves)
  })
  const { id } = await authorize()
  const answer = await rig.post(`/v1/transactions/${id}/increment`, { amount: 700 })
  expect(await answer.json()).toMatchObject({ amount: 10_700 })
  await until(async () => (await typesOf(id)).filter((one) => one === 'late_answer').length === 2)
  const voided = await rig.post(`/v1/transactions/${id}/void`)
  expect(await voided.json()).toMatchObject({ status: 'voided', amount: 10_700 })
  expect(await rig.reversalsOf(id)).toEqual([])
})

test('balances of an account are told as far as they can be read', async () => {
  const told = '1001986C0000000123450002986D000000020000' + '0057986C000000010000'
  network.on((_, peer) => peer.answer({ ...approves, additionalAmounts: told }))
  const { balances } = await authorize()
  expect(balances).toEqual([
    { kind: 'ledger', account_type: '10', currency: 'BRL', amount: 12_345 },
    { kind: 'available', account_type: '00', currency: 'BRL', amount: -20_000 },
  ])
  network.on((_, peer) => peer.answer({ ...approves, additionalAmounts: 'no balance' }))
  expect(await authorize()).not.toHaveProperty('balances')
})
