import { describe, expect, test } from 'bun:test'
import { messageTypes } from '#codecs/iso20022'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createTransform } from '#src/spi/index.ts'
import { createTransformer } from '../../../../src/spi/api/transform/service.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { pacs008, utf8 } from '../../../support/messages.ts'

const transform = createTransformer()

// biome-ignore lint/suspicious/noExplicitAny: an answer's members are what the tests look at
type Loose = any

const createCalls = () => {
  const { record, key } = testKey('spi:transform')
  const metrics = createMetrics({ version: '0', withProcess: false })
  const app = testApp(createTransform({ metrics }).routes ?? [], { keys: [record] })
  const call = async (
    source_format: string,
    target_format: string,
    message: string,
  ): Promise<{ status: number; body: Loose }> => {
    const body = { source_format, target_format, message }
    const response = await app.call('POST', '/v1/transform', { key, body })
    return { status: response.status, body: await response.json() }
  }
  const list = async (): Promise<Loose> =>
    await (await app.call('GET', '/v1/transformations', { key })).json()
  return { call, list, metrics }
}

const { call, list } = createCalls()
const xml = pacs008({ signature: '' })

const jsonOf = async (): Promise<Loose> => (await call('pacs.008', 'json', xml)).body.result

describe('the JSON form', () => {
  test('holds the whole message, and becomes the same XML', async () => {
    const there = await call('pacs.008', 'json', xml)
    expect(there).toMatchObject({
      status: 200,
      body: {
        source_format: 'pacs.008',
        target_format: 'json',
        result: { Envelope: { AppHdr: { MsgDefIdr: 'pacs.008.spi.1.13' } } },
      },
    })
    const back = await call('json', 'pacs.008', JSON.stringify(there.body.result))
    expect(back).toMatchObject({
      status: 200,
      body: { source_format: 'json', target_format: 'pacs.008' },
    })
    const again = await call('pacs.008', 'json', back.body.result.xml)
    expect(again.body.result).toEqual(there.body.result)
  })

  test('is made of a message that breaks its schema, with what is wrong beside it', async () => {
    const { status, body } = await call('pacs.008', 'json', xml.replace('SLEV', 'NONE'))
    expect(status).toBe(200)
    expect(body.violations).toMatchObject([{ rule: 'enumeration', expected: 'SLEV' }])
    const [transfer] = body.result.Envelope.Document.FIToFICstmrCdtTrf.CdtTrfTxInf
    expect(transfer.ChrgBr).toBe('NONE')
  })

  test('is made by the nearest version where one has no schema', async () => {
    const newer = xml.replaceAll('/1.13"', '/7.77"').replace('spi.1.13', 'spi.7.77')
    const { status, body } = await call('pacs.008', 'json', newer)
    expect([status, body.violations]).toEqual([200, undefined])
    const added = newer.replace('<ChrgBr>', '<New><A>1</A></New><New>2</New><ChrgBr>')
    const more = await call('pacs.008', 'json', added)
    expect(more.body.violations).toHaveLength(2)
    const [transfer] = more.body.result.Envelope.Document.FIToFICstmrCdtTrf.CdtTrfTxInf
    expect(transfer.New).toEqual([{ A: '1' }, '2'])
    const names = Object.keys(transfer)
    expect(names.indexOf('New')).toBe(names.indexOf('ChrgBr') - 1)
  })
})

test('JSON that is no UTF-8 is refused, not mended', () => {
  const request = (message: Uint8Array) =>
    transform({
      sourceFormat: 'json',
      targetFormat: 'pacs.008',
      message,
      options: { validate: false, enrich: false },
    })
  expect(request(new Uint8Array([0x22, 0xff, 0x22]))).toEqual({
    ok: false,
    failure: { kind: 'not_json' },
  })
  expect(request(new TextEncoder().encode('"ÿ"'))).toMatchObject({ failure: { kind: 'problems' } })
})

describe('what a message says it is', () => {
  test.each(['pix_payment', 'json'])(
    'to %s: MsgDefIdr and namespace must agree',
    async (target) => {
      const other = xml.replace('pacs.008.spi.1.13', 'pacs.008.spi.1.14')
      const { status, body } = await call('pacs.008', target, other)
      expect(status).toBe(422)
      expect(body.code).toBe('message_rejected')
      expect(body.detail).toContain('MsgDefIdr is pacs.008.spi.1.14')
      expect(body.detail).toContain('that of pacs.008.spi.1.13')
    },
  )

  test('a version without schema still has its business view', async () => {
    const unknown = xml.replace('spi.1.13', 'spi.7.77').replaceAll('/1.13"', '/7.77"')
    const { status, body } = await call('pacs.008', 'pix_payment', unknown)
    expect(status).toBe(200)
    expect(body.result.transaction_count).toBe(1)
  })
})

