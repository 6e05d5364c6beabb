/** What people paste is explained over HTTP as on the command line. */
import { describe, expect, test } from 'bun:test'
import { CompactSign } from 'jose'
import { dialects, packIso8583 } from '#codecs/iso8583'
import { documents, inspectionBody } from '../../src/inspection/documents.ts'
import { createInspection } from '../../src/inspection/index.ts'
import { program } from '../../src/main.ts'
import { testApp, testKey } from '../support/app.ts'
import { pacs008 } from '../support/messages.ts'

const { key, record } = testKey('messages:read')
const { routes = [] } = createInspection(program.inspectors)
const { call, lines: logged } = testApp(routes, { keys: [record] })

type Answer = {
  readonly kind: string
  readonly title: string
  readonly failure: string | null
  readonly lines: readonly {
    readonly depth: number
    readonly name: string
    readonly value: string | null
    readonly meaning: string | null
    readonly path: string | null
  }[]
}

const ask = async (body: unknown) => {
  const response = await call('POST', '/v1/inspect', { key, body })
  return { status: response.status, json: (await response.json()) as Answer & { code?: string } }
}
const explain = async (content: string, more: object = {}): Promise<Answer> => {
  const { status, json } = await ask({ content, ...more })
  if (status !== 200) throw new Error(JSON.stringify(json))
  return json
}

const pan = '4111111111111111'
const authorization = {
  mti: '0100',
  fields: { 2: pan, 3: '000000', 4: '000000010000', 7: '0302120000', 11: '000001', 41: 'T1      ' },
}
const code =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000520400005303986540510.005802BR5913Fulano de Tal6008BRASILIA62070503***6304288F'
const token = await new CompactSign(
  new TextEncoder().encode(
    JSON.stringify({ txid: 'a1', exp: 1_772_463_600, valor: { final: '1.00' } }),
  ),
)
  .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
  .sign(new Uint8Array(32))

describe('a message that is pasted', () => {
  test('of ISO 20022 is told as a tree, with what codes mean', async () => {
    const { kind, title, lines } = await explain(pacs008())
    expect([kind, title]).toEqual(['iso20022', 'pacs.008, version 1.13'])
    const deepest = Math.max(...lines.map(({ depth }) => depth))
    expect(deepest).toBeGreaterThan(2)
    expect(lines.some(({ meaning }) => meaning !== null)).toBe(true)
    // Each line stands below one that is at most one step higher.
    for (const [at, { depth }] of lines.entries()) {
      expect(depth).toBeLessThanOrEqual((lines[at - 1]?.depth ?? -1) + 1)
    }
  })

  test('of XML tells each element by the path that the validation names, and in Portuguese when asked', async () => {
    const twice = '<a><b>1</b><b>2</b><c><d>3</d><d/></c></a>'
    const { lines } = await explain(twice)
    expect(lines.map(({ path }) => path)).toEqual([
      ...['/a/b[1]', '/a/b[2]', '/a/c', '/a/c/d[1]', '/a/c/d[2]'],
    ])
    const response = await call('POST', '/v1/inspect', {
      key,
      body: { content: pacs008() },
      headers: { 'Accept-Language': 'pt-BR' },
    })
    const told = ((await response.json()) as Answer).lines
    expect(told).toContainEqual(
      expect.objectContaining({ name: 'CdtTrfTxInf (transferência de crédito)' }),
    )
    expect(told).toContainEqual(expect.objectContaining({ value: 'CLRG', meaning: 'Pelo SPI' }))
  })

  test('of a card shows no number, whichever way it is asked for', async () => {
    const hex = packIso8583(authorization, dialects['ascii']!)
    const content = Buffer.from(hex).toString('hex')
    for (const more of [{}, { kind: 'iso8583' }, { kind: 'iso8583', dialect: 'ascii' }]) {
      const answer = await explain(content, more)
      expect(answer.title).toStartWith('ISO 8583 message 0100, dialect ascii')
      const text = JSON.stringify(answer)
      expect(text).not.toContain(pan)
      expect(text).not.toContain(Buffer.from(pan).toString('hex'))
    }
    const refused = await ask({ content, unmasked: true })
    expect(refused.status).toBe(400)
  })

  test('of a card that ends too soon is told as far as it goes', async () => {
    const hex = Buffer.from(packIso8583(authorization, dialects['ascii']!)).toString('hex')
    const { failure, lines } = await explain(hex.slice(0, -8))
    expect(failure).toContain('offset')
    expect(lines.some(({ name }) => name.startsWith('4 '))).toBe(true)
  })

  test('is a token or a code, too', async () => {
    const told = await explain(token)
    expect([told.kind, told.title]).toEqual([
      ...['jose', 'Signed token (JWS); its signature is not verified here'],
    ])
    expect(told.lines).toContainEqual({
      depth: 1,
      name: 'exp',
      value: '1772463600',
      meaning: '2026-03-02T15:00:00.000Z',
      path: null,
    })
    expect(told.lines).toContainEqual(
      expect.objectContaining({ name: 'valor.final', value: '1.00' }),
    )
    const [header = '', , signature = ''] = token.split('.')
    expect((await explain(`${header}..${signature}`)).lines).toContainEqual(
      expect.objectContaining({ name: 'payload', value: 'detached: it is sent beside the token' }),
    )
    expect((await explain(`${header}.a.b.c.d`)).title).toStartWith('Encrypted token (JWE)')
    const pix = await explain(` ${code}\n`)
    expect([pix.kind, pix.title]).toEqual(['brcode', 'Pix code, static'])
    const rsfn = `024c${'00'.repeat(586)}`
    expect((await explain(rsfn)).kind).toBe('rsfn')
  })

  test.each([
    ['of no known kind', { content: 'hello' }, '/content'],
    ['of a kind that there is not', { content: code, kind: 'swift' }, '/kind'],
    ['of another kind than it is said to be', { content: code, kind: 'jose' }, '/content'],
    ['of XML that is none', { content: '<a><b></a>' }, '/content'],
    [
      'of a dialect that there is not',
      { content: '0100', kind: 'iso8583', dialect: 'x' },
      '/content',
    ],
    ['of a token whose header is no JSON', { content: 'eyJx.a.b' }, '/content'],
    ['of 65 537 characters', { content: '<'.repeat(65_537) }, '/content'],
    ['that is missing', {}, '/content'],
  ])('%s is refused with a reason', async (_, body, pointer) => {
    const { status, json } = await ask(body)
    expect([status, json]).toMatchObject([400, { errors: [{ pointer }] }])
  })

  test('of 65 536 characters is explained', async () => {
    const start = '<a>'
    const content = `${start}${'b'.repeat(65_536 - 2 * start.length - 1)}</a>`
    expect((await explain(content)).title).toBe('XML, but no message of the SPI')
  })

  test('needs the right, and leaves nothing in the log', async () => {
    const none = testApp(routes, { keys: [record] })
    const body = { content: code }
    expect((await none.call('POST', '/v1/inspect', { body })).status).toBe(401)
    expect(logged.join('')).not.toContain('Fulano')
  })
})

