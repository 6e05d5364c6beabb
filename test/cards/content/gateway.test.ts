import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CardMessage, parseOriginalData } from '#codecs/iso8583'
import { authorizationBody, type CardsRig, createCardsRig } from '../../support/cards-rig.ts'
import { createScriptedNetwork, type ScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/* The gateway with a network whose file says what its messages hold. */

let network: ScriptedNetwork
let rig: CardsRig
let seen: CardMessage[] = []

beforeAll(async () => {
  network = createScriptedNetwork()
  const directory = temporaryDirectory()
  const path = join(import.meta.dir, '../../../docs/networks/cielo-like.json')
  const [example] = JSON.parse(readFileSync(path, 'utf8')) as readonly object[]
  const file = join(directory, 'networks.json')
  const here = { host: '127.0.0.1', port: network.port(), pool_size: 1, prefixes: ['51-55'] }
  writeFileSync(file, JSON.stringify([{ ...example, ...here }]))
  const merchants = join(directory, 'merchants.json')
  const merchant = { merchant_id: 'MERCHANT000001', category: '5812', name: 'PADARIA' }
  writeFileSync(merchants, JSON.stringify([{ ...merchant, city: 'SAO PAULO' }]))
  rig = await createCardsRig({
    timeoutMs: 2_000,
    environment: {
      ...{ CARDGW_NETWORKS_FILE: file, CARDGW_MERCHANTS_FILE: merchants },
      CARDGW_NETB_PREFIXES: '60',
    },
  })
  network.on((request, peer) => {
    seen.push(Object.assign(new CardMessage(), request, { pan: undefined }))
    peer.answer({ responseCode: '00', authCode: 'A00001' })
  })
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  network.stop()
})

const post = async (body: Readonly<Record<string, unknown>>) => {
  const response = await rig.post(
    '/v1/transactions/authorize',
    authorizationBody('tok_mastercard_approved', body),
  )
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

test('sends what the file says, in the types that it says', async () => {
  seen = []
  const { status, json } = await post({})
  expect([status, json['status']]).toEqual([201, 'authorized'])
  const captured = await rig.post(`/v1/transactions/${json['id']}/capture`, { amount: 4_000 })
  expect(captured.status).toBe(200)
  expect((await rig.post(`/v1/transactions/${json['id']}/void`)).status).toBe(200)
  await rig.settled(String(json['id']))
  const [authorization, capture, ofCapture, ofAuthorization] = seen
  expect(authorization).toMatchObject({
    ...{ mti: '0100', processingCode: '003000', merchantType: '5812', entryMode: '810' },
    ...{ acquirerId: '00000123456', merchantName: 'PADARIA                SAO PAULO     BRA' },
  })
  expect(authorization?.localTime).toMatch(/^\d{6}$/)
  expect(capture).toMatchObject({ mti: '0220', amount: '000000004000', authCode: 'A00001' })
  expect(ofCapture).toMatchObject({ mti: '0400', processingCode: '003000', conditionCode: '00' })
  expect(parseOriginalData(ofCapture?.originalData ?? '')).toMatchObject({
    ...{ mti: '0220', stan: capture?.stan, acquirerId: '00000123456' },
  })
  expect(parseOriginalData(ofAuthorization?.originalData ?? '')).toMatchObject({
    ...{ mti: '0100', stan: authorization?.stan },
  })
})

test('refuses what its messages need and nobody gave, and sends nothing', async () => {
  seen = []
  expect(await post({ merchant_id: 'OTHER' })).toMatchObject({
    status: 400,
    json: { error: { code: 'MERCHANT_PROFILE_MISSING', details: { field: 'merchant_id' } } },
  })
  expect(await post({ installments: 3 })).toMatchObject({
    status: 400,
    json: { error: { code: 'FIELD_NEEDED', details: { field: 'installment_plan' } } },
  })
  expect(seen).toEqual([])
})
