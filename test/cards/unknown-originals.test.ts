import { expect, setDefaultTimeout, test } from 'bun:test'
import { cardsRigOfFile } from '../support/cards-rig.ts'
import { createScriptedNetwork } from '../support/scripted-network.ts'
import { until } from '../support/until.ts'

/* A network approves, and then says to a repeated void that it does not know what it has approved. */

setDefaultTimeout(60_000)

const network = createScriptedNetwork()
const rig = await cardsRigOfFile({ networkA: network })

type Json = Readonly<Record<string, unknown>>

const read = async (id: string) => (await (await rig.get(`/v1/transactions/${id}`)).json()) as Json
const untilAsked = (id: string) => until(async () => (await read(id))['needs_attention'] === true)
const endsOf = async (id: string) =>
  (
    await rig.database.sql<{ reverses: string; status: string }[]>`
      select reverses, status from card_reversals where transaction_id = ${id} order by id`
  ).map(({ reverses, status }) => `${reverses} ${status}`)

/** Does not decide on the first void, and does not know the original of its repeat. */
const forgetting = (code: string) =>
  network.on((request, peer) => {
    const { mti } = request
    const responseCode = mti === '0401' ? code : mti === '0400' ? '91' : '00'
    peer.answer({ responseCode, authCode: 'A00001' })
  })

test.each(['12', '21', '25', '76'])(
  'a captured payment is not voided where the repeat of its void is answered %s',
  async (code) => {
    forgetting(code)
    const { id } = await rig.authorize('tok_visa_approved', { capture: true })
    expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(202)
    await untilAsked(id)
    expect(await read(id)).toMatchObject({ status: 'captured', operation: 'reversing_void' })
    expect(await endsOf(id)).toEqual(['void expired'])
  },
)

test.each([
  ['the whole', undefined, undefined, 'void'],
  ['a part', undefined, { amount: 3_000 }, 'partial_void'],
  ['what captures left', { amount: 4_000, final: false }, { amount: 6_000 }, 'release'],
] as const)('nor is %s of an authorization', async (_, captured, body, reverses) => {
  forgetting('25')
  const { id } = await rig.authorize('tok_visa_approved')
  if (captured !== undefined) await rig.post(`/v1/transactions/${id}/capture`, captured)
  expect((await rig.post(`/v1/transactions/${id}/void`, body)).status).toBe(202)
  await untilAsked(id)
  const record = await read(id)
  expect(record).toMatchObject({ status: 'authorized', operation: `reversing_${reverses}` })
  expect(record['reversed_amount']).toBeUndefined()
  expect(await endsOf(id)).toEqual([`${reverses} expired`])
})

test('a capture that a void takes back behind the last one needs a person where it is not known', async () => {
  const stans: string[] = []
  network.on((request, peer) => {
    if (request.mti === '0200') stans.push(request.stan ?? '')
    const { mti, originalData } = request
    const isFirst = mti === '0400' && originalData?.slice(4, 10) === stans[0]
    peer.answer({ responseCode: isFirst ? '12' : '00', authCode: 'A00001' })
  })
  const { id } = await rig.authorize('tok_visa_approved')
  for (const amount of [3_000, 2_000]) {
    const response = await rig.post(`/v1/transactions/${id}/capture`, { amount, final: false })
    expect(response.status).toBe(200)
  }
  expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(200)
  expect(await rig.settled(id)).toMatchObject({ status: 'voided', needs_attention: true })
  expect(await endsOf(id)).toEqual(['capture expired', 'authorization confirmed'])
})

test('a hold that is no longer known beneath a capture that was taken back is gone', async () => {
  network.on((request, peer) => {
    const isHold = request.mti === '0400' && request.originalData?.startsWith('0100') === true
    peer.answer({ responseCode: isHold ? '25' : '00', authCode: 'A00001' })
  })
  const { id } = await rig.authorize('tok_visa_approved', { capture: true })
  expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(200)
  const record = await rig.settled(id)
  expect([record.status, record['needs_attention']]).toEqual(['voided', undefined])
  expect(await endsOf(id)).toEqual(['authorization confirmed'])
})
