import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { CodecError } from '#codecs/bytes'
import {
  clearRsfn,
  decodeUtf16be,
  explainRsfn,
  openRsfn,
  type RsfnOpenPorts,
  type RsfnPolicy,
  type RsfnSealRequest,
  type RsfnSender,
  rsfnErrors,
  rsfnHeaderBytes,
  rsfnSerial,
  rsfnSpecialUse,
  sealRsfn,
} from '#codecs/rsfn'
import {
  createRsfnOpenPorts,
  createRsfnRecipient,
  createRsfnSealPorts,
  createRsfnSender,
} from '../../../../src/spi/link/rsfn/crypto.ts'

const sender = generateKeyPairSync('rsa', { modulusLength: 2048 })
const destination = generateKeyPairSync('rsa', { modulusLength: 2048 })
const sealPorts = createRsfnSealPorts(sender.privateKey, destination.publicKey)
const recipient = createRsfnRecipient(destination.privateKey)
const parties = {
  sender: { authority: 4, serial: '2F4C' },
  destination: { authority: 5, serial: 'AB01' },
}
const xml = '<?xml version="1.0"?><DOC><SISMSG>João</SISMSG></DOC>'

const openPorts = (status: RsfnSender['status'] = 'active', bytesMax?: number): RsfnOpenPorts =>
  createRsfnOpenPorts(
    {
      findSender: (header) => {
        if (header.senderAuthority !== 4) return 'authority'
        if (header.senderSerial !== rsfnSerial('2F4C')) return 'serial'
        return createRsfnSender(sender.publicKey, status)
      },
      findRecipient: (header) => {
        if (header.destinationAuthority !== 5) return 'authority'
        return header.destinationSerial === rsfnSerial('AB01') ? recipient : 'serial'
      },
    },
    bytesMax,
  )

const seal = (request: Partial<RsfnSealRequest> = {}): Promise<Uint8Array> =>
  sealRsfn({ content: xml, ...parties, ...request }, sealPorts)

const codeOf = async (
  message: Uint8Array,
  ports = openPorts(),
  policy: RsfnPolicy = {},
): Promise<number> => {
  const result = await openRsfn(message, ports, policy)
  return result.ok ? 0 : result.code
}

const altered = (message: Uint8Array, at: number, value?: number): Uint8Array => {
  const copy = message.slice()
  copy[at] = value ?? copy[at]! ^ 1
  return copy
}

describe('round trips', () => {
  test('third version: text comes back, body is not readable, tag is 16 bytes', async () => {
    const message = await seal()
    expect(message.length).toBe(rsfnHeaderBytes + xml.length * 2 + 16)
    const opened = await openRsfn(message, openPorts())
    if (!opened.ok) throw new Error(opened.message)
    expect(decodeUtf16be(opened.content)).toBe(xml)
    expect(opened).toMatchObject({ signed: true, encrypted: true })
  })

  test('two sealings of one text share neither key nor body', async () => {
    const [one, two] = [await seal(), await seal()]
    expect(one.subarray(76, 332)).not.toEqual(two.subarray(76, 332))
    expect(one.subarray(588)).not.toEqual(two.subarray(588))
    expect(one.subarray(332, 588)).toEqual(two.subarray(332, 588))
  })

  test('every special use', async () => {
    const content = new Uint8Array(4096).fill(7)
    for (const specialUse of Object.values(rsfnSpecialUse)) {
      const message = await seal({ content, specialUse })
      const opened = await openRsfn(message, openPorts())
      if (!opened.ok) throw new Error(`${specialUse}: ${opened.message}`)
      expect(new Uint8Array(opened.content)).toEqual(content)
      expect(opened.encrypted).toBe(![2, 3, 6, 10].includes(specialUse))
      expect(message.length < 4096).toBe([8, 10].includes(specialUse))
    }
  })

  test('second version only where it is asked for', async () => {
    const content = new Uint8Array(64).fill(7)
    const message = await seal({ content, protocol: 2 })
    expect(await codeOf(message)).toBe(0x02)
    const opened = await openRsfn(message, openPorts(), { acceptSecondVersion: true })
    expect(opened.ok && new Uint8Array(opened.content)).toEqual(content)
  })

  test('a clear message only where it is asked for', async () => {
    const message = clearRsfn('abc')
    expect(await codeOf(message)).toBe(0x02)
    const opened = await openRsfn(message, openPorts(), { acceptClear: true })
    expect(opened).toMatchObject({ ok: true, signed: false, encrypted: false })
    expect(await codeOf(altered(message, 400), openPorts(), { acceptClear: true })).toBe(0x13)
  })
})

describe('headers that are no order to open anything', () => {
  test('one that reports an error is no message, and is not answered', async () => {
    const message = await seal()
    for (const [code, known] of [
      [0x0b, 0x0b],
      [0xff, 0xff],
      [0x7f, 0xff],
    ] as const) {
      for (const [one, policy] of [
        [altered(message, 3, code), {}],
        [altered(clearRsfn('abc'), 3, code), { acceptClear: true }],
      ] as const) {
        const result = await openRsfn(one, openPorts(), policy)
        expect(result).toMatchObject({ ok: false, code: known, field: 'C03', isReport: true })
      }
    }
  })

  test('the reserved field must be zero', async () => {
    const clear = altered(clearRsfn('abc'), 5, 1)
    for (const message of [altered(await seal(), 5, 1), clear]) {
      const result = await openRsfn(message, openPorts(), { acceptClear: true })
      expect(result).toMatchObject({ ok: false, code: 0x13, field: 'C05', isReport: false })
    }
  })
})

