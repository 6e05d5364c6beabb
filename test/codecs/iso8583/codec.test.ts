import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CodecError } from '#codecs/bytes'
import {
  bytesOfHex,
  CardMessage,
  createMessagePacker,
  createPacker,
  createParser,
  type Dialect,
  dialects,
  explainIso8583,
  type FieldSpec,
  type FieldValue,
  FrameDecoder,
  type FramingName,
  formatOriginalData,
  framings,
  headerBytes,
  maskBytes,
  maskPan,
  maskText,
  packIso8583,
  parseDialect,
  parseOriginalData,
  parseTlv,
  parseTlvWithin,
  readAnswer,
  readMessage,
  shownFields,
  writeFrame,
  writeTlv,
} from '#codecs/iso8583'

const encoder = new TextEncoder()
const pan = '4111111111111111'

const authorization = (): CardMessage => {
  const message = new CardMessage()
  message.mti = '0100'
  message.pan = encoder.encode(pan)
  message.processingCode = '003000'
  message.amount = '000000010000'
  message.transmissionDateTime = '1120143005'
  message.stan = '000001'
  message.localTime = '113005'
  message.localDate = '1120'
  message.expirationDate = '2812'
  message.merchantType = '5411'
  message.conditionCode = '59'
  message.acquirerId = '12345'
  message.rrn = '632414000001'
  message.terminalId = 'TERM0001'
  message.merchantId = 'MERCHANT0000001'
  message.currency = '986'
  message.pinBlock = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
  return message
}

