import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CodecError } from '#codecs/bytes'
import {
  boundaryCharsMax,
  boundaryOf,
  decodeMultipart,
  encodeMultipart,
  type MultipartPart,
  MultipartReader,
  multipartContentType,
  multipartLimits,
} from '#codecs/multipart'
import { codeOf } from '../../support/codec-error.ts'
import { countProcessorMs } from '../../support/processor-ms.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (body: Uint8Array): string => new TextDecoder().decode(body)
const shown = (parts: readonly MultipartPart[]) =>
  parts.map(({ headers, body }) => [Object.fromEntries(headers), text(body)])

/** A batch as the message interface sends it: a boundary with a blank, an identifier per part. */
const boundary = 'simple boundary'
const batch = [
  'to be ignored\r\n',
  '--simple boundary\r\n',
  'Content-Type: application/xml; charset=utf-8\r\nPI-ResourceId: UEkBdBgW6KbS\r\n\r\n',
  '<a>é</a>\r\n--simple boundar\r\n--simple boundaryX\r\n',
  '\r\n--simple boundary \t\r\n\r\nno headers',
  '\r\n--simple boundary\r\nPI-ResourceId:  two \r\nX: 1\r\nx: 2\r\n\r\n',
  '\r\n--simple boundary\r\nX: no body\r\n\r\n--simple boundary--\r\nepilogue\r\n--simple boundary\r\n',
].join('')
const batchShown = [
  [
    { 'content-type': 'application/xml; charset=utf-8', 'pi-resourceid': 'UEkBdBgW6KbS' },
    '<a>é</a>\r\n--simple boundar\r\n--simple boundaryX\r\n',
  ],
  [{}, 'no headers'],
  [{ 'pi-resourceid': 'two', x: '1, 2' }, ''],
  [{ x: 'no body' }, ''],
]

describe('reading', () => {
  test('a batch', () => {
    expect(shown(decodeMultipart(bytes(batch), boundary))).toEqual(batchShown)
  })

  test('a part without headers, wherever the buffer is full when its blank line comes', () => {
    const part = { headers: {}, body: bytes('second') }
    for (let length = 0; length < 2_200; length++) {
      const body = encodeMultipart([{ headers: {}, body: new Uint8Array(length) }, part], 'b')
      const blankLine = body.length - '\r\nsecond\r\n--b--\r\n'.length
      const reader = new MultipartReader('b')
      const parts = [
        ...reader.push(body.subarray(0, blankLine - 1)),
        ...reader.push(body.subarray(blankLine - 1, blankLine)),
        ...reader.push(body.subarray(blankLine)),
      ]
      reader.end()
      expect(parts.map(({ body: own }) => own.length)).toEqual([length, part.body.length])
    }
  })

  test('a batch cut at every place into two, and at every two places into three', () => {
    const body = bytes(batch)
    for (let first = 0; first <= body.length; first++) {
      for (let second = first; second <= body.length; second += first % 7 === 0 ? 1 : 13) {
        const reader = new MultipartReader(boundary)
        const parts = [
          ...reader.push(body.subarray(0, first)),
          ...reader.push(body.subarray(first, second)),
          ...reader.push(body.subarray(second)),
        ]
        reader.end()
        expect(shown(parts)).toEqual(batchShown)
      }
    }
  })

  test('a batch byte by byte: each part comes with the byte that ends its delimiter', () => {
    const reader = new MultipartReader(boundary)
    const parts: MultipartPart[] = []
    const at: number[] = []
    bytes(batch).forEach((byte, index) => {
      const found = reader.push(new Uint8Array([byte]))
      if (found.length > 0) at.push(index)
      parts.push(...found)
    })
    reader.end()
    expect(shown(parts)).toEqual(batchShown)
    expect(at).toHaveLength(4)
  })

  test('a part without a body whose headers end where the buffer is moved', () => {
    const part = { headers: { x: 'y'.repeat(150) }, body: new Uint8Array(0) }
    const body = encodeMultipart(
      Array.from({ length: 20 }, () => part),
      'b',
    )
    for (let step = 1; step < 40; step++) {
      const reader = new MultipartReader('b')
      let found = 0
      for (let at = 0; at < body.length; at += step) {
        found += reader.push(body.subarray(at, at + step)).length
      }
      reader.end()
      expect(found).toBe(20)
    }
  })

  test('a closing delimiter stands alone on its line', () => {
    const body = (end: string) => bytes(`--b\r\n\r\none\r\n--b--xyz\r\ntwo\r\n--b--${end}`)
    for (const end of ['', ' \t', '\r\n', ' \r\nafter', '\r\n--b--xyz']) {
      const whole = decodeMultipart(body(end), 'b')
      expect(whole.map((one) => text(one.body))).toEqual(['one\r\n--b--xyz\r\ntwo'])
      const reader = new MultipartReader('b')
      const cut = [...body(end)].flatMap((byte) => reader.push(new Uint8Array([byte])))
      expect([...cut, ...reader.end()].map((one) => text(one.body))).toEqual([
        'one\r\n--b--xyz\r\ntwo',
      ])
    }
    expect(codeOf(() => decodeMultipart(body('x'), 'b'))).toBe('multipart_truncated')
    expect(codeOf(() => decodeMultipart(body('\rx'), 'b'))).toBe('multipart_truncated')
  })

  test('the body of a part is a copy', () => {
    const body = bytes(batch)
    const [part] = decodeMultipart(body, boundary)
    body.fill(0)
    expect(text(part?.body ?? new Uint8Array())).toStartWith('<a>é</a>')
  })

  test('a body without its closing delimiter is truncated', () => {
    const complete = encodeMultipart([{ headers: {}, body: bytes('x') }], 'b')
    // The line break after the closing delimiter is the epilogue's.
    for (let length = 0; length <= complete.length; length++) {
      const expected = length < complete.length - 2 ? 'multipart_truncated' : 'no error'
      expect(codeOf(() => decodeMultipart(complete.subarray(0, length), 'b'))).toBe(expected)
    }
  })

  test.each(['no colon', ' folded: line', 'na me: x', ': x', 'x: a\u0000b'])(
    'a malformed header is refused: %s',
    (line) => {
      const body = bytes(`--b\r\n${line}\r\n\r\nx\r\n--b--`)
      expect(codeOf(() => decodeMultipart(body, 'b'))).toBe('multipart_header')
    },
  )
})