describe('each code of C03', () => {
  test('header fields', async () => {
    const message = await seal()
    const cases: readonly [number, Uint8Array][] = [
      [0x01, message.subarray(0, 587)],
      [0x01, altered(message, 1, 0x4d)],
      [0x02, altered(message, 2, 0x01)],
      [0x02, altered(message, 2, 0x00)],
      [0x03, altered(message, 6, 1)],
      [0x04, altered(message, 7, 1)],
      [0x05, altered(message, 8, 1)],
      [0x06, altered(message, 9, 2)],
      [0x07, altered(message, 10, 8)],
      [0x07, altered(message, 10, 6)],
      [0x08, altered(message, 11, 0x61)],
      [0x08, altered(message, 42, 0x46)],
      [0x09, altered(message, 43, 0)],
      [0x09, altered(message, 43, 1)],
      [0x0a, altered(message, 44, 0x20)],
      [0x0a, altered(message, 75, 0x46)],
      [0x13, altered(message, 4, 5)],
      [0x13, altered(message, 4, 2)],
    ]
    for (const [code, bytes] of cases) expect(await codeOf(bytes)).toBe(code)
  })

  test('0B: signature not of the sender', async () => {
    expect(await codeOf(altered(await seal(), 400))).toBe(0x0b)
  })

  test('0C, 10, 11, 14: standing of the certificate', async () => {
    const message = await seal()
    expect(await codeOf(message, openPorts('not_the_issuer'))).toBe(0x0c)
    expect(await codeOf(message, openPorts('not_active'))).toBe(0x10)
    expect(await codeOf(message, openPorts('expired_or_revoked'))).toBe(0x11)
    expect(await codeOf(message, openPorts('not_enabled'))).toBe(0x14)
  })

  test('0D: C14 above the modulus', async () => {
    const message = await seal()
    message.fill(0xff, 76, 332)
    expect(await codeOf(message)).toBe(0x0d)
  })

  test('0E for a wrong padding and for a wrong body alike', async () => {
    const message = await seal()
    expect(await codeOf(altered(message, 200))).toBe(0x0e)
    expect(await codeOf(altered(message, 588))).toBe(0x0e)
    expect(await codeOf(altered(message, message.length - 1))).toBe(0x0e)
    expect(await codeOf(message.subarray(0, 588))).toBe(0x0e)
    expect(await codeOf(message.subarray(0, message.length - 1))).toBe(0x0e)
  })

  test('0F: second version, length not a multiple of 8', async () => {
    const message = await seal({ content: new Uint8Array(64), protocol: 2 })
    const short = message.subarray(0, message.length - 1)
    expect(await codeOf(short, openPorts(), { acceptSecondVersion: true })).toBe(0x0f)
  })

  test('13: compressed body that is not gzip, or that grows past the limit', async () => {
    const content = new Uint8Array(4096)
    const compressed = await seal({ content, specialUse: 8 })
    expect(await codeOf(compressed, openPorts('active', 4096))).toBe(0)
    expect(await codeOf(compressed, openPorts('active', 4095))).toBe(0x13)
    const plain = await seal({ content, specialUse: 4 })
    expect(await codeOf(altered(plain, 4, 8))).toBe(0x13)
  })

  test('no altered octet of a message is accepted, but for C04', async () => {
    const message = await seal({ content: 'ab' })
    // The standard's signature covers the body alone: nothing protects a normal C04 turned into "to be activated".
    for (let at = 0; at < message.length; at++) {
      if (at === 4) continue
      const code = await codeOf(altered(message, at))
      expect(code, `octet ${at}`).not.toBe(0)
    }
  }, 60_000)
})

test('whatever comes, it is opened as it was sealed or refused with a code of the table', async () => {
  const content = new Uint8Array(64).fill(7)
  const bases = [
    await seal({ content }),
    await seal({ content, protocol: 2 }),
    await seal({ content, specialUse: 4 }),
    await seal({ content, specialUse: 2 }),
    clearRsfn(content),
  ]
  const edit = fc.record({ at: fc.nat(), octet: fc.nat({ max: 255 }) })
  const message = fc.oneof(
    fc
      .tuple(fc.constantFrom(...bases), fc.array(edit, { maxLength: 6 }), fc.nat())
      .map(([base, edits, cut]) => {
        const copy = cut % 5 === 0 ? base.slice(0, cut % (base.length + 1)) : base.slice()
        for (const { at, octet } of edits) if (copy.length > 0) copy[at % copy.length] = octet
        return copy
      }),
    fc.uint8Array({ maxLength: 700 }).map((bytes) => Uint8Array.of(0x02, 0x4c, ...bytes)),
  )
  const policies: readonly RsfnPolicy[] = [{}, { acceptSecondVersion: true, acceptClear: true }]
  await fc.assert(
    fc.asyncProperty(message, fc.constantFrom(...policies), async (bytes, policy) => {
      const result = await openRsfn(bytes, openPorts(), policy)
      if (!result.ok) expect(Object.keys(rsfnErrors)).toContain(String(result.code))
      else if (result.signed) expect(new Uint8Array(result.content)).toEqual(content)
      try {
        expect(explainRsfn(bytes).length).toBe(15)
      } catch (error) {
        if (!(error instanceof CodecError)) throw error
      }
    }),
    { numRuns: 400 },
  )
}, 60_000)