describe('typed messages', () => {
  for (const [name, dialect] of Object.entries(dialects)) {
    if (dialect.version !== '1987') continue
    test(`${name}: what is packed is read back, in the caller's buffer`, () => {
      const out = new Uint8Array(512)
      const { buffer } = out
      const message = authorization()
      const end = createMessagePacker(createPacker(dialect))(message, out, 7)
      expect(out.buffer).toBe(buffer)
      expect(out.subarray(0, 7)).toEqual(new Uint8Array(7))
      expect(out.subarray(end)).toEqual(new Uint8Array(512 - end))
      const read = readMessage(createParser(dialect).parse(out, 7, end))
      expect(read).toEqual(message)
      read.wipe()
      expect(read.pan).toEqual(new Uint8Array(16))
      expect(read.pinBlock).toEqual(new Uint8Array(8))
    })
  }

  for (const [name, dialect] of Object.entries(dialects)) {
    if (dialect.version !== '1987') continue
    test(`${name}: one parser for many messages gives what a new one for each gives`, () => {
      const digits = (lengthMax: number) => fc.stringMatching(new RegExp(`^[019]{1,${lengthMax}}$`))
      const values = fc.record({
        processingCode: fc.constantFrom('003000', '000030', '003001'),
        transmissionDateTime: fc.constantFrom('1120143005', '1120143006'),
        localTime: fc.constantFrom('113005', '113006'),
        acquirerId: digits(11),
        forwarderId: fc.constantFrom('12345', '012345', '0', '00', undefined),
      })
      const parser = createParser(dialect)
      const pack = createMessagePacker(createPacker(dialect))
      const out = new Uint8Array(512)
      fc.assert(
        fc.property(fc.array(values, { minLength: 2, maxLength: 6 }), (all) => {
          for (const one of all) {
            const message = Object.assign(authorization(), one)
            const end = pack(message, out)
            expect(readMessage(parser.parse(out, 0, end))).toEqual(message)
          }
        }),
        { numRuns: 500 },
      )
    })
  }

  test('wipe clears the card data in the input', () => {
    const out = new Uint8Array(512)
    const end = createMessagePacker(createPacker(dialects['ascii']!))(authorization(), out)
    createParser(dialects['ascii']!).parse(out, 0, end).wipe()
    expect(Buffer.from(out).toString('latin1')).not.toContain('1111')
  })

  test('wipe clears ICC data in input and message, and what the parser decoded with', () => {
    const dialect = dialects['ebcdic']!
    const message = authorization()
    message.iccData = encoder.encode('Z\u0008AAAAAAAA')
    const out = new Uint8Array(512)
    const end = createMessagePacker(createPacker(dialect))(message, out)
    const parser = createParser(dialect).parse(out, 0, end)
    const read = readMessage(parser)
    const at = parser.offset(55)
    const stage: unknown = Reflect.get(parser, 'stage')
    if (!(stage instanceof Uint8Array)) throw new Error('the parser has no stage')
    expect(stage.some((byte) => byte !== 0)).toBe(true)
    expect(out[at]).toBe(0x5a)
    parser.wipe()
    read.wipe()
    expect(stage.every((byte) => byte === 0)).toBe(true)
    expect(out.subarray(at, at + 10)).toEqual(new Uint8Array(10))
    expect(read.iccData).toEqual(new Uint8Array(10))
  })

  test('wipe clears secrets in fields without a member', () => {
    const dialect = dialects['ascii']!
    const text = '1111111111111111'
    const values = Object.fromEntries([34, 36, 53].map((de) => [de, text]))
    const out = new Uint8Array(512)
    const bytes = { 96: encoder.encode(text) }
    const end = createPacker(dialect).pack('0800', { ...values, ...bytes }, out)
    const read = readMessage(createParser(dialect).parse(out, 0, end))
    read.wipe()
    for (const [de, value] of read.more ?? []) {
      expect([de, typeof value === 'string' ? value : Buffer.from(value).toString()]).toEqual([
        de,
        '\0'.repeat(value.length),
      ])
    }
    expect(read.more?.size).toBe(4)
  })

  test('of an answer only what a gateway uses is decoded, and no card data', () => {
    const message = authorization()
    message.mti = '0110'
    message.responseCode = '00'
    message.additionalData = encoder.encode('CVV 123')
    message.iccData = encoder.encode('ICC 411')
    for (const dialect of Object.values(dialects).filter(({ version }) => version === '1987')) {
      const out = new Uint8Array(512)
      const end = createMessagePacker(createPacker(dialect))(message, out)
      const parser = createParser(dialect).parse(out, 0, end)
      expect(readMessage(parser).additionalData).toEqual(encoder.encode('CVV 123'))
      const wanted = new CardMessage()
      const { mti, amount, stan, rrn, responseCode, terminalId, currency } = message
      Object.assign(wanted, { mti, amount, stan, rrn, responseCode, terminalId, currency })
      expect(readAnswer(parser)).toEqual(wanted)
    }
  })

  test('a message type that is not of the gateway is refused', () => {
    const bytes = packIso8583({ mti: '0600', fields: { 11: '000001' } }, dialects['ascii']!)
    expect(() => readMessage(createParser(dialects['ascii']!).parse(bytes))).toThrow(
      'mti: not one of the gateway',
    )
  })
})

