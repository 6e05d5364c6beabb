import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createStandIn, type StandIn } from '../support/stand-in.ts'

/* A network that refuses the repeat of an advice may have done the first, whose answer nobody heard: it is taken back. */

setDefaultTimeout(60_000)

let network: StandIn['network']
let rig: StandIn['rig']
let away: StandIn['away']
beforeAll(async () => {
  ;({ network, rig, away } = await createStandIn(['authorization', 'capture', 'refund'], 200))
})
afterAll(() => rig[Symbol.asyncDispose]())

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

test('and what it does not know then was never done', async () => {
  network.on(({ mti }, peer) => {
    if (mti === '0220') return
    const codes: Readonly<Record<string, string>> = { '0221': '51', '0400': '25', '0401': '25' }
    peer.answer({ responseCode: codes[mti] ?? '00', authCode: 'A00001' })
  })
  const { id } = await rig.authorize('tok_visa_approved', { capture: true })
  await away(true)
  expect((await rig.post(`/v1/transactions/${id}/refund`)).status).toBe(202)
  await away(false)
  const record = await rig.settled(id)
  expect([record.status, record['needs_attention']]).toEqual(['captured', undefined])
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
