import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CardMessage, parseOriginalData } from '#codecs/iso8583'
import { authorizationBody, createCardsRig } from '../../support/cards-rig.ts'
import { createScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/* The gateway with a network whose file says what its messages hold. */

let seen: CardMessage[] = []

const network = createScriptedNetwork()
const directory = temporaryDirectory()
const path = join(import.meta.dir, '../../../docs/networks/cielo-like.json')
const [example] = JSON.parse(readFileSync(path, 'utf8')) as readonly object[]
const file = join(directory, 'networks.json')
const here = { host: '127.0.0.1', port: network.port(), pool_size: 1, prefixes: ['51-55'] }
writeFileSync(file, JSON.stringify([{ ...example, ...here }]))
const merchants = join(directory, 'merchants.json')
const merchant = { merchant_id: 'MERCHANT000001', category: '5812', name: 'PADARIA' }
writeFileSync(merchants, JSON.stringify([{ ...merchant, city: 'SAO PAULO' }]))
const rig = await createCardsRig({
  timeoutMs: 2_000,
  environment: {
    CARDGW_NETWORKS_FILE: file,
    CARDGW_MERCHANTS_FILE: merchants,
    CARDGW_NETB_PREFIXES: '60',
  },
})
network.on((request, peer) => {
  const additionalData = request.additionalData?.slice()
  seen.push(Object.assign(new CardMessage(), request, { pan: undefined, additionalData }))
  const more = new Map([[63, 'MCC0000421123']])
  peer.answer({ responseCode: '00', authCode: 'A00001', more })
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
    mti: '0100',
    processingCode: '003000',
    merchantType: '5812',
    entryMode: '810',
    acquirerId: '00000123456',
    merchantName: 'PADARIA                SAO PAULO     BRA',
  })
  expect(authorization?.localTime).toMatch(/^\d{6}$/)
  expect(capture).toMatchObject({ mti: '0220', amount: '000000004000', authCode: 'A00001' })
  expect(ofCapture).toMatchObject({ mti: '0400', processingCode: '003000', conditionCode: '00' })
  expect(parseOriginalData(ofCapture?.originalData ?? '')).toMatchObject({
    mti: '0220',
    stan: capture?.stan,
    acquirerId: '00000123456',
  })
  expect(parseOriginalData(ofAuthorization?.originalData ?? '')).toMatchObject({
    mti: '0100',
    stan: authorization?.stan,
  })
})

const cavv = 'kBMGd0aSf0mHs0Qk0Ak0AAAAAAA='
const ecommerce = {
  entry: 'ecommerce',
  installments: 6,
  installment_plan: 'merchant',
  soft_descriptor: 'PADARIA*PEDIDO 42',
  reference: 'order-4711',
  three_ds: { eci: '02', cavv, ds_transaction_id: '8f3e5b1a-2c4d-4e6f-8a9b-0c1d2e3f4a5b' },
}
const textOf = (value: string | Uint8Array | undefined) => Buffer.from(value ?? []).toString()

test('sends what the request gives, keeps what the answer brings, and stores no secret', async () => {
  seen = []
  const { status, json } = await post(ecommerce)
  expect([status, json]).toMatchObject([
    201,
    {
      status: 'authorized',
      reference: 'order-4711',
      entry: 'ecommerce',
      installments: 6,
      installment_plan: 'merchant',
      soft_descriptor: 'PADARIA*PEDIDO 42',
      eci: '02',
      network_data: { trace: 'MCC000042', settlement: '1123' },
    },
  ])
  const [authorization] = seen
  expect(authorization).toMatchObject({ entryMode: '810', expirationDate: '4912' })
  expect(authorization?.merchantName).toStartWith('PADARIA*PEDIDO 42      SAO PAULO')
  expect(textOf(authorization?.more?.get(112))).toBe('0010042106')
  expect(textOf(authorization?.additionalData)).toBe(
    `T420701032124328${cavv}66450101202368f3e5b1a-2c4d-4e6f-8a9b-0c1d2e3f4a5b`,
  )
  const [{ everything = '' } = {}] = await rig.database.sql<{ everything: string }[]>`
    select (select json_agg(t)::text from card_transactions t) ||
      (select json_agg(e)::text from card_events e) as everything`
  expect(everything).not.toContain(cavv)
  expect((await rig.post(`/v1/transactions/${json['id']}/capture`)).status).toBe(200)
  expect(textOf(seen[1]?.additionalData)).toContain('MCC0000421123')
  expect(seen[1]).toMatchObject({ mti: '0220', entryMode: '810' })
})

