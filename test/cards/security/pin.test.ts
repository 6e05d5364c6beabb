import { expect, setDefaultTimeout, test } from 'bun:test'
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseNetwork } from '../../../src/cards/networks/definitions.ts'
import { testTokens } from '../../../src/simulators/card-network/index.ts'
import { authorizationBody, cardsRigOfFile } from '../../support/cards-rig.ts'
import { createScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/* A PIN goes from the key of its source to the key of the network, and nowhere else. */

const posKey = '0123456789ABCDEFFEDCBA9876543210'
const networkKey = 'C2B5A7D3E9F1086423579BDF13254686'
const visa = Buffer.from(testTokens.get('tok_visa_approved') ?? []).toString()

/** Triple DES of one block by the library of the machine, not ours. */
const des = (key: string, block: Buffer, isSealed: boolean): Buffer => {
  const bytes = Buffer.from(key + key.slice(0, 16), 'hex')
  const make = isSealed ? createDecipheriv : createCipheriv
  const cipher = make('des-ede3-cbc', bytes, Buffer.alloc(8))
  cipher.setAutoPadding(false)
  return Buffer.concat([cipher.update(block), cipher.final()])
}

/** ISO 9564 format 0, in clear. */
const clear = (pin: string, pan = visa): Buffer => {
  const digits = Buffer.from(`0${pin.length}${pin}`.padEnd(16, 'F'), 'hex')
  const account = Buffer.from(`0000${pan.slice(-13, -1)}`, 'hex')
  return Buffer.from(digits.map((byte, at) => byte ^ account[at]!))
}
const sealed = (pin: string, pan = visa): string =>
  des(posKey, clear(pin, pan), false).toString('hex').toUpperCase()

const blocks: (string | undefined)[] = []

const keyFile = (name: string, key: string): string => {
  const path = join(temporaryDirectory(), name)
  writeFileSync(path, key)
  return path
}

const messages = () => ({
  content: { fields: {}, messages: { authorization: { fields: { 52: { from: 'pin_block' } } } } },
  security: {
    pin: {
      key_path: keyFile('network', networkKey),
      sources: {
        pos: { key_path: keyFile('pos', posKey) },
        broken: { key_path: keyFile('broken', 'no key') },
      },
    },
  },
})

const network = createScriptedNetwork()
const file = join(temporaryDirectory(), 'messages.json')
writeFileSync(file, JSON.stringify(messages()))
const rig = await cardsRigOfFile({
  networkA: network,
  environment: { CARDGW_NETA_MESSAGES_FILE: file, CARDGW_SECURITY_MODULE: 'software' },
})
network.on((request, peer) => {
  blocks.push(request.pinBlock && Buffer.from(request.pinBlock).toString('hex').toUpperCase())
  peer.answer({ responseCode: '00', authCode: 'A00001', pinBlock: undefined })
})

const authorize = async (pin: unknown, token = 'tok_visa_approved') => {
  const response = await rig.post('/v1/transactions/authorize', authorizationBody(token, { pin }))
  const body = (await response.json()) as {
    readonly id: string
    readonly error?: { readonly code: string; readonly details: Readonly<Record<string, unknown>> }
  }
  return { status: response.status, body }
}

test('it goes out under the key of the network, once, and is in no table', async () => {
  const block = sealed('1234')
  const { status, body } = await authorize({ key: 'pos', block: block.toLowerCase() })
  expect(status).toBe(201)
  const [sent = ''] = blocks
  expect(sent).not.toBe(block)
  expect(des(networkKey, Buffer.from(sent, 'hex'), true)).toEqual(clear('1234'))
  await rig.post(`/v1/transactions/${body.id}/capture`)
  expect(blocks).toEqual([sent, undefined])
  for (const table of ['card_transactions', 'card_events', 'idempotency_keys', 'audit_log']) {
    const rows = await rig.database.sql`
      select row_to_json(t)::text as row from ${rig.database.sql(table)} t`
    const text = rows.map(({ row }) => String(row).toUpperCase()).join('\n')
    expect(text).not.toContain(block)
    expect(text).not.toContain(sent)
  }
})

test('one in clear, of another card or under another key is refused, and nothing is sent', async () => {
  const before = network.seen.length
  const hex = (bytes: Buffer): string => bytes.toString('hex')
  const refused = [
    { key: 'pos', block: hex(clear('1234')) },
    { key: 'pos', block: '041234FFFFFFFFFF' },
    { key: 'pos', block: '241234FFFFFFFFFF' },
    { key: 'pos', block: sealed('1234', '4111111111111111') },
    { key: 'pos', block: '0000000000000000' },
    { key: 'nobody', block: sealed('1234') },
  ]
  for (const pin of refused) {
    const { status, body } = await authorize(pin)
    expect([status, body.error?.code, body.error?.details]).toEqual([
      400,
      'VALUE_REFUSED',
      { field: 'pin', value: null },
    ])
  }
  for (const pin of ['1234', { key: 'pos', pin: '1234' }, { key: 'pos', block: '1234' }]) {
    const { status, body } = await authorize(pin)
    expect([status, body.error?.code, JSON.stringify(body).includes('1234')]).toEqual([
      400,
      'VALIDATION_FAILED',
      false,
    ])
  }
  expect(network.seen).toHaveLength(before)
})

test('what the module cannot do is no fault of the request, and nothing is sent', async () => {
  const before = network.seen.length
  const { status, body } = await authorize({ key: 'broken', block: sealed('1234') })
  expect([status, body.error?.code]).toEqual([502, 'NETWORK_UNAVAILABLE'])
  expect(body.error?.details).toMatchObject({ sent: false, reason: 'security_module' })
  expect(network.seen).toHaveLength(before)
})

test('a network whose messages carry none refuses it', async () => {
  const pin = { key: 'pos', block: sealed('1234') }
  const { status, body } = await authorize(pin, 'tok_mastercard_approved')
  expect([status, body.error?.code, body.error?.details['field']]).toEqual([
    ...[422, 'FIELD_NOT_CARRIED', 'pin'],
  ])
})

test('a file that puts it elsewhere, or has no key for it, is refused at start', () => {
  const given = messages()
  const other = { fields: { 48: { from: 'pin_block' } } }
  expect(() => parseNetwork({ ...given, content: other })).toThrow('goes into field 52 only')
  expect(() => parseNetwork({ content: given.content })).toThrow(
    'content.messages.authorization.fields.52: pin_block needs security.pin',
  )
  const shared = { fields: given.content.messages.authorization.fields }
  expect(() => parseNetwork({ content: shared, security: {} })).toThrow(
    'content.fields.52: pin_block needs security.pin',
  )
  const { key_path: _, ...pin } = given.security.pin
  expect(() => parseNetwork({ ...given, security: { pin } })).toThrow('pin needs key_path')
})