test('what is pasted is deep or hostile, and every answer is one of the two', async () => {
  const deep = '<a>'.repeat(5_000) + '</a>'.repeat(5_000)
  const json = (depth: number) =>
    Buffer.from('['.repeat(depth) + ']'.repeat(depth)).toString('base64url')
  const hostile = [
    deep,
    `eyJhbGciOiJub25lIn0.${json(8_000)}.`,
    `eyJhbGciOiJub25lIn0.${Buffer.from('{"__proto__":{"a":1},"exp":1e308}').toString('base64url')}.`,
    `024c${'ff'.repeat(10)}`,
    '0002010',
    '30313030'.repeat(4_000),
    '<a><constructor>1</constructor><__proto__>2</__proto__><toString/></a>',
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    '0002012'.repeat(9_000),
  ]
  for (const content of hostile) {
    const { status } = await ask({ content })
    expect([content.slice(0, 20), [200, 400].includes(status)]).toEqual([
      content.slice(0, 20),
      true,
    ])
  }
})

test('a long name around many members is not repeated for each of them', async () => {
  const payload = Buffer.from(
    JSON.stringify({ ['k'.repeat(22_000)]: Array(10_000).fill(0) }),
  ).toString('base64url')
  const { lines } = await explain(`eyJhbGciOiJub25lIn0.${payload}.`)
  expect(lines.at(-1)?.name).toMatch(/^…k{190,194}\.99\d\d$/)
  expect(JSON.stringify(lines).length).toBeLessThan(4_000_000)
  // The path of an element is what POST /v1/validate says, so it is not cut.
  const names = Array.from({ length: 60 }, (_, at) => `${'k'.repeat(250)}${at}`)
  const open = names.map((name) => `<${name}>`).join('')
  const close = names
    .map((name) => `</${name}>`)
    .reverse()
    .join('')
  const { status, json } = await ask({ content: `${open}${'<a/>'.repeat(8_000)}${close}` })
  const errors = [{ pointer: '/content', rule: 'explained_length' }]
  expect([status, json]).toMatchObject([400, { errors }])
})

test('a claim that is named as what every object has means nothing', async () => {
  const payload = Buffer.from('{"constructor":"a","toString":"b"}').toString('base64url')
  const { lines } = await explain(`eyJhbGciOiJub25lIn0.${payload}.`)
  expect(lines.slice(-2)).toEqual(
    ['constructor', 'toString'].map((name, at) => ({
      depth: 1,
      name,
      value: 'ab'[at]!,
      meaning: null,
      path: null,
    })),
  )
})

test('the document names every dialect that is taken, and promises no more than is masked', () => {
  const { description = '' } = inspectionBody.shape.dialect
  expect(Object.keys(dialects).filter((name) => !description.includes(name))).toEqual([])
  const line = documents.inspect.responses[200].schema.shape.lines.element
  expect(line.shape.value.description).toContain('Card data of ISO 8583 is masked;')
})