describe('limits, at the limit and one past it', () => {
  const limits = { partsMax: 2, partBytesMax: 10, headerBytesMax: 20, preambleBytesMax: 30 }
  const read = (body: string) => codeOf(() => decodeMultipart(bytes(body), 'b', limits))
  const part = (headers: string, body: string) => `\r\n--b\r\n${headers}\r\n\r\n${body}`

  test('parts', () => {
    const body = (count: number) => `${part('a: b', 'x').repeat(count)}\r\n--b--`
    expect(read(body(2))).toBe('no error')
    expect(read(body(3))).toBe('multipart_parts')
  })

  test('bytes of a part, before its end has come too', () => {
    const body = (count: number) => part('a: b', 'x'.repeat(count))
    expect(read(`${body(10)}\r\n--b--`)).toBe('no error')
    expect(read(`${body(11)}\r\n--b--`)).toBe('multipart_part_bytes')
    expect(read(body(1000))).toBe('multipart_part_bytes')
  })

  test('bytes of headers', () => {
    const body = (count: number) => `${part(`a: ${'x'.repeat(count - 3)}`, 'x')}\r\n--b--`
    expect(read(body(20))).toBe('no error')
    expect(read(body(21))).toBe('multipart_header_bytes')
    expect(read(`\r\n--b\r\n${'x'.repeat(50)}`)).toBe('multipart_header_bytes')
  })

  test('preamble', () => {
    const body = (count: number) => `${'x'.repeat(count)}${part('a: b', 'x')}\r\n--b--`
    expect(read(body(30))).toBe('no error')
    expect(read(body(31))).toBe('multipart_preamble_bytes')
    expect(read('x'.repeat(1000))).toBe('multipart_preamble_bytes')
  })

  test('time grows with length only', () => {
    // A body of near-delimiters in small chunks. CPU time, which some systems count in large steps.
    const timeOf = (size: number, times: number): number => {
      const body = bytes(`--b\r\n\r\n${'\r\n--c'.repeat(size)}\r\n--b--`)
      const usedMs = countProcessorMs()
      for (let time = 0; time < times; time++) {
        const reader = new MultipartReader('b')
        for (let at = 0; at < body.length; at += 64) reader.push(body.subarray(at, at + 64))
        reader.end()
      }
      return usedMs()
    }
    timeOf(20_000, 1)
    const factor = 16
    // As many bytes both times: alike where it is linear, by the factor more where it is quadratic. A disturbance
    // only ever raises one of the two.
    const ratios = Array.from({ length: 3 }, () => {
      const small = timeOf(20_000, factor)
      return timeOf(20_000 * factor, 1) / Math.max(small, 0.001)
    })
    expect(Math.min(...ratios)).toBeLessThan(factor / 3)
  })
})

