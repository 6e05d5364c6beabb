import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { createCipheriv } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Socket } from 'bun'
import { CardMessage, dialects } from '#codecs/iso8583'
import {
  checkValueOf,
  macOf,
  translatePin,
  unwrapDesKey,
  wrapDesKey,
} from '#src/platform/security/index.ts'
import { createNetwork } from '../../../src/cards/networks/index.ts'
import { createSealer } from '../../../src/cards/networks/sealing.ts'
import {
  createPayshield,
  ModuleKey,
  type PayshieldOptions,
} from '../../../src/cards/security/index.ts'
import { testTokens } from '../../../src/simulators/card-network/index.ts'
import { createNetworkRig, networkOptions, payment, until } from '../../support/card-network.ts'
import { authorizationBody, createCardsRig } from '../../support/cards-rig.ts'
import { approvalOf, createRawPeer } from '../../support/raw-peer.ts'
import { createScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

/* Host commands over TCP, against a module that takes them by their letter and refuses anything else. */

const master = Uint8Array.fromHex('89B07A34A1B3F47F89B07A34A1B3F489')
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase()
const held = (key: string): string => `U${hexOf(wrapDesKey(master, Uint8Array.fromHex(key)))}`
const clear = (text: string): Uint8Array => unwrapDesKey(master, Uint8Array.fromHex(text.slice(1)))

const macKey = '0123456789ABCDEFFEDCBA9876543210'
const zoneKey = '5D6B2A0E4C8F91A237C4D0E09B5826FE'
const zpk2 = 'C2B5A7D3E9F1086423579BDF13254686'

const ownForm = 'U[0-9A-F]{32}'

/** What the module answers to a command: code, error, body. */
const answerTo = (text: string): string => {
  const mac = new RegExp(`^M6001(11|31|32)008(${ownForm})([0-9A-F]{4})([^]*)$`).exec(text)
  if (mac !== null) {
    const [, algorithm, key = '', length = '', data = ''] = mac
    if (data.length !== Number.parseInt(length, 16)) return 'M715'
    const name = algorithm === '31' ? 'x9.19' : algorithm === '32' ? 'x9.19-80' : '3des-cbc'
    return `M700${hexOf(macOf(name, clear(key), Buffer.from(data, 'latin1')))}`
  }
  const brought = new RegExp(`^A6(008|001)(${ownForm})X([0-9A-F]{32})U$`).exec(text)
  if (brought !== null) {
    try {
      const key = unwrapDesKey(clear(brought[2] ?? ''), Uint8Array.fromHex(brought[3] ?? ''))
      return `A700${held(hexOf(key))}${hexOf(checkValueOf('des', key))}`
    } catch {
      return 'A710'
    }
  }
  const pin = new RegExp(
    `^CC(${ownForm})(${ownForm})12([0-9A-F]{16})(01|05|47)(01|47)(\\d{12})$`,
  ).exec(text)
  if (pin !== null) {
    const formats = { '01': '0', '05': '1', '47': '3' } as const
    const [, from = '', to = '', block = '', given = '', wanted = '', account = ''] = pin
    const side = (key: string, format: string) => ({
      key: clear(key),
      format: formats[format as keyof typeof formats],
    })
    // Any digit before and after the twelve.
    const pan = Buffer.from(`0${account}0`, 'latin1')
    try {
      const out = translatePin(
        ...([Uint8Array.fromHex(block), side(from, given), side(to, wanted), pan] as const),
        (bytes) => new Uint8Array(bytes),
      )
      return `CD0004${hexOf(out)}${wanted}`
    } catch {
      return 'CD20'
    }
  }
  return text === 'NC' ? 'ND0008D7B400000000001500-0010' : `${text.slice(0, 2)}68`
}

type FakeModule = {
  port: number
  hangs: boolean
  cuts: boolean
  connections: number
  open: number
  commands: string[]
}

const fake: FakeModule = {
  port: 0,
  hangs: false,
  cuts: false,
  connections: 0,
  open: 0,
  commands: [],
}
const buffers = new WeakMap<Socket, Buffer>()
let listener: { readonly stop: (all: boolean) => void; readonly port: number }

beforeAll(() => {
  listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => {
        fake.connections++
        fake.open++
      },
      close: () => {
        fake.open--
      },
      data: (socket, chunk) => {
        let bytes = Buffer.concat([buffers.get(socket) ?? Buffer.alloc(0), chunk])
        while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
          const text = bytes.toString('latin1', 2, 2 + bytes.readUInt16BE(0))
          bytes = bytes.subarray(2 + bytes.readUInt16BE(0))
          fake.commands.push(text.slice(4, 6))
          if (fake.cuts) socket.terminate()
          if (fake.hangs || fake.cuts) continue
          const answer = Buffer.from(text.slice(0, 4) + answerTo(text.slice(4)), 'latin1')
          socket.write(Buffer.concat([Buffer.of(answer.length >> 8, answer.length & 255), answer]))
        }
        buffers.set(socket, bytes)
      },
    },
  })
  fake.port = listener.port
})
afterAll(() => listener.stop(true))