describe('refusals', () => {
  const ascii = dialects['ascii']!
  const code = (run: () => unknown): unknown => {
    try {
      run()
      return 'accepted'
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      return [error.code, error.context['field']]
    }
  }
  const pack = (fields: Record<number, FieldValue>, size = 256) =>
    createPacker(ascii).pack('0100', fields, new Uint8Array(size))

  test('a value at its limit is taken and one past it is not', () => {
    expect(pack({ 2: '4'.repeat(19) })).toBe(12 + 21)
    expect(code(() => pack({ 2: '4'.repeat(20) }))).toEqual(['iso8583_length', '2'])
    expect(code(() => pack({ 2: '4'.repeat(19) }, 32))).toEqual([
      'iso8583_buffer_too_small',
      undefined,
    ])
  })

  test('characters outside the type are refused without being told', () => {
    expect(code(() => pack({ 4: '12A' }))).toEqual(['iso8583_character', '4'])
    expect(code(() => pack({ 41: 'caf\u0000' }))).toEqual(['iso8583_character', '41'])
    expect(code(() => pack({ 28: 'X00000001' }))).toEqual(['iso8583_character', '28'])
    expect(code(() => pack({ 52: '01234567' }))).toEqual(['iso8583_character', '52'])
    try {
      pack({ 2: '411111111111111X' })
      expect.unreachable()
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain('1111')
    }
  })

  test('unknown fields cannot be skipped', () => {
    const small = parseDialect({ name: 'small', extends: 'ascii', fields: { 11: null } }, dialects)
    const bytes = packIso8583({ mti: '0800', fields: { 11: '000001' } }, ascii)
    expect(code(() => createParser(small).parse(bytes))).toEqual(['iso8583_field_unknown', '11'])
  })

  test('a fixed field is filled: digits on the left, text on the right', () => {
    const out = new Uint8Array(64)
    const end = createPacker(ascii).pack('0100', { 4: '5', 41: 'T1' }, out)
    const parser = createParser(ascii).parse(out, 0, end)
    expect([parser.text(4), parser.text(41)]).toEqual(['000000000005', 'T1      '])
  })

  test('of a plain object the numbers of fields count, in ascending order, and nothing else', () => {
    const out = new Uint8Array(64)
    const pack = (values: Record<string, FieldValue | undefined>): string =>
      out.slice(0, createPacker(ascii).pack('0800', values, out)).toHex()
    const expected = pack({ 11: '000001', 39: '00' })
    const others = { 0: '0800', 1: '1', 193: '1', 1011: '1', '011': '9', '-3': '1', '1e1': '1' }
    expect(pack({ ...others, 39: '00', 11: '000001' })).toBe(expected)
    expect(pack({ 39: '00', pan: '4', '': '4', '3 ': '4', 11: '000001' })).toBe(expected)
    expect(pack({ 11: '000001', 39: '00', 70: undefined, 3: undefined })).toBe(expected)
    const high = pack({ 11: '000001', 39: '00', 70: '301', 90: undefined })
    expect(high.length).toBe(expected.length + 2 * (8 + 3))
  })

  test('three bitmaps are written and read; bit 129 is a field', () => {
    const wide = parseDialect(
      {
        name: 'wide',
        extends: 'ascii',
        fields: { 150: { type: 'n', max: 3, encoding: 'ascii' } },
      },
      dialects,
    )
    const out = new Uint8Array(64)
    const end = createPacker(wide).pack('0100', { 3: '1', 150: '007' }, out)
    const parser = createParser(wide).parse(out, 0, end)
    expect([parser.fields(), parser.text(150)]).toEqual([[3, 150], '007'])
    out[20]! |= 0x80
    expect(code(() => parser.parse(out, 0, end))).toEqual(['iso8583_field_unknown', '129'])
  })

  test('dialects are refused by field and rule', () => {
    const refused = (json: unknown): unknown => {
      try {
        return parseDialect(json, dialects)
      } catch (error) {
        return error instanceof CodecError ? error.context['path'] : error
      }
    }
    const field = (change: object) =>
      refused({ name: 'x', extends: 'ascii', fields: { 11: change } })
    expect(refused([])).toBe('dialect')
    expect(refused({ name: 'x', extends: 'nothing' })).toBe('extends')
    expect(refused({ name: 'x', extends: 'ascii', colour: 1 })).toBe('colour')
    expect(refused({ name: 'x', extends: 'ascii', fields: { 65: {} } })).toBe('fields.65')
    expect(refused({ name: 'x', extends: 'ascii', marksSecond: false })).toBe('marksSecond')
    expect(refused({ name: 'x', fields: {} })).toBe('fields')
    expect(field({ max: 0 })).toBe('fields.11.max')
    expect(field({ max: 10000 })).toBe('fields.11.max')
    expect(field({ encoding: 'binary' })).toBe('fields.11.encoding')
    expect(field({ type: 'ans', encoding: 'bcd' })).toBe('fields.11.encoding')
    expect(field({ prefixDigits: 2, max: 100 })).toBe('fields.11.max')
    expect(field({ prefixDigits: 5 })).toBe('fields.11.prefixDigits')
  })
})

