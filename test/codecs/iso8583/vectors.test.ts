import { describe, expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import {
  createPacker,
  createParser,
  type Dialect,
  dialects,
  type FieldValue,
  FrameDecoder,
  framings,
  headerBytes,
  type Iso8583Parser,
  parseBitmapData,
  parseDialect,
  parseTlv,
  writeFrame,
  writeTlv,
} from '#codecs/iso8583'
import { hasSharedData, readSharedData, skipReason } from '../../support/shared-data.ts'

type Vector = {
  readonly id: string
  readonly profile: string
  readonly mti: string
  readonly hex: string
  readonly fields: Readonly<Record<string, unknown>>
}

const load = <T>(name: string): T =>
  JSON.parse(new TextDecoder().decode(readSharedData(`cards/${name}`))) as T
const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** erl8583's table differs from the stock one in a few settlement fields. */
const erl = { 86: 15, 87: 15, 88: 15, 89: 15, 96: 8 }
const changed = (name: string, fields: object, rest: object = {}): Dialect =>
  parseDialect({ name: `${name}-x`, extends: name, fields, ...rest }, dialects)
const erlOf = (name: string): Dialect =>
  changed(name, {
    ...Object.fromEntries(Object.entries(erl).map(([de, max]) => [de, { max }])),
    93: { type: 'n', max: 5, encoding: name === 'bcd' ? 'bcd' : 'ascii' },
  })

const profiles: Readonly<Record<string, string>> = {
  ascii_hexbitmap: 'ascii-hex',
  ascii_binbitmap: 'ascii',
  bcd: 'bcd',
}
const textIcc = { 55: { type: 'ans', encoding: 'ascii' } }
const erlDialects = Object.fromEntries(Object.values(profiles).map((name) => [name, erlOf(name)]))

const dialectOf = (vector: Vector): Dialect => {
  const name = profiles[vector.profile]!
  const icc = vector.fields['55']
  if (vector.id.startsWith('erl8583')) {
    return name === 'bcd' && icc !== undefined ? changed(name, textIcc) : erlDialects[name]!
  }
  if (name === 'bcd' && typeof icc === 'string' && !icc.startsWith('hex:'))
    return changed(name, textIcc)
  return dialects[name]!
}

const valueAs = (stored: unknown): FieldValue =>
  String(stored).startsWith('hex:') ? fromHex(String(stored).slice(4)) : String(stored)

/** The message that the parser holds, packed again from its values. */
const packAgain = (dialect: Dialect, parser: Iso8583Parser): string => {
  const values: Record<number, FieldValue> = {}
  for (const de of parser.fields()) values[de] = parser.value(de)
  const out = new Uint8Array(4096)
  return toHex(out.subarray(0, createPacker(dialect).pack(parser.mti, values, out)))
}

describe.skipIf(!hasSharedData)(`vectors of other implementations${skipReason}`, () => {
  const vectors = hasSharedData ? load<Vector[]>('vectors.json') : []

  for (const vector of vectors.filter(({ profile }) => profile in profiles)) {
    test(vector.id, () => {
      const bytes = fromHex(vector.hex)
      const dialect = dialectOf(vector)
      const parser = createParser(dialect).parse(bytes)
      const wanted = Object.entries(vector.fields).filter(([de]) => Number(de) > 1)
      expect(parser.mti).toBe(vector.mti)
      expect(parser.fields().map(String).toSorted()).toEqual(wanted.map(([de]) => de).toSorted())
      const values: Record<number, FieldValue> = {}
      for (const [de, stored] of wanted) {
        const value = parser.value(Number(de))
        expect(`${de} ${typeof value === 'string' ? value : `hex:${toHex(value)}`}`).toBe(
          `${de} ${stored}`,
        )
        values[Number(de)] = valueAs(stored)
      }
      const out = new Uint8Array(4096)
      const end = createPacker(dialect).pack(vector.mti, values, out)
      expect(toHex(out.subarray(0, end))).toBe(vector.hex.toLowerCase())
    })
  }

  const fixed128 = changed(
    'ascii-hex',
    { 55: { type: 'b', encoding: 'binary' }, 52: { type: 'b', encoding: 'hex' } },
    { fixed128: true },
  )
  for (const vector of vectors.filter(({ profile }) => profile === 'special_fixed128bitmap')) {
    test(vector.id, () => {
      const bytes = fromHex(vector.hex)
      const parser = createParser(fixed128).parse(bytes)
      for (const [key, stored] of Object.entries(vector.fields)) {
        const [de, tag] = key.split('.')
        if (key === '0') continue
        if (tag === undefined) expect(`${de} ${parser.text(Number(de))}`).toBe(`${de} ${stored}`)
        else {
          const found = parseTlv(parser.view(55)).find((one) => one.tag === tag)
          expect(`${tag} hex:${toHex(found!.value)}`).toBe(`${tag} ${stored}`)
        }
      }
      // Where bit 1 is 0, half of them have fields above 64 all the same.
      const dialect = bytes[4]! < 0x38 ? { ...fixed128, marksSecond: false } : fixed128
      expect(packAgain(dialect, parser)).toBe(vector.hex.toLowerCase())
    })
  }

  for (const vector of vectors.filter(({ profile }) => profile === 'special_visa_basei')) {
    test(vector.id, () => {
      const bytes = fromHex(vector.hex)
      // Four bytes of frame length, then the network's header, whose first byte is its length.
      // A rejected message has the reject header before its own.
      const rejected = bytes[4] === 0x1a ? 0x1a : 0
      const start = 4 + rejected + bytes[4 + rejected]!
      const dialect = dialects['ebcdic']!
      const parser = createParser(dialect).parse(bytes, start)
      const values: Record<number, FieldValue> = {}
      for (const de of parser.fields()) values[de] = parser.value(de)
      for (const [key, stored] of Object.entries(vector.fields)) {
        const de = Number(/^DE0*(\d+)$/.exec(key)?.[1] ?? 0)
        // That implementation shows these in Base64.
        if (de < 2 || de === 52 || de === 55 || de === 104) continue
        const value = values[de]!
        if (de === 62 || de === 63) {
          const layout =
            de === 62
              ? { bitmapBytes: 8, lengths: { 1: 1, 2: 8, 20: 7, 23: 2 } }
              : { bitmapBytes: 3, lengths: { 1: 2, 3: 2, 4: 2, 11: 1, 19: 3 } }
          const subfields = parseBitmapData(value as Uint8Array, layout, String(de))
          const wanted = (stored as { SE00: number[] }).SE00
          expect([...subfields.keys()]).toEqual(wanted)
        } else {
          const shown = typeof value === 'string' ? value : toHex(value)
          expect(`${de} ${shown}`).toBe(
            `${de} ${de === 35 ? String(stored).replace('d', '=') : stored}`,
          )
        }
      }
      const out = new Uint8Array(bytes)
      out.fill(0, start)
      expect(createPacker(dialect).pack(parser.mti, values, out, start)).toBe(bytes.length)
      expect(toHex(out)).toBe(vector.hex.toLowerCase())
    })
  }

  for (const vector of vectors.filter(({ profile }) => profile === 'special_smartvista')) {
    test(vector.id, () => {
      const dialect = changed('ascii', { 12: { max: 12 } })
      const parser = createParser(dialect)
      let count = 0
      new FrameDecoder(framings['ascii-4'], {
        keepAlive: () => undefined,
        message: (bytes, start, end) => {
          count++
          const icc = vector.fields['55']
          const binaryPrefix = changed('ascii', {
            12: { max: 12 },
            55: { prefix: 'bcd', prefixDigits: 3, unit: 'bytes' },
          })
          const used = icc === undefined ? parser : createParser(binaryPrefix)
          used.parse(bytes, start, end)
          for (const [de, stored] of Object.entries(vector.fields)) {
            if (de === '0' || de === '55') continue
            expect(`${de} ${used.text(Number(de))}`).toBe(`${de} ${stored}`)
          }
          if (icc !== undefined) expect(`hex:${toHex(used.view(55))}`).toBe(String(icc))
          const body = toHex(bytes.subarray(start, end))
          expect(packAgain(icc === undefined ? dialect : binaryPrefix, used)).toBe(body)
        },
      }).push(fromHex(vector.hex))
      expect(count).toBe(1)
    })
  }

  for (const vector of vectors.filter(({ profile }) => profile === 'special_mixed')) {
    test(`${vector.id}: each field in an encoding of its own`, () => {
      const packed = { type: 'n', encoding: 'bcd' }
      const dialect = changed('ascii', {
        19: { ...packed, padSide: 'left' },
        49: { ...packed, padSide: 'right' },
      })
      const parser = createParser(dialect).parse(fromHex(vector.hex))
      // What is told of these three is prose.
      const told: Readonly<Record<string, string>> = {
        19: '643',
        43: 'Test text'.padStart(40),
        49: '643',
      }
      for (const [de, stored] of Object.entries(vector.fields)) {
        if (de === '0' || de === '52' || de === '55') continue
        expect(`${de} ${parser.text(Number(de))}`).toBe(`${de} ${told[de] ?? stored}`)
      }
      expect(`hex:${toHex(parser.view(52))}`).toBe(String(vector.fields['52']))
      const icc = parseTlv(parser.view(55))
      expect(icc.map(({ tag, value }) => [tag, Buffer.from(value).toString('latin1')])).toEqual([
        ['9A', '210720'],
        ['9F02', '000000000501'],
      ])
      expect(packAgain(dialect, parser)).toBe(vector.hex.toLowerCase())
    })
  }

  for (const [name, framing] of Object.entries(framings)) {
    test(`${name}: a frame of every message comes whole, wherever it is cut`, () => {
      let cuts = 0
      for (const { hex } of vectors) {
        const body = fromHex(hex)
        const room = new Uint8Array(body.length + 64)
        const end = writeFrame(framing, body.length, room)
        room.set(body, headerBytes(framing))
        const frame = room.subarray(0, end)
        for (let cut = 0; cut <= frame.length; cut++) {
          const got: string[] = []
          const decoder = new FrameDecoder(framing, {
            keepAlive: () => expect.unreachable(),
            message: (from, start, stop) => got.push(toHex(from.subarray(start, stop))),
          })
          decoder.push(frame.subarray(0, cut))
          decoder.push(frame.subarray(cut))
          if (got.length !== 1 || got[0] !== hex.toLowerCase() || decoder.pendingBytes !== 0) {
            throw new Error(`cut at ${cut} of ${frame.length}`)
          }
          cuts++
        }
      }
      expect(cuts).toBeGreaterThan(vectors.length)
    })
  }

  type Negative = { name: string; profile: string; hex: string; reference_codec_rejects: boolean }
  const negatives = hasSharedData ? load<{ cases: Negative[] }>('negatives.json').cases : []
  for (const { name, profile, hex, reference_codec_rejects } of negatives) {
    test(`${profile}: ${name} is ${reference_codec_rejects ? 'refused' : 'accepted'}`, () => {
      const read = () => createParser(dialects[profiles[profile]!]!).parse(fromHex(hex))
      if (reference_codec_rejects) expect(read).toThrow(CodecError)
      else expect(read).not.toThrow()
    })
  }

  const frameNames = {
    bin2_be: 'binary-2',
    bin2_be_inclusive: 'binary-2-inclusive',
    bin2_be_plus_2_reserved: 'binary-2-reserved',
    '2_reserved_plus_bin2_be': 'reserved-binary-2',
    bin4_be: 'binary-4',
    ascii4: 'ascii-4',
    ascii4_inclusive: 'ascii-4-inclusive',
    ascii4_hex: 'hex-4',
    bcd2: 'bcd-2',
    bin2_be_plus_tpdu5: 'binary-2-tpdu',
    bin2_be_trailer_etx: 'binary-2-trailer',
  } as const
  type FrameVector = { name: keyof typeof frameNames; frame_prefix_hex: string; body_len: number }
  const frames = hasSharedData ? load<{ frames: FrameVector[] }>('framing.json').frames : []
  for (const { name, frame_prefix_hex, body_len } of frames) {
    test(`frame ${name} of ${body_len} bytes`, () => {
      const framing = framings[frameNames[name]]
      const out = new Uint8Array(400)
      const end = writeFrame(framing, body_len, out)
      expect(toHex(out.subarray(0, headerBytes(framing)))).toBe(frame_prefix_hex)
      let got = -1
      new FrameDecoder(framing, {
        keepAlive: () => undefined,
        message: (_bytes, from, to) => {
          got = to - from
        },
      }).push(out.subarray(0, end))
      expect(got).toBe(body_len)
    })
  }

  test('ICC data of other implementations reads and writes back', () => {
    type Icc = { hex: string; tags?: number; first?: string; last?: string; expect?: object }
    const { de55 } = load<{ de55: Icc[] }>('tlv_bitmaps_masks.json')
    for (const { hex, tags, first, last, expect: wanted } of de55) {
      const found = parseTlv(fromHex(hex))
      expect(toHex(writeTlv(found))).toBe(hex.toLowerCase())
      if (tags !== undefined) {
        expect([found.length, found[0]?.tag, found.at(-1)?.tag]).toEqual([tags, first, last])
      }
      for (const [tag, value] of Object.entries(wanted ?? {})) {
        expect(toHex(found.find((one) => one.tag === tag)!.value).toUpperCase()).toBe(value)
      }
    }
  })
})
