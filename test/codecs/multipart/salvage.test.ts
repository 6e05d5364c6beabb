import { describe, expect, spyOn, test } from 'bun:test'
import {
  encodeMultipart,
  multipartContentType,
  multipartLimits,
  salvageMultipart,
} from '#codecs/multipart'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (body: Uint8Array): string => new TextDecoder().decode(body)
const type = multipartContentType('b b')
const documents = ['<a>é</a>', '<b>\r\n--b\r\n</b>', '<c/>']
const body = text(
  encodeMultipart(
    documents.map((one, i) => ({ headers: { 'PI-ResourceId': `r${i}` }, body: bytes(one) })),
    'b b',
  ),
)
const shown = (given: string, contentType = type, limits = multipartLimits) => {
  const { parts, lost, rest } = salvageMultipart(bytes(given), contentType, limits)
  const one = ({ headers, body: own }: (typeof parts)[number]) =>
    `${headers.get('pi-resourceid') ?? ''} ${text(own)}`
  return { parts: parts.map(one), lost, rest: rest === undefined ? undefined : one(rest) }
}
const all = documents.map((one, i) => `r${i} ${one}`)

describe('a body that only deviates from the form is read in whole', () => {
  const lines = body.replaceAll('\r\n', '\n')
  test.each([
    ['as it ought to be', body, type, all],
    ['lines end by LF', lines, type, all.map((one) => one.replaceAll('\r\n', '\n'))],
    ['no boundary is named', body, 'multipart/mixed', all],
    ['another boundary is named', body, multipartContentType('other'), all],
    [
      'the boundary is not legal',
      body.replaceAll('b b', 'b{b'),
      'multipart/mixed; boundary=b{b',
      all,
    ],
    [
      'a header line is none',
      body.replace('PI-ResourceId: r1', 'no header\r\n: x\r\nPI-ResourceId: r1'),
      type,
      all,
    ],
    [
      'a header has blanks before its colon',
      body.replace('PI-ResourceId: r1', 'PI-ResourceId : r1'),
      type,
      all,
    ],
    ['a preamble', `some words\r\n${body}`, type, all],
    ['nothing behind the last delimiter', body.trimEnd(), type, all],
    ['no headers, no blank line', '--b\n<a/>\n--b--', 'multipart/mixed; boundary=b', [' <a/>']],
    ['no parts', '--b--\n', 'multipart/mixed; boundary=b', []],
  ])('%s', (_, given, contentType, expected) => {
    expect(shown(given, contentType)).toEqual({ parts: expected, lost: undefined, rest: undefined })
  })
})

describe('what cannot be read is told, and the rest is given', () => {
  test('no delimiter at all', () => {
    for (const given of ['', '<a/>', 'text\r\n-- \r\n', `--${'x'.repeat(300)}\r\n`]) {
      expect(shown(given, 'multipart/mixed')).toMatchObject({
        parts: [],
        lost: 'multipart_boundary',
      })
    }
  })

  test('a body that ends too early, at every place', () => {
    const lastDelimiter = body.lastIndexOf('\r\n--b b--')
    for (let end = body.indexOf('\r\n') + 2; end < lastDelimiter; end++) {
      const { parts, lost, rest } = shown(body.slice(0, end))
      expect(lost).toBe('multipart_truncated')
      expect(all.slice(0, parts.length)).toEqual(parts)
      const whole = all[parts.length] ?? ''
      if (rest?.startsWith('r')) expect(rest.startsWith(whole) || whole.startsWith(rest)).toBe(true)
    }
  })

  test('a part whose body begins nowhere', () => {
    const given = body.replace('PI-ResourceId: r1\r\n\r\n<b>', 'PI-ResourceId: r1')
    expect(shown(given.replace('\r\n--b\r\n</b>', ''))).toMatchObject({
      parts: [all[0], all[2]],
      lost: 'multipart_header',
    })
  })

  test('parts up to the limit', () => {
    const limits = { ...multipartLimits, partsMax: 3 }
    expect(shown(body, type, limits)).toMatchObject({ parts: all, lost: undefined })
    expect(shown(body, type, { ...limits, partsMax: 2 })).toMatchObject({
      parts: all.slice(0, 2),
      lost: 'multipart_parts',
    })
  })
})

describe('a body that is made to be read for long', () => {
  const size = 262_144
  const filled = (text: string) =>
    new Uint8Array(Buffer.concat([Buffer.from('--b\r\n'), Buffer.alloc(size, text)]))

  test('with the delimiter again and again within a line is looked at once', () => {
    const find = spyOn(Uint8Array.prototype, 'indexOf')
    const { lost } = salvageMultipart(filled('--b'), 'multipart/mixed; boundary=b')
    const looked = find.mock.calls.map(([, from = 0], i) => {
      const at = Number(find.mock.results[i]?.value)
      return (at === -1 ? size : at) - from
    })
    find.mockRestore()
    expect(lost).toBe('multipart_truncated')
    expect(looked.reduce((sum, one) => sum + one, 0)).toBeLessThan(4 * size)
  })

  test('with more delimiters than parts are allowed is read so far, whatever is between them', () => {
    const body = filled('\r\n--b')
    expect(salvageMultipart(body, 'multipart/mixed; boundary=b')).toEqual({
      parts: [],
      lost: 'multipart_parts',
      rest: undefined,
    })
  })
})