/** A random dialect: every axis of every field drawn on its own. */
const fieldSpec = fc
  .record({
    type: fc.constantFrom('n', 'a', 'an', 'anp', 'ans', 'z', 'b', 'x+n'),
    max: fc.integer({ min: 1, max: 99 }),
    prefixDigits: fc.constantFrom(0, 2, 3),
    text: fc.constantFrom('ascii', 'ebcdic', 'ebcdic-037'),
    bytes: fc.constantFrom('binary', 'hex'),
    packed: fc.boolean(),
    prefix: fc.constantFrom('ascii', 'ebcdic', 'bcd', 'binary'),
    unit: fc.constantFrom('digits', 'bytes'),
    padSide: fc.constantFrom('left', 'right'),
    padNibble: fc.constantFrom(0, 15),
  })
  .map(({ text, bytes, packed, ...rest }) => {
    const packable = rest.type === 'n' || rest.type === 'z' || rest.type === 'x+n'
    return {
      ...rest,
      name: '',
      encoding: rest.type === 'b' ? bytes : packable && packed ? 'bcd' : text,
      // Digits of a hexadecimal value are two for each byte.
      max:
        rest.type === 'x+n'
          ? rest.max + (rest.max % 2)
          : Math.min(rest.max, rest.type === 'b' ? 49 : 99),
      prefixDigits: rest.type === 'x+n' ? 0 : rest.prefixDigits,
      // Tracks use all sixteen nibbles, so none is left to mark the filling.
      padNibble: rest.type === 'z' ? 0 : rest.padNibble,
    } as unknown as FieldSpec
  })

const alphabet = (type: string): string => {
  if (type === 'n' || type === 'x+n') return '0123456789'
  if (type === 'z') return '0123456789='
  if (type === 'a') return 'ABCz '
  if (type === 'an') return 'AZaz09'
  return type === 'anp' ? 'AZaz09 ' : 'AZaz09 *[]^~é'
}

const valueFor = (spec: FieldSpec): fc.Arbitrary<FieldValue> => {
  const fixed = spec.prefixDigits === 0
  const even = spec.encoding === 'bcd' && spec.unit === 'bytes' && spec.padNibble <= 9 && !fixed
  const length = fixed
    ? fc.constant(spec.max)
    : fc.integer({ min: 0, max: spec.max }).map((n) => (even ? n - (n % 2) : n))
  return length.chain((n): fc.Arbitrary<FieldValue> => {
    if (spec.type === 'b') return fc.uint8Array({ minLength: n, maxLength: n })
    const unit = fc.constantFrom(...alphabet(spec.type))
    const text = fc.string({ unit, minLength: n, maxLength: n })
    return spec.type === 'x+n' ? text.map((digits) => `C${digits}`) : text
  })
}

const scenario = fc
  .record({
    mti: fc.constantFrom('ascii', 'ebcdic', 'bcd'),
    bitmap: fc.constantFrom('binary', 'hex', 'hex-ebcdic'),
    fixed128: fc.boolean(),
    fields: fc.dictionary(
      fc
        .integer({ min: 2, max: 192 })
        .filter((de) => de !== 65)
        .map(String),
      fieldSpec,
      { minKeys: 1, maxKeys: 12 },
    ),
  })
  .chain((json) =>
    fc
      .record(
        Object.fromEntries(
          Object.entries(json.fields).map(([de, spec]) => [
            de,
            fc.option(valueFor(spec), { nil: undefined, freq: 3 }),
          ]),
        ),
      )
      .map((values) => ({ json: { name: 'random', ...json }, values })),
  )

