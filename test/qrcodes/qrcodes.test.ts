import { describe, expect, test } from 'bun:test'
import { parseBrCode } from '#codecs/brcode'
import { brCodeInspector, createQrcodes } from '#src/qrcodes/index.ts'
import { testApp, testKey } from '../support/app.ts'

const { key, record } = testKey('qrcodes:use')
const { key: otherKey, record: other } = testKey('spi:send')
const nowhere = {
  read: () => Promise.reject(new Error('nothing is read here')),
  open: () => Promise.reject(new Error('nothing is opened here')),
}
const { call } = testApp(createQrcodes(nowhere).routes ?? [], { keys: [record, other] })

const merchant = { name: 'Fulano de Tal', city: 'BRASILIA' }
const evp = '123e4567-e12b-12d1-a456-426655440000'
const staticPayload =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'
const post = (kind: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  call('POST', `/v1/qrcodes/${kind}`, { key, body, headers })
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
const json = async (response: Response): Promise<any> => response.json()

describe('writing', () => {
  test('a static code, as the central bank publishes it', async () => {
    const response = await post('static', { ...merchant, key: evp })
    expect(response.status).toBe(200)
    expect(await json(response)).toEqual({
      payload: staticPayload,
      txid: null,
      kind: 'static',
      composite: false,
      key_kind: 'evp',
    })
  })

  test('all fields of a static code come back when it is read', async () => {
    const written = await json(
      await post('static', {
        name: 'José da Conceição',
        city: 'SÃO PAULO',
        key: '12ABC34501DE35',
        amount: '1234.56',
        txid: 'PEDIDO42',
        info: 'Açaí',
        postal_code: '01310100',
        merchant_category_code: '5812',
        single_use: true,
      }),
    )
    const code = parseBrCode(written.payload)
    expect(code).toMatchObject({
      merchantName: 'Jose da Conceicao',
      merchantCity: 'SAO PAULO',
      amount: '1234.56',
      postalCode: '01310100',
      merchantCategoryCode: '5812',
    })
    expect(code.pix).toMatchObject({ key: '12ABC34501DE35', txid: 'PEDIDO42', info: 'Acai' })
    expect(code.pix?.singleUse).toBe(true)
    expect(written).toMatchObject({ txid: 'PEDIDO42', key_kind: 'cnpj' })
  })

  test('accents are kept on demand', async () => {
    const body = { ...merchant, key: evp, name: 'José', charset: 'utf-8' }
    const { payload } = await json(await post('static', body))
    expect(payload).toContain('5905José')
  })

  test('signs have their usual form in ASCII, and no blank is left at an end', async () => {
    const body = { name: ' Bar “X” ', city: 'D´Água\u200b', key: evp, info: 'pague 5€ já' }
    const { payload } = await json(await post('static', body))
    const code = parseBrCode(payload)
    expect(code).toMatchObject({ merchantName: 'Bar "X"', merchantCity: "D'Agua" })
    expect(code.pix?.info).toBe('pague 5EUR ja')
  })

  test.each([
    ['static', { ...merchant, key: evp, info: 'a日b' }, '/info'],
    ['static', { ...merchant, key: evp, name: 'Loja 日本' }, '/name'],
    ['static', { ...merchant, key: evp, postal_code: '日' }, '/postal_code'],
    ['dynamic', { ...merchant, city: '日本', url: 'a.br/b' }, '/city'],
    ['composite', { ...merchant, recurrence_url: 'a.br/b', key: evp, info: '👍' }, '/info'],
  ])('%s leaves out no character: %j', async (kind, body, pointer) => {
    const response = await post(kind, body)
    expect(response.status).toBe(400)
    const { code, errors } = await json(response)
    expect(code).toBe('value_refused')
    const message = 'holds a character that ASCII has no form for: use charset utf-8'
    expect(errors).toEqual([{ pointer, rule: 'brcode_ascii', message }])
    const kept = await post(kind, { ...body, charset: 'utf-8' })
    expect(kept.status).toBe(200)
  })

  test('a dynamic code; the scheme is taken off', async () => {
    const txid = 'a'.repeat(26)
    const url = 'pix.example.com/8b3da2f39a4140d1a91abd93113bd441'
    const body = { ...merchant, url: `https://${url}`, txid }
    const written = await json(await post('dynamic', body))
    expect(written).toMatchObject({ txid, kind: 'dynamic', composite: false })
    expect(written.payload).toEndWith('630464E4')
  })

  test('composite codes of the three journeys', async () => {
    const recurrence_url = 'pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002'
    const alone = await json(await post('composite', { ...merchant, recurrence_url }))
    expect(alone).toMatchObject({ kind: 'authorization', composite: true })
    expect(alone.payload).toEndWith('630462C9')
    const charge = { ...merchant, recurrence_url, url: 'pix.example.com/abc', txid: 'b'.repeat(30) }
    expect(await json(await post('composite', charge))).toMatchObject({ kind: 'dynamic' })
    const withKey = { ...merchant, recurrence_url, key: evp, txid: 'A1' }
    expect(await json(await post('composite', withKey))).toMatchObject({ kind: 'static' })
  })

  test('the picture alone, by Accept', async () => {
    const png = await post('static', { ...merchant, key: evp }, { Accept: 'image/png' })
    expect(png.headers.get('content-type')).toBe('image/png')
    const bytes = new Uint8Array(await png.arrayBuffer())
    expect([...bytes.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47])
    const svg = await post('static', { ...merchant, key: evp }, { Accept: 'image/svg+xml, */*' })
    expect(svg.headers.get('content-type')).toBe('image/svg+xml')
    expect(await svg.text()).toStartWith('<svg')
    const either = await post(
      'static',
      { ...merchant, key: evp },
      { Accept: 'application/json, image/png' },
    )
    expect(either.headers.get('content-type')).toContain('application/json')
  })

  test.each([
    ['image/png;q=0, application/json', 'application/json'],
    ['image/png;q=0', 'application/json'],
    ['image/png;q=0.2, application/json;q=0.9', 'application/json'],
    ['image/png;q=oops, application/json', 'application/json'],
    ['application/json;q=0.1, image/png', 'image/png'],
    ['image/png;q=0.5, image/svg+xml;q=0.8, */*', 'image/svg+xml'],
    ['IMAGE/PNG; Q=1.000', 'image/png'],
    ['image/*', 'application/json'],
  ])('Accept: %s gives %s', async (accept, type) => {
    const answer = await post('static', { ...merchant, key: evp }, { Accept: accept })
    expect(answer.headers.get('content-type')).toStartWith(type)
  })

  test('the picture beside the payload, by the body', async () => {
    const png = await json(await post('static', { ...merchant, key: evp, image: 'png' }))
    expect(png.image.media_type).toBe('image/png')
    expect(Buffer.from(png.image.data, 'base64').subarray(1, 4).toString()).toBe('PNG')
    const svg = await json(await post('static', { ...merchant, key: evp, image: 'svg' }))
    expect(svg.image).toMatchObject({ media_type: 'image/svg+xml' })
    expect(svg.image.data).toStartWith('<svg')
  })

  test.each([
    ['static', { ...merchant, key: '52998224724' }, '/key', 'pix_key_check_digits'],
    ['static', { ...merchant, key: evp, name: 'x'.repeat(26) }, '/name', 'brcode_build'],
    ['static', { ...merchant, key: evp, txid: 'a-b' }, '/txid', 'brcode_build'],
    ['static', { ...merchant, key: evp, info: 'x'.repeat(60) }, '/info', 'brcode_build'],
    ['static', { ...merchant, key: evp, amount: '0.00' }, '/amount', 'brcode_build'],
    ['dynamic', { ...merchant, url: 'a.br/b', amount: '0' }, '/amount', 'brcode_build'],
    ['static', { ...merchant, key: evp, amount: 10 }, '/amount', 'type'],
    ['static', { ...merchant, key: evp, surprise: 1 }, '/surprise', 'unknown'],
    ['dynamic', { ...merchant, url: 'no-path' }, '/url', 'brcode_build'],
    ['dynamic', { ...merchant, url: 'a.br/b', txid: 'short' }, '/txid', 'format'],
    ['composite', { ...merchant, recurrence_url: 'x' }, '/recurrence_url', 'brcode_build'],
  ])('%s refuses, naming the field: %j', async (kind, body, pointer, rule) => {
    const response = await post(kind, body)
    expect(response.status).toBe(400)
    const problem = await json(response)
    const isForm = ['type', 'unknown', 'format'].includes(rule)
    expect(problem.code).toBe(isForm ? 'validation_failed' : 'value_refused')
    expect(problem.errors[0]).toMatchObject({ pointer, rule })
    expect(JSON.stringify(problem)).not.toContain('52998224724')
  })
})

describe('reading', () => {
  test('the tree and the Pix reading, from JSON or text', async () => {
    const fromJson = await json(await post('parse', { payload: staticPayload }))
    expect(fromJson).toMatchObject({
      length_unit: 'bytes',
      name: 'Fulano de Tal',
      amount: null,
      pix: { kind: 'static', key: evp, key_kind: 'evp', single_use: false, txid: null },
      warnings: [],
    })
    expect(fromJson.tree[1]).toMatchObject({ id: '26', value: null, offset: 6, length: 58 })
    expect(fromJson.tree[1].children[1]).toMatchObject({ path: '26.01', name: 'key', value: evp })
    const drawn = await json(await post('parse', { payload: staticPayload, image: 'png' }))
    const written = Buffer.from(drawn.image.data, 'base64')
    expect([drawn.image.media_type, written.subarray(1, 4).toString()]).toEqual([
      'image/png',
      'PNG',
    ])
    expect({ ...drawn, image: undefined }).toEqual({ ...fromJson, image: undefined })
    const alone = await post('parse', { payload: staticPayload }, { Accept: 'image/svg+xml' })
    expect(await alone.text()).toStartWith('<svg')
    const fromText = await post('parse', `${staticPayload}\n`, { 'Content-Type': 'text/plain' })
    expect(await json(fromText)).toEqual(fromJson)
  })

  test('a bad code is refused with tag path, offset and rule', async () => {
    const response = await post('parse', { payload: staticPayload.replace('1D3D', '1D3E') })
    expect(response.status).toBe(422)
    expect(await json(response)).toMatchObject({
      code: 'brcode_invalid',
      offset: 133,
      errors: [{ pointer: '63', rule: 'brcode_crc' }],
    })
  })
})

test('a key without the scope is refused', async () => {
  for (const kind of ['static', 'dynamic', 'composite', 'parse']) {
    const response = await call('POST', `/v1/qrcodes/${kind}`, { key: otherKey, body: {} })
    expect(response.status).toBe(403)
  }
})

describe('inspect', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  test('knows a code by its beginning and draws it', async () => {
    expect(brCodeInspector.matches(bytes(`\n${staticPayload}\n`))).toBe(true)
    expect(brCodeInspector.matches(bytes('<Envelope/>'))).toBe(false)
    const explained = await brCodeInspector.explain(bytes(`${staticPayload}\n`))
    expect(explained.title).toBe('Pix code, static')
    expect(explained.fields[1]?.children?.[1]).toEqual({ name: '01 key', value: evp })
    expect(explained.picture).toContain('█')
  })

  test('says where a code is wrong', async () => {
    const broken = bytes(staticPayload.replace('5303986', '5303840'))
    await expect(Promise.resolve(brCodeInspector.explain(broken))).rejects.toThrow(
      'tag 63, offset 133: the CRC does not match the payload (brcode_crc)',
    )
  })
})