describe('from JSON', () => {
  test('a member that is named twice is refused by its place: readers differ in which they take', async () => {
    const text = JSON.stringify(await jsonOf())
    const amount = /"IntrBkSttlmAmt":(\{[^}]*\})/
    expect(text).toMatch(amount)
    const twice = text.replace(amount, (whole) => `${whole},${whole}`)
    const place = '/Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf/0/IntrBkSttlmAmt'
    const numbered = twice.replace('{', '{"n":0.12345678901234567890,')
    for (const message of [twice, numbered]) {
      const { status, body } = await call('json', 'pacs.008', message)
      expect(status).toBe(422)
      expect(body.errors).toMatchObject([{ pointer: place, message: 'is given more than once' }])
    }
  })

  test.each(['', '{"Envelope":', 'no'])('%p is no JSON', async (message) => {
    const { status, body } = await call('json', 'pacs.008', message)
    expect(status).toBe(422)
    expect(body).toMatchObject({ code: 'schema_violation', errors: [{ pointer: '/message' }] })
  })

  test.each(['[]', 'null', '{}', '{"Envelope":{"AppHdr":{"MsgDefIdr":"pacs.002.spi.1.14"}}}'])(
    '%p does not say that it is the type',
    async (message) => {
      const { status, body } = await call('json', 'pacs.008', message)
      expect(status).toBe(422)
      expect(body.errors[0].pointer).toBe('/Envelope/AppHdr/MsgDefIdr')
    },
  )

  test('an unknown version has no schema', async () => {
    const message = await jsonOf()
    message.Envelope.AppHdr.MsgDefIdr = 'pacs.008.spi.7.77'
    const { status, body } = await call('json', 'pacs.008', JSON.stringify(message))
    expect(status).toBe(422)
    expect(body.errors[0].message).toBe('has no schema')
  })

  test('an unknown element is named by its path', async () => {
    const message = await jsonOf()
    message.Envelope.Document.FIToFICstmrCdtTrf.Other = 'x'
    const { status, body } = await call('json', 'pacs.008', JSON.stringify(message))
    expect(status).toBe(422)
    expect(body.code).toBe('schema_violation')
    expect(body.errors).toMatchObject([
      { pointer: '/Envelope/Document/FIToFICstmrCdtTrf/Other', message: 'is not known here' },
    ])
  })

  const noted = async (note: unknown): Promise<string> => {
    const message = await jsonOf()
    const Signature = { SignedInfo: {}, SignatureValue: { '#text': '' }, Object: [{ note }] }
    message.Envelope.AppHdr.Sgntr = { Signature }
    return JSON.stringify(message)
  }
  const inner = '"inner"'
  const attributes = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`@a${i}`, '1']))

  test.each([
    [
      'elements within elements',
      { a: 'inner' },
      (n: number) => `${'{"a":'.repeat(n)}"x"${'}'.repeat(n)}`,
      70,
    ],
    [
      'so many of them that no stack holds them',
      { a: 'inner' },
      (n: number) => `${'{"a":'.repeat(n)}"x"${'}'.repeat(n)}`,
      50_000,
    ],
    ['a long text', { a: 'inner' }, (n: number) => `"${'x'.repeat(n)}"`, 1_048_577],
    ['many attributes', { ...attributes, a: 'inner' }, () => '"x"', 1],
  ])('too much of something is told as such: %s', async (_, note, write, count) => {
    const text = (await noted({ '@xmlns': 'urn:x', ...note })).replace(inner, write(count))
    expect(
      transform({
        sourceFormat: 'json',
        targetFormat: 'pacs.008',
        message: utf8(text),
        options: { validate: false, enrich: false },
      }),
    ).toMatchObject({ ok: false, failure: { kind: 'unwritable' } })
    if (text.length > 1_000_000) return
    const { status, body } = await call('json', 'pacs.008', text)
    expect([status, body.code]).toEqual([413, 'body_too_large'])
  })

  test('what would be no XML is refused by its form', async () => {
    const text = await noted({ '@xmlns': 'http://www.w3.org/2000/xmlns/' })
    const { status, body } = await call('json', 'pacs.008', text)
    expect(status).toBe(422)
    expect(body.errors).toMatchObject([{ pointer: '/message', rule: 'json_form' }])
  })

  test('a value that its schema refuses is named by its path', async () => {
    const message = await jsonOf()
    message.Envelope.Document.FIToFICstmrCdtTrf.GrpHdr.NbOfTxs = 'many'
    const { status, body } = await call('json', 'pacs.008', JSON.stringify(message))
    expect(status).toBe(422)
    expect(body.errors[0].pointer).toEndWith('/GrpHdr/NbOfTxs')
  })
})

describe('formats', () => {
  test('every type is listed to JSON and back', async () => {
    const { transformations } = await list()
    expect(transformations).toHaveLength(3 + 2 * messageTypes.length)
    for (const type of messageTypes) {
      expect(transformations).toContainEqual({ source_format: type, target_format: 'json' })
      expect(transformations).toContainEqual({ source_format: 'json', target_format: type })
    }
  })

  test.each([
    ['pacs.009', 'json', '/source_format'],
    ['toString', 'json', '/source_format'],
    ['camt.054', 'pix_payment', '/target_format'],
    ['json', 'json', '/target_format'],
    ['json', 'pix_payment', '/target_format'],
    ['pacs.008', 'pacs.002', '/target_format'],
  ])('%s to %s is refused at %s', async (source, target, pointer) => {
    const { status, body } = await call(source, target, xml)
    const rule = pointer === '/source_format' ? 'enum' : 'pair'
    expect(status).toBe(400)
    expect(body.errors).toMatchObject([{ pointer, rule }])
  })

  test('what a caller makes up is no metric label', async () => {
    const { call: counted, metrics } = createCalls()
    await counted('made-up', 'json', xml)
    await counted('pacs.008', 'made-up', xml)
    await counted('json', 'pacs.008', '{}')
    const { text } = await metrics.render()
    expect(text).not.toContain('made-up')
    expect(text).toContain('source_type="json",target_format="pacs.008"')
  })
})