describe('properties', () => {
  test('any message of any dialect is read back as it was written', () => {
    fc.assert(
      fc.property(scenario, ({ json, values }) => {
        const dialect: Dialect = parseDialect(json, {})
        const out = new Uint8Array(8192)
        const given = values as Record<number, FieldValue | undefined>
        const end = createPacker(dialect).pack('0100', given, out, 3)
        const parser = createParser(dialect).parse(out, 3, end)
        for (const [de, value] of Object.entries(given)) {
          expect(parser.has(Number(de))).toBe(value !== undefined)
          if (value !== undefined) expect(parser.value(Number(de))).toEqual(value)
        }
      }),
      { numRuns: 1500 },
    )
  })

  test('a changed message is read or refused with a CodecError, and what is read packs again', () => {
    const messages = Object.values(dialects).flatMap((dialect) => {
      const out = new Uint8Array(512)
      const end = createMessagePacker(createPacker(dialect))(authorization(), out)
      return [undefined, new Set([11, 39])].map((checked) => ({
        dialect,
        checked,
        bytes: out.slice(0, end),
        parser: createParser(dialect, checked),
      }))
    })
    const change = fc.record({ at: fc.nat(511), to: fc.nat(255), cut: fc.nat(40) })
    fc.assert(
      fc.property(
        fc.constantFrom(...messages),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        ({ dialect, checked, bytes, parser }, changes) => {
          let changed = bytes.slice()
          for (const { at, to, cut } of changes) {
            changed[at % changed.length] = to
            if (cut > 36 && changed.length > 1)
              changed = changed.slice(0, changed.length - (cut - 36))
          }
          try {
            parser.parse(changed)
          } catch (error) {
            expect(error).toBeInstanceOf(CodecError)
            expect((error as CodecError).offset).toBeLessThanOrEqual(changed.length)
            return
          }
          const values = Object.fromEntries(parser.fields().map((de) => [de, parser.value(de)]))
          const out = new Uint8Array(4096)
          const end = createPacker(dialect, checked).pack(parser.mti, values, out)
          createParser(dialect, checked).parse(out, 0, end)
        },
      ),
      { numRuns: 5000 },
    )
  })

  test('data objects of ICC data are read back, in order', () => {
    const object = fc.record({
      tag: fc.constantFrom('82', '9F02', 'DF8129', '5A'),
      value: fc.uint8Array({ maxLength: 300 }),
    })
    fc.assert(
      fc.property(fc.array(object, { maxLength: 8 }), (objects) => {
        expect(parseTlv(writeTlv(objects))).toEqual(objects)
      }),
    )
  })

  test('bytes 00 before, between and after data objects say nothing, and hide none', () => {
    const read = (hex: string) =>
      parseTlvWithin(bytesOfHex(hex)!).map(({ tag, value }) => `${tag}:${value.length}`)
    expect(read('00009F02060000000010000082020000000000')).toEqual(['9F02:6', '82:2'])
    expect(read('700700820200FF00008400')).toEqual(['82:2', '84:0'])
    expect(read(`00570141${'9F1054'}${'00'.repeat(84)}`)).toEqual(['57:1', '9F10:84'])
    expect(read('0000')).toEqual([])
    expect(() => writeTlv([{ tag: '00', value: new Uint8Array(1) }])).toThrow('not 00')
    expect(maskBytes(55, bytesOfHex('005A024111008201FF00')!)).toBe('5A=**** 82=FF')
  })
})

describe('framing', () => {
  const bodies = [40, 1, 300].map((size) => Uint8Array.from({ length: size }, (_, i) => i % 251))
  const stream = (name: FramingName): Uint8Array => {
    const framing = framings[name]
    const out = new Uint8Array(1024)
    let at = 0
    for (const body of bodies) {
      const end = writeFrame(framing, body.length, out, at)
      out.set(body, at + headerBytes(framing))
      at = end
    }
    return out.slice(0, at)
  }

  for (const name of Object.keys(framings) as FramingName[]) {
    test(`${name}: every split into two, and byte by byte`, () => {
      const bytes = stream(name)
      const got: Uint8Array[] = []
      const decoder = () =>
        new FrameDecoder(framings[name], {
          keepAlive: () => expect.unreachable(),
          message: (from, start, end) => got.push(from.slice(start, end)),
        })
      for (let cut = 0; cut <= bytes.length; cut++) {
        got.length = 0
        const one = decoder()
        one.push(bytes.subarray(0, cut))
        one.push(bytes.subarray(cut))
        expect(got).toEqual(bodies)
        expect(one.pendingBytes).toBe(0)
      }
      got.length = 0
      const single = decoder()
      for (const byte of bytes) single.push(Uint8Array.of(byte))
      expect(got).toEqual(bodies)
    })
  }

  test('length zero keeps alive; the longest passes and one more breaks the stream', () => {
    let alive = 0
    let last = 0
    const handler = {
      keepAlive: () => {
        alive++
      },
      message: (_: Uint8Array, start: number, end: number) => {
        last = end - start
      },
    }
    const decoder = new FrameDecoder(framings['binary-2'], handler, 4)
    decoder.push(Uint8Array.of(0, 0, 0, 4, 1, 2, 3, 4, 0))
    decoder.push(Uint8Array.of(0))
    expect([alive, last]).toEqual([2, 4])
    expect(() => decoder.push(Uint8Array.of(0, 5))).toThrow(CodecError)
    expect(() => decoder.push(Uint8Array.of(0, 1, 1))).toThrow('the stream is broken')
  })

  test('a message inside one chunk is handed out where it lies', () => {
    const bytes = stream('binary-2')
    let same = 0
    new FrameDecoder(framings['binary-2'], {
      keepAlive: () => undefined,
      message: (from) => {
        if (from === bytes) same++
      },
    }).push(bytes)
    expect(same).toBe(bodies.length)
  })

  test('nonsense is refused: digits, reserved bytes, trailer', () => {
    const push = (name: FramingName, bytes: number[]) => () =>
      new FrameDecoder(framings[name], {
        keepAlive: () => undefined,
        message: () => undefined,
      }).push(Uint8Array.from(bytes))
    expect(push('ascii-4', [0x30, 0x30, 0x47, 0x30])).toThrow(CodecError)
    expect(push('bcd-2', [0x0a, 0])).toThrow(CodecError)
    expect(push('binary-2-reserved', [0, 1, 9, 0, 1])).toThrow(CodecError)
    expect(push('binary-2-trailer', [0, 2, 1, 4])).toThrow(CodecError)
    expect(push('binary-2-inclusive', [0, 1, 1])).toThrow(CodecError)
  })
})

