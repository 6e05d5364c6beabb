import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type CardsRig, createCardsRig } from '../support/cards-rig.ts'
import { createScriptedNetwork, type ScriptedNetwork } from '../support/scripted-network.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

/* A network that refuses the repeat of an advice may have done the first, whose answer nobody heard: it is taken back. */

setDefaultTimeout(60_000)

let network: ScriptedNetwork
let rig: CardsRig
beforeAll(async () => {
  network = createScriptedNetwork()
  const path = join(temporaryDirectory(), 'messages.json')
  const operations = ['authorization', 'capture', 'refund']
  await Bun.write(path, JSON.stringify({ advices: { operations, floor_limits: { BRL: 10_000 } } }))
  const environment = { CARDGW_NETA_MESSAGES_FILE: path, CARDGW_NETA_CONNECT_WAIT_MS: '0' }
  rig = await createCardsRig({ networkA: network, timeoutMs: 200, environment })
})
afterAll(() => rig[Symbol.asyncDispose]())

const away = async (isAway: boolean): Promise<void> => {
  network.ask(isAway ? '002' : '001')
  const isDown = () => rig.networks.byName('neta')?.health().connectionsUp === 0
  await until(() => isDown() === isAway)
}
const sentFor = (rrn: unknown) => network.seen.filter((one) => one.rrn === rrn)

/** Is silent to the first sending of an advice, and says this to its repeat. */
const answering = (first: string, responseCode: string): void =>
  network.on(({ mti }, peer) => {
    if (mti === first) return
    const isRepeat = mti[2] === '2' && mti.endsWith('1')
    peer.answer({ responseCode: isRepeat ? responseCode : '00', authCode: 'A00001' })
  })

test.each([
  ['capture', false, { status: 'authorized', capture_error: 'declined_51' }],
  ['refund', true, { status: 'captured', captured_amount: 10_000, refund_error: 'declined_51' }],
] as const)('of a %s', async (operation, capture, expected) => {
  answering('0220', '51')
  const { id, rrn } = await rig.authorize('tok_visa_approved', { capture })
  await away(true)
  const path = `/v1/transactions/${id}/${operation}`
  expect((await rig.post(path, { amount: 4_000 })).status).toBe(202)
  await away(false)
  expect(await rig.settled(id)).toMatchObject(expected)
  const [advice, repeat, reversal, ...more] = sentFor(rrn).slice(capture ? 2 : 1)
  expect([advice?.mti, repeat?.mti, reversal?.mti, more]).toEqual(['0220', '0221', '0400', []])
  const named = `0220${advice?.stan}${advice?.transmissionDateTime}`
  expect(reversal?.originalData?.slice(0, 20)).toBe(named)
  expect(reversal?.amount).toBe('000000004000')
})

test('of an authorization, whose merchant was told yes', async () => {
  answering('0120', '51')
  await away(true)
  const { id, rrn } = await rig.authorize('tok_visa_approved')
  await away(false)
  expect(await rig.settled(id)).toMatchObject({
    status: 'declined',
    reason: 'advice_refused',
    needs_attention: true,
  })
  const [advice, , reversal] = sentFor(rrn)
  expect(sentFor(rrn).map(({ mti }) => mti)).toEqual(['0120', '0121', '0400'])
  expect(reversal?.originalData?.slice(0, 10)).toBe(`0120${advice?.stan}`)
})

test('one that is refused at once is certain: nothing is taken back', async () => {
  network.on(({ mti }, peer) => peer.answer({ responseCode: mti === '0220' ? '51' : '00' }))
  const { id, rrn } = await rig.authorize('tok_visa_approved')
  await away(true)
  expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(202)
  await away(false)
  expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
  expect(sentFor(rrn).map(({ mti }) => mti)).toEqual(['0100', '0220'])
})