describe('the boundary', () => {
  test.each([
    ['multipart/mixed; boundary=abc', 'abc'],
    ['Multipart/Mixed;boundary="simple boundary"', 'simple boundary'],
    ['multipart/mixed; charset=utf-8 ; Boundary = "a\\"b"', undefined],
    [
      'multipart/mixed; x="a;boundary=no"; boundary="gc0p4Jq0M2Yt08jU534c0p"',
      'gc0p4Jq0M2Yt08jU534c0p',
    ],
    ['multipart/mixed; boundary="a:b/c?d=(e)"', 'a:b/c?d=(e)'],
    ['multipart/mixed', undefined],
    ['multipart/mixed; boundary=""', undefined],
    ['multipart/mixed; boundary="ends with blank "', undefined],
    ['multipart/mixed; boundary=a; boundary=b', undefined],
    ['multipart/form-data; boundary=a', undefined],
    ['multipart/mixedx; boundary=a', undefined],
    ['multipart/mixed; boundary="open', undefined],
    ['multipart/mixed; boundary=a b', undefined],
  ])('of %s', (contentType, expected) => {
    if (expected === undefined) {
      expect(codeOf(() => boundaryOf(contentType))).toMatch(/^multipart_(boundary|content_type)$/)
    } else {
      expect(boundaryOf(contentType)).toBe(expected)
    }
  })

  test('has at most 70 characters', () => {
    const longest = 'x'.repeat(boundaryCharsMax)
    expect(boundaryOf(multipartContentType(longest))).toBe(longest)
    expect(codeOf(() => multipartContentType(`${longest}x`))).toBe('multipart_boundary')
  })
})

describe('writing', () => {
  test('what is written is read, however it is cut', () => {
    const anyBoundary = fc
      .stringMatching(/^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/)
      .filter((value) => value.length <= boundaryCharsMax)
    const anyPart = fc.record({
      headers: fc.dictionary(
        fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/),
        fc.stringMatching(/^[!-~]{0,30}$/),
      ),
      body: fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc
          .array(fc.constantFrom('\r', '\n', '-', '--', 'a'), { maxLength: 40 })
          .map((units) => bytes(units.join(''))),
      ),
    })
    fc.assert(
      fc.property(
        fc.array(anyPart, { minLength: 1, maxLength: 10 }),
        anyBoundary,
        fc.integer({ min: 1, max: 80 }),
        (parts, by, step) => {
          let body: Uint8Array
          try {
            body = encodeMultipart(parts, by)
          } catch (error) {
            // Short boundaries do occur in bodies of hyphens.
            expect(error).toBeInstanceOf(CodecError)
            return
          }
          const reader = new MultipartReader(boundaryOf(multipartContentType(by)))
          const found: MultipartPart[] = []
          for (let at = 0; at < body.length; at += step) {
            found.push(...reader.push(body.subarray(at, at + step)))
          }
          reader.end()
          expect(found.map(({ headers, body: own }) => [Object.fromEntries(headers), own])).toEqual(
            parts.map(({ headers, body: own }) => [{ ...headers }, own]),
          )
        },
      ),
      { numRuns: 300 },
    )
  })

  test('refuses what would break the body', () => {
    const part = { headers: {}, body: bytes('x') }
    expect(codeOf(() => encodeMultipart([], 'b'))).toBe('multipart_empty')
    expect(codeOf(() => encodeMultipart([part], 'b\r\n'))).toBe('multipart_boundary')
    expect(codeOf(() => encodeMultipart([{ ...part, body: bytes('a--b') }], 'b'))).toBe(
      'multipart_boundary_in_body',
    )
    for (const headers of [{ 'a b': 'x' }, { a: 'x\r\ny: z' }, { a: 'é' }]) {
      expect(codeOf(() => encodeMultipart([{ ...part, headers }], 'b'))).toBe('multipart_header')
    }
  })

  test('random bytes never make the reader throw anything but a CodecError', () => {
    const pieces = fc.constantFrom('\r\n', '--b', '--b--', 'a: b', '\r', '-', 'x', ' ')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (units) => {
        codeOf(() => decodeMultipart(bytes(units.join('')), 'b', multipartLimits))
      }),
      { numRuns: 3000 },
    )
  })
})