describe('what is printed', () => {
  test('card data is masked unless asked for', () => {
    const out = new Uint8Array(512)
    const message = authorization()
    message.track2 = encoder.encode(`${pan}=28121010000000000`)
    message.additionalData = encoder.encode('CVV 123')
    message.iccData = Uint8Array.of(0x5a, 2, 0x41, 0x11, 0x82, 1, 0)
    const end = createMessagePacker(createPacker(dialects['ascii']!))(message, out)
    const bytes = out.slice(0, end)
    const masked = explainIso8583(bytes, dialects['ascii']!)
    const { fields } = masked.json
    expect([fields['2'], fields['35']]).toEqual(['411111******1111', '411111******1111=***'])
    expect([fields['48'], fields['52'], fields['55']]).toEqual([
      '***',
      { hex: '***' },
      { hex: '5A=**** 82=00' },
    ])
    expect(JSON.stringify(masked)).not.toContain('34313131')
    const { json } = explainIso8583(bytes, dialects['ascii']!, { unmasked: true })
    expect(packIso8583(json, dialects['ascii']!)).toEqual(bytes)
  })

  test('short numbers are hidden wholly, numbers in free text are found', () => {
    expect([maskPan(pan), maskPan('1234'), maskPan('')]).toEqual(['411111******1111', '****', ''])
    expect(maskText(60, `ref ${pan}`)).toBe('ref 411111******1111')
    expect(maskText(60, `ref 0000${pan}1`)).toBe(`ref ${'*'.repeat(21)}`)
    expect(maskBytes(55, Uint8Array.of(0x9f))).toBe('***')
  })

  test.each(['ascii', 'ascii-1993'])('%s: no field shows a card number that it holds', (name) => {
    const dialect = dialects[name]!
    for (const [de, { type, max, prefixDigits }] of Object.entries(dialect.fields)) {
      if (type === 'b' || max < pan.length || de === '2') continue
      const filled =
        prefixDigits > 0 ? pan : type === 'n' ? pan.padStart(max, '0') : pan.padEnd(max)
      const value = type === 'x+n' ? `C${pan}` : filled
      const explained = explainIso8583(
        packIso8583({ mti: '0100', fields: { [de]: value } }, dialect),
        dialect,
      )
      expect(explained.fields.map((field) => String(field.de))).toEqual([de])
      expect([de, JSON.stringify(explained)]).not.toEqual([de, expect.stringContaining(pan)])
      expect(explained.fields[0]?.hex).toBe('')
    }
  })

  test.each([
    ['4111 1111 1111 1111', '4111 11** **** 1111'],
    ['4111-1111-1111-1111 SP', '4111-11**-****-1111 SP'],
    ['411111.111111.1111', '411111.******.1111'],
    ['4111_1111/1111\u00a01111', '4111_11**/****\u00a01111'],
    ['4111 - 1111 1111   1111', '4111 - 11** ****   1111'],
    ['4111    1111 1111 1111', '4111    1111 1111 1111'],
    ['LOJA 12 4111 1111 1111 1111 34', 'LOJA ** **** **** **** **** **'],
    ['RUA 15, 01310-100 TEL 11-98765', 'RUA 15, 01310-100 TEL 11-98765'],
  ])('%s is shown as %s', (text, shown) => {
    expect(maskText(43, text)).toBe(shown)
    expect(maskText(60, text)).toBe(shown)
    const message = Object.assign(new CardMessage(), { merchantName: text })
    expect(shownFields(message)['043']).toBe(shown)
  })

  test('numbers of several parts are shown in these, and amounts as they are', () => {
    expect(maskText(90, '010000012311201430050000001234500000000000')).toBe(
      '0100 000123 1120143005 00000012345 00000000000',
    )
    expect(maskText(95, '000000001000000000000000D00000000000000000')).toBe(
      '000000001000 000000000000 D00000000 000000000',
    )
    expect(maskText(30, '000000012345000000012345', '1993')).toBe('000000012345 000000012345')
    expect(maskText(56, '11000000412611200000000512345', '1993')).toBe(
      '1100 000041 261120000000 05 12345',
    )
    expect(maskText(86, '0000123456789012')).toBe('0000123456789012')
    expect(maskText(97, 'C0000000000012345')).toBe('C0000000000012345')
    expect(maskText(42, 'MERCHANT0000001')).toBe('MERCHANT0000001')
  })

  test('card data inside of templates is masked, and what cannot be read is hidden', () => {
    const shown = (objects: Parameters<typeof writeTlv>[0]) => maskBytes(55, writeTlv(objects))
    const number = { tag: '5A', value: Uint8Array.of(0x41, 0x11) }
    const inside = writeTlv([number, { tag: '82', value: Uint8Array.of(0) }])
    const template = { tag: '70', value: inside }
    expect(shown([template])).toBe('70=[5A=**** 82=00]')
    expect(shown([{ tag: '7F21', value: writeTlv([template]) }])).toBe('7F21=[70=[5A=**** 82=00]]')
    expect(
      shown([
        { tag: 'E1', value: Uint8Array.of(0x41) },
        { tag: '70', value: inside.subarray(0, 3) },
      ]),
    ).toBe('E1=** 70=******')
    let deep = template
    for (let depth = 0; depth < 6; depth++) deep = { tag: '70', value: writeTlv([deep]) }
    expect(shown([deep])).toMatch(/^(70=\[){4}70=\*+\]{4}$/)
    expect(parseTlvWithin(writeTlv([template])).map(({ tag }) => tag)).toEqual(['5A', '82'])
    expect(() => parseTlvWithin(writeTlv([deep]))).toThrow('at most 4 templates')
  })

  test('a message cut short is read as far as it goes', () => {
    const bytes = packIso8583(
      { mti: '0100', fields: { 3: '000000', 11: '000001' } },
      dialects['ascii']!,
    )
    const { json, error } = explainIso8583(bytes.subarray(0, bytes.length - 1), dialects['ascii']!)
    expect(json).toEqual({ mti: '0100', fields: { 3: '000000' } })
    expect([error?.code, error?.offset, error?.context['field']]).toEqual([
      'iso8583_truncated',
      18,
      '11',
    ])
  })
})

describe('sub-elements', () => {
  test('the original data of a reversal', () => {
    const data = {
      mti: '0100',
      stan: '000123',
      transmissionDateTime: '1120143005',
      acquirerId: '12345',
      forwarderId: '',
    }
    const text = formatOriginalData(data)
    expect(text).toBe('010000012311201430050000001234500000000000')
    expect(parseOriginalData(text).stan).toBe('000123')
    expect(() => parseOriginalData(text.slice(1))).toThrow(CodecError)
  })
})