const moduleOf = (change: Partial<PayshieldOptions> = {}) =>
  createPayshield({ host: '127.0.0.1', port: fake.port, poolSize: 2, timeoutMs: 20_000, ...change })

const faultOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: Error) => error.message,
  )

describe('a hardware module', () => {
  test('computes codes, opens keys and translates PIN blocks, as others do', async () => {
    const module = moduleOf()
    const data = new TextEncoder().encode('7654321 Now is the time for ')
    const mac = (algorithm: 'x9.19' | 'x9.19-80' | '3des-cbc') =>
      module.mac(new ModuleKey(held(macKey)), algorithm, data)
    const codes = await Promise.all([mac('x9.19'), mac('x9.19-80'), mac('3des-cbc')])
    expect(codes.map(hexOf)).toEqual(['AE4B45B1B527642F', '863BE25DAF06098B', 'E5E7A413C3E3F4B5'])
    const zone = new ModuleKey(held(zoneKey))
    const wrapped = 'A2D5D8B0AA1A13220BF389C6A351EC58'
    const { key, checkValue } = await module.importKey(zone, 'pin', wrapped)
    expect(checkValue).toBe('C3F11D')
    const pan = new TextEncoder().encode('4111111111111111')
    const to = { key: new ModuleKey(held(zpk2)), format: '0' } as const
    const translated = (block: string, format: '0' | '1' | '3') =>
      module.translatePin(Uint8Array.fromHex(block), { key, format }, to, pan)
    for (const [block, format] of [
      ...([
        ['C196117D249C2A1B', '0'],
        ['9750BF125F7B5E3B', '3'],
        ['6EA4A4017E7304CE', '1'],
      ] as const),
    ]) {
      expect(hexOf(await translated(block, format))).toBe('E8430B2C908E2729')
    }
    expect(await module.describe()).toBe('master key check value 08D7B4, firmware 1500-0010')
    module.stop()
  })

  test('refuses with its code, and what is no key never reaches it', async () => {
    const module = moduleOf()
    const zone = new ModuleKey(held(zoneKey))
    expect(await faultOf(module.importKey(zone, 'mac', '0'.repeat(32)))).toContain('(error 10)')
    const before = fake.commands.length
    for (const text of ['', 'U123', `${held(macKey)}%00`, `${held(macKey)}\u0019`]) {
      const refused = module.mac(new ModuleKey(text), 'x9.19', new Uint8Array(8))
      expect(await faultOf(refused)).toBe('the security module refused the command (error key)')
    }
    expect(await faultOf(module.importKey(zone, 'mac', 'zz'))).toContain('key')
    expect(fake.commands).toHaveLength(before)
    module.stop()
  })

  test('with a thousand commands at once answers each its own, over no more connections than the pool', async () => {
    const module = moduleOf({ poolSize: 16 })
    const { connections } = fake
    const key = new ModuleKey(held(macKey))
    const wanted = (at: number) => Buffer.from(`message ${at}`)
    const codes = await Promise.all(
      Array.from({ length: 1_000 }, (_, at) => module.mac(key, 'x9.19', wanted(at))),
    )
    codes.forEach((code, at) => {
      expect(hexOf(code)).toBe(hexOf(macOf('x9.19', Uint8Array.fromHex(macKey), wanted(at))))
    })
    expect(fake.connections - connections).toBe(16)
    module.stop()
  })

  test('that hangs or cuts fails what waits in its time, takes no more than it may, and is used again', async () => {
    const module = moduleOf({ timeoutMs: 50, poolSize: 1, pauseMs: 600_000 })
    const mac = () => module.mac(new ModuleKey(held(macKey)), 'x9.19', new Uint8Array(8))
    fake.hangs = true
    const many = await Promise.all(Array.from({ length: 70 }, () => faultOf(mac())))
    expect(many.filter((one) => one.includes('more to do'))).toHaveLength(6)
    expect(many).not.toContain('none')
    // After so many failures it is left alone.
    const { length } = fake.commands
    expect(await faultOf(mac())).toContain('cannot be reached')
    expect(fake.commands).toHaveLength(length)
    fake.hangs = false
    module.stop()
    const again = moduleOf({ poolSize: 1 })
    const key = new ModuleKey(held(macKey))
    fake.cuts = true
    expect(await faultOf(again.mac(key, 'x9.19', new Uint8Array(8)))).toContain('cannot be reached')
    fake.cuts = false
    expect(await faultOf(again.mac(key, 'x9.19', new Uint8Array(8)))).toBe('none')
    again.stop()
  })

  test('hears nothing of a command that was given up while its connection was made', async () => {
    const module = moduleOf({ poolSize: 1 })
    const { connections, commands } = fake
    const before = commands.length
    const key = new ModuleKey(held(macKey))
    const first = faultOf(module.mac(key, 'x9.19', new Uint8Array(8)))
    // Its connection is under way, and not made before the next turn of the event loop.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    module.stop()
    expect(await first).toContain('cannot be reached')
    // The next one has a connection of its own, and the first is not kept.
    expect(await faultOf(module.mac(key, 'x9.19', new Uint8Array(8)))).toBe('none')
    await until(() => fake.connections - connections === 2, 'both connections')
    await until(() => fake.open === 1, 'the end of the first one')
    expect(fake.commands.slice(before)).toEqual(['M6'])
    module.stop()
    await until(() => fake.open === 0, 'the end of the other one')
  })

  test('has what can wait do so, before all others and within its time', async () => {
    const module = moduleOf({ poolSize: 1 })
    const key = new ModuleKey(held(macKey))
    const mac = (waitMs?: number) => faultOf(module.mac(key, 'x9.19', new Uint8Array(8), waitMs))
    const busy = 'the security module has more to do than it may'
    const many = Array.from({ length: 300 }, () => mac(20_000))
    expect(await mac()).toBe(busy)
    expect(new Set(await Promise.all(many))).toEqual(new Set(['none']))
    fake.hangs = true
    const first = Array.from({ length: 64 }, () => mac())
    expect(await mac(1)).toBe(busy)
    fake.hangs = false
    module.stop()
    await Promise.all(first)
  })

  test('verifies a burst of answers that is larger than what it may have under way', async () => {
    const module = moduleOf({ poolSize: 1 })
    const seen: CardMessage[] = []
    using peer = createRawPeer((_, { pan, ...rest }) => {
      seen.push(Object.assign(new CardMessage(), rest, { pan: pan?.slice() }))
    })
    const mac = { algorithm: 'x9.19', bytes: 8, key: new ModuleKey(held(macKey)) } as const
    const security = { zone: undefined, mac, exchange: undefined }
    const network = createNetwork(
      networkOptions(peer.port, { module, security, timeoutMs: 20_000 }),
    )
    network.start()
    await until(() => network.health().connectionsUp === 1)
    const outcomes: Promise<{ readonly kind: string }>[] = []
    while (outcomes.length < 200) {
      for (let sent = 0; sent < 50; sent++) {
        outcomes.push(network.exchange(payment(outcomes.length + 1), 20_000))
      }
      await until(() => seen.length === outcomes.length)
    }
    const seal = async (data: Uint8Array) => macOf('x9.19', Uint8Array.fromHex(macKey), data)
    const sealer = createSealer(dialects['ascii']!, 1_024)
    const frames = seen.map(async (request) => {
      const unsealed = sealer.packed(Object.assign(approvalOf(request), { mac: undefined }))
      await sealer.seal(unsealed, { seal })
      return Buffer.from([0, unsealed.bytes.length, ...unsealed.bytes])
    })
    peer.connections[0]?.send(Buffer.concat(await Promise.all(frames)))
    const kinds = (await Promise.all(outcomes)).map(({ kind }) => kind)
    expect(new Set(kinds)).toEqual(new Set(['answered']))
    await network.stop()
    module.stop()
  })

  test('secures a network, whose key changes', async () => {
    const module = moduleOf()
    const keys = { use: 'mac', field: 48, at: 0, digits: 32, checkValueAt: 32, checkValueDigits: 6 }
    const security = {
      zone: new ModuleKey(held(zoneKey)),
      mac: { algorithm: 'x9.19', bytes: 8, key: new ModuleKey(held(macKey)) },
      exchange: { networkCode: '101', asks: false, keys: [{ ...keys, use: 'mac' }] },
    } as const
    await using rig = await createNetworkRig(
      { module, security },
      { security: { algorithm: 'x9.19', macKey, zoneKey } },
    )
    expect((await rig.network.exchange(payment(1), 20_000)).kind).toBe('answered')
    rig.simulator.changeKey()
    await until(() => rig.simulator.statistics().keysExchanged === 1, 'the new key')
    expect((await rig.network.exchange(payment(2), 20_000)).kind).toBe('answered')
    expect(rig.simulator.statistics()).toMatchObject({ wrongCodes: 0 })
    module.stop()
  })

  test('translates the PIN of a payment, and one that holds none is the request’s fault', async () => {
    const directory = temporaryDirectory()
    const fileOf = (name: string, text: string): string => {
      const path = join(directory, name)
      writeFileSync(path, text)
      return path
    }
    const posKey = '89B07A34A1B3F47F89B07A34A1B3F489'
    const pos = { key_path: fileOf('pos', held(posKey)) }
    const messages = {
      content: { fields: { 52: { from: 'pin_block' } }, messages: {} },
      security: { pin: { key_path: fileOf('network', held(zpk2)), sources: { pos } } },
    }
    const network = createScriptedNetwork()
    const blocks: (string | undefined)[] = []
    network.on((request, peer) => {
      blocks.push(request.pinBlock && hexOf(request.pinBlock))
      peer.answer({ responseCode: '00', authCode: 'A00001', pinBlock: undefined })
    })
    await using rig = await createCardsRig({
      networkA: network,
      environment: {
        CARDGW_NETA_MESSAGES_FILE: fileOf('messages.json', JSON.stringify(messages)),
        CARDGW_SECURITY_MODULE: 'payshield',
        CARDGW_SECURITY_MODULE_ADDRESS: `127.0.0.1:${fake.port}`,
      },
    })
    const pan = testTokens.get('tok_visa_approved') ?? new Uint8Array()
    const account = Buffer.from(`0000${Buffer.from(pan).toString().slice(-13, -1)}`, 'hex')
    const under = (key: string, pin: string): string => {
      const block = Buffer.from(`0${pin.length}${pin}`.padEnd(16, 'F'), 'hex')
      const cipher = createCipheriv(
        'des-ede3-cbc',
        Buffer.from(key + key.slice(0, 16), 'hex'),
        Buffer.alloc(8),
      )
      cipher.setAutoPadding(false)
      return hexOf(cipher.update(block.map((byte, at) => byte ^ (account[at] ?? 0))))
    }
    const pay = (block: string) =>
      rig.post(
        '/v1/transactions/authorize',
        authorizationBody('tok_visa_approved', { pin: { key: 'pos', block } }),
      )
    expect((await pay(under(posKey, '1234'))).status).toBe(201)
    expect(blocks).toEqual([under(zpk2, '1234')])
    const refused = await pay(under(macKey, '1234'))
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: 'VALUE_REFUSED', details: { field: 'pin' } } },
    ])
    expect(blocks).toHaveLength(1)
  })
})