test('a payment is found by its reference, its RRN, and its STAN or amount of a day', async () => {
  const { json } = await post({ reference: 'order-4712' })
  const idsOf = async (query: string) => {
    const response = await rig.get(`/v1/transactions?${query}`)
    const { transactions } = (await response.json()) as { transactions: readonly { id: string }[] }
    return transactions.map(({ id }) => id)
  }
  const hour = 3_600_000
  const around = (ms: number) => new Date(Date.parse(String(json['created_at'])) + ms).toISOString()
  expect(await idsOf('reference=order-4712')).toEqual([String(json['id'])])
  expect(await idsOf('reference=order-4713')).toEqual([])
  expect(await idsOf(`rrn=${json['rrn']}`)).toEqual([String(json['id'])])
  const day = `stan=${json['stan']}&from=${around(-hour)}&to=`
  expect(await idsOf(day + around(23 * hour))).toEqual([String(json['id'])])
  expect(await idsOf(`stan=${json['stan']}&from=${around(hour)}&to=${around(2 * hour)}`)).toEqual(
    [],
  )
  for (const query of [day + around(23 * hour + 1), `stan=${json['stan']}`]) {
    expect((await rig.get(`/v1/transactions?${query}`)).status).toBe(400)
  }
  const { amount } = json as { amount: number }
  const those = (query: string) => idsOf(`${query}&from=${around(-hour)}&to=${around(hour)}`)
  for (const [query, isFound] of [
    [`amount=${amount}`, true],
    [`amount=${amount + 1}`, false],
    [`amount_from=${amount}`, true],
    [`amount_from=${amount + 1}`, false],
    [`amount_to=${amount}&amount_from=0`, true],
    [`amount_to=${amount - 1}`, false],
  ] as const) {
    expect([query, (await those(query)).includes(String(json['id']))]).toEqual([query, isFound])
  }
  expect((await rig.get(`/v1/transactions?amount=${amount}`)).status).toBe(400)
  for (const query of ['stan=1', 'rrn=1', 'amount=1.00', 'amount=1234567890123']) {
    expect((await rig.get(`/v1/transactions?${query}`)).status).toBe(400)
  }
})

test.each([
  [{ three_ds: { eci: '07' } }, 'FIELD_NOT_CARRIED', 'three_ds.eci'],
  [{ entry: 'ecommerce', three_ds: { eci: '07' } }, 'FIELD_NOT_CARRIED', 'three_ds.eci'],
  [{ entry: 'ecommerce', icc_data: '9F260111' }, 'FIELD_NOT_CARRIED', 'icc_data'],
  [{ installments: 1, installment_plan: 'issuer' }, 'VALUE_REFUSED', 'installment_plan'],
  [{ icc_data: '5A084000000000000002' }, 'VALUE_REFUSED', 'icc_data'],
  [{ icc_data: '700A5A084000000000000002' }, 'VALUE_REFUSED', 'icc_data'],
  [{ icc_data: `005A0840000000000000029F104E${'00'.repeat(78)}` }, 'VALUE_REFUSED', 'icc_data'],
  [{ icc_data: '7003414141' }, 'VALUE_REFUSED', 'icc_data'],
  [{ icc_data: '9F2' }, 'VALIDATION_FAILED', 'icc_data'],
  [{ reference: 'order 4000000000000002' }, 'VALIDATION_FAILED', 'reference'],
  [{ soft_descriptor: 'PAD\u00c1RIA' }, 'VALIDATION_FAILED', 'soft_descriptor'],
  [{ three_ds: { eci: '05', cavv: 'AAAA' } }, 'VALIDATION_FAILED', 'three_ds'],
  [{ three_ds: { eci: '05', xid: '1' } }, 'VALIDATION_FAILED', 'xid'],
  [{ entry: 'carrier_pigeon' }, 'VALIDATION_FAILED', 'entry'],
  [{ stored_credential: { initiator: 'merchant' } }, 'VALIDATION_FAILED', 'stored_credential'],
])('%j is refused, and nothing is sent', async (body, code, field) => {
  seen = []
  expect(await post(body)).toMatchObject({
    status: code === 'FIELD_NOT_CARRIED' ? 422 : 400,
    json: { error: { code, details: { field } } },
  })
  expect(seen).toEqual([])
})

test('a network without such a file carries none of it', async () => {
  for (const body of [
    { entry: 'chip' },
    { soft_descriptor: 'LOJA' },
    { three_ds: { eci: '05' } },
  ]) {
    const request = authorizationBody('tok_visa_approved', body)
    const response = await rig.post('/v1/transactions/authorize', request)
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { error: { code: 'FIELD_NOT_CARRIED' } },
    ])
  }
  expect((await rig.authorize('tok_visa_approved', { reference: 'order-1' }))['reference']).toBe(
    'order-1',
  )
})

test('refuses what its messages need and nobody gave, and sends nothing', async () => {
  seen = []
  expect(await post({ merchant_id: 'OTHER' })).toMatchObject({
    status: 422,
    json: { error: { code: 'MERCHANT_PROFILE_MISSING', details: { field: 'merchant_id' } } },
  })
  expect(await post({ installments: 3 })).toMatchObject({
    status: 422,
    json: { error: { code: 'FIELD_NEEDED', details: { field: 'installment_plan' } } },
  })
  expect(seen).toEqual([])
})

test('refuses to take parts where the file has no place to say so', async () => {
  seen = []
  const { status, json } = await post({ accept_partial: true })
  expect([status, json['error']]).toMatchObject([
    422,
    { code: 'FIELD_NOT_CARRIED', details: { field: 'accept_partial' } },
  ])
  expect(seen).toEqual([])
  expect((await post({ accept_partial: false })).status).toBe(201)
})
