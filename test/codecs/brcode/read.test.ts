import { describe, expect, test } from 'bun:test'
import { brcodeBytesMax, explainBrCode, parseBrCode } from '#codecs/brcode'
import { bytesOf, official, refusal, sealed, tlv } from './support.ts'

const head = '000201'
const template = '26580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000'
const tail = '5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***'
const pixOf = (payload: string) => parseBrCode(payload).pix

describe('the published examples', () => {
  test('a static code holds the key', () => {
    const code = parseBrCode(official.static)
    expect(code.merchantName).toBe('Fulano de Tal')
    expect(code.merchantCity).toBe('BRASILIA')
    expect(code.currency).toBe('986')
    expect(code.amount).toBeUndefined()
    expect(code.warnings).toEqual([])
    expect(code.pix).toMatchObject({
      kind: 'static',
      key: '123e4567-e12b-12d1-a456-426655440000',
      keyKind: 'evp',
      composite: false,
      singleUse: false,
      txid: undefined,
    })
  })

  test('a static code of a Pix Saque tells who provides the cash', () => {
    const value = `${tlv('00', 'br.gov.bcb.pix')}${tlv('01', 'a@b.example')}${tlv('03', '12345678')}`
    const pix = pixOf(sealed(`${head}${tlv('26', value)}${tail}`))
    expect(pix).toMatchObject({ kind: 'static', withdrawalProvider: '12345678' })
    expect(pixOf(official.static)?.withdrawalProvider).toBeUndefined()
  })

  test('a dynamic code holds the address of the charge and is for one payment', () => {
    expect(pixOf(official.dynamic)).toMatchObject({
      kind: 'dynamic',
      url: 'pix.example.com/8b3da2f39a4140d1a91abd93113bd441',
      singleUse: true,
      composite: false,
    })
  })

  test('composite codes hold a recurrence, alone or beside a charge', () => {
    const rec = 'pix.example.com/qr/v2/rec/'
    expect(pixOf(official.authorization)).toMatchObject({
      kind: 'authorization',
      composite: true,
      recurrenceUrl: `${rec}2353c790eefb11eaadc10242ac120002`,
    })
    expect(pixOf(official.chargeAndRecurrence)).toMatchObject({
      kind: 'dynamic',
      url: 'pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441',
      recurrenceUrl: `${rec}94ed2badcbc04c15b0bb7fa353194890`,
    })
    expect(pixOf(official.dueChargeAndRecurrence)).toMatchObject({
      kind: 'dynamic',
      url: 'pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e7',
      recurrenceUrl: `${rec}3ffa640fa4f14080adccb949fa2dc0d0`,
    })
  })

  test('bytes and text read the same', () => {
    for (const payload of Object.values(official)) {
      expect(parseBrCode(bytesOf(payload))).toEqual(parseBrCode(payload))
    }
  })
})

describe('the Pix template', () => {
  test('may have any id from 26 to 51, in any case', () => {
    for (const id of ['26', '37', '51']) {
      const value = template.slice(4).replace('br.gov.bcb.pix', 'BR.GOV.BCB.PIX')
      const pix = pixOf(sealed(head + tlv(id, value) + tail))
      expect(pix?.template).toBe(Number(id))
      expect(pix?.keyKind).toBe('evp')
    }
  })

  test('may stand beside those of other networks', () => {
    const other = tlv('26', `${tlv('00', 'com.other')}${tlv('01', 'merchant')}`)
    const pix = pixOf(sealed(head + other + template.replace(/^26/, '27') + tail))
    expect(pix?.template).toBe(27)
  })

  test('holds what the code says besides the key', () => {
    const value = `${template.slice(4)}${tlv('02', 'pedido 42')}`
    const code = parseBrCode(
      sealed(
        `${head}010212${tlv('26', value)}520459995303986540510.005802BR5903Ana6006RECIFE6108500000006213${tlv('05', 'PEDIDO042')}`,
      ),
    )
    expect(code).toMatchObject({
      amount: '10.00',
      merchantCategoryCode: '5999',
      postalCode: '50000000',
    })
    expect(code.pix).toMatchObject({ info: 'pedido 42', txid: 'PEDIDO042', singleUse: true })
  })

  test('absent means a code of another scheme, in any order', () => {
    const code = parseBrCode(
      sealed('0002015802US5303840520459995903Ana6006BOSTON26130009com.other'),
    )
    expect(code.pix).toBeUndefined()
    expect(code).toMatchObject({ currency: '840', country: 'US', merchantCity: 'BOSTON' })
  })
})

describe('what a reader is warned of', () => {
  test('a txid in a dynamic code, which the payer must take from the charge', () => {
    const text = official.dynamic.slice(0, -8).replace('62070503***', '62080504ABCD')
    expect(parseBrCode(sealed(text)).warnings).toEqual([
      { rule: 'dynamic_txid', path: '62.05', offset: text.indexOf('ABCD') },
    ])
  })

  test('a key that is of no kind', () => {
    const text = `${head}${tlv('26', `0014br.gov.bcb.pix${tlv('01', '11111111111')}`)}${tail}`
    const code = parseBrCode(sealed(text))
    expect(code.pix?.keyKind).toBeUndefined()
    expect(code.warnings).toEqual([
      { rule: 'unknown_key_form', path: '26.01', offset: text.indexOf('011111') + 4 },
    ])
  })

  test('lengths counted in characters, when only that works out', () => {
    const byBytes = sealed(head + template + tail.replace('5913Fulano de Tal', tlv('59', 'José')))
    const byCharacters = sealed(head + template + tail.replace('5913Fulano de Tal', '5904José'))
    for (const [payload, lengthUnit] of [
      [byBytes, 'bytes'],
      [byCharacters, 'characters'],
    ] as const) {
      for (const input of [payload, bytesOf(payload)]) {
        const code = parseBrCode(input)
        expect(code.merchantName).toBe('José')
        expect(code.merchantCity).toBe('BRASILIA')
        expect(code.lengthUnit).toBe(lengthUnit)
        expect(code.warnings.map(({ rule }) => rule)).toEqual(
          lengthUnit === 'bytes' ? [] : ['lengths_in_characters'],
        )
      }
    }
  })
})

describe('refusals name rule, tag path and offset', () => {
  const changed = (from: string, to: string): string =>
    sealed((head + template + tail).replace(from, to))
  const cases: readonly (readonly [name: string, payload: string, refusal: string])[] = [
    ['nothing', '', 'brcode_size  @0'],
    ['a digit missing in an id', sealed(`${head}5A`), 'brcode_id  @6'],
    ['a zero length', changed('5802BR', '5800'), 'brcode_length 58 @85'],
    ['a length that is no number', changed('5802BR', '58xxBR'), 'brcode_length 58 @85'],
    ['a value cut short', '00020126', 'brcode_length 26 @8'],
    ['an object over the end', '0002015802B', 'brcode_truncated 58 @10'],
    ['a child over the end of its template', changed('0136', '0199'), 'brcode_truncated 26.01 @32'],
    ['an id twice', changed('5802BR', '5802BR5802BR'), 'brcode_duplicate 58 @89'],
    [
      'a child twice',
      sealed(head + tlv('26', `0014br.gov.bcb.pix${tlv('01', 'a')}${tlv('01', 'b')}`) + tail),
      'brcode_duplicate 26.01 @33',
    ],
    ['another version', sealed(`000202${template}${tail}`), 'brcode_version 00 @0'],
    ['no version first', sealed(`${template}${head}${tail}`), 'brcode_version 00 @0'],
    ['no CRC', head + template + tail, 'brcode_crc_missing 63 @129'],
    ['something after the CRC', `${official.static}6103abc`, 'brcode_crc_missing 63 @129'],
    ['a CRC in lower case', official.static.replace('1D3D', '1d3D'), 'brcode_crc_format 63 @134'],
    ['a wrong CRC', official.static.replace('1D3D', '1D3E'), 'brcode_crc 63 @133'],
    ['nobody to pay', sealed(head + tail), 'brcode_missing 26 @75'],
    ['no name', changed('5913Fulano de Tal', ''), 'brcode_missing 59 @120'],
    ['no city', changed('6008BRASILIA', ''), 'brcode_missing 60 @125'],
    ['a category code of letters', changed('52040000', '5204000A'), 'brcode_value 52 @72'],
    ['another currency', changed('5303986', '5303840'), 'brcode_value 53 @80'],
    ['another country', changed('5802BR', '5802US'), 'brcode_value 58 @87'],
    [
      'a point of initiation of 13',
      sealed(`${head}010213${template}${tail}`),
      'brcode_value 01 @10',
    ],
    [
      'an amount with a comma',
      changed('5802BR', `${tlv('54', '10,00')}5802BR`),
      'brcode_value 54 @87',
    ],
    ['a negative amount', changed('5802BR', `${tlv('54', '-1.00')}5802BR`), 'brcode_value 54 @87'],
    ['three decimals', changed('5802BR', `${tlv('54', '1.000')}5802BR`), 'brcode_value 54 @87'],
    [
      'objects out of order',
      changed('5802BR5913Fulano de Tal', '5913Fulano de Tal5802BR'),
      'brcode_order 58 @100',
    ],
    [
      'key and address',
      sealed(head + tlv('26', `0014br.gov.bcb.pix0101a${tlv('25', 'a.br/b')}`) + tail),
      'brcode_pix_template 26 @10',
    ],
    ['neither', sealed(`${head}26180014br.gov.bcb.pix${tail}`), 'brcode_pix_template 26 @10'],
    [
      'two Pix templates',
      sealed(`${head}${template}${template.replace(/^26/, '27')}${tail}`),
      'brcode_pix_template 27 @68',
    ],
    [
      'an address with its scheme',
      sealed(head + tlv('26', `0014br.gov.bcb.pix${tlv('25', 'https://a.br/b')}`) + tail),
      'brcode_value 26.25 @32',
    ],
    [
      'an address without a path',
      sealed(head + tlv('26', `0014br.gov.bcb.pix${tlv('25', 'a.br')}`) + tail),
      'brcode_value 26.25 @32',
    ],
    [
      'a recurrence without address',
      sealed(`${head}${template}${tail}80180014br.gov.bcb.pix`),
      'brcode_pix_template 80 @133',
    ],
    ['a txid with a hyphen', changed('62070503***', '62070503a-b'), 'brcode_value 62.05 @126'],
    ['a control character in the name', changed('Fulano de', 'Fulano\tde'), 'brcode_value 59 @93'],
  ]
  test.each(cases)('%s', (_name, payload, expected) => {
    expect(refusal(() => parseBrCode(payload))).toBe(expected)
    expect(refusal(() => parseBrCode(bytesOf(payload)))).toBe(expected)
  })

  test('bytes that are not UTF-8', () => {
    const bytes = bytesOf(official.static)
    bytes[100] = 0xff
    expect(refusal(() => parseBrCode(bytes))).toBe('brcode_utf8  @0')
  })
})

describe('limits, at the limit and one past it', () => {
  const withName = (name: string) =>
    sealed(head + template + tail.replace('5913Fulano de Tal', tlv('59', name)))
  const withCity = (city: string) =>
    sealed(head + template + tail.replace('6008BRASILIA', tlv('60', city)))
  const withAmount = (amount: string) =>
    sealed(head + template + tail.replace('5802BR', `${tlv('54', amount)}5802BR`))
  const withTxid = (txid: string) =>
    sealed(head + template + tail.replace('62070503***', tlv('62', tlv('05', txid))))
  const withCode = (code: string) =>
    sealed(head + template + tail.replace('BRASILIA', `BRASILIA${tlv('61', code)}`))
  const withUrl = (url: string) =>
    sealed(head + tlv('26', `0014br.gov.bcb.pix${tlv('25', url)}`) + tail)
  const cases: readonly (readonly [string, (length: number) => string, number])[] = [
    ['name', (n) => withName('x'.repeat(n)), 25],
    ['name in characters', (n) => withName('é'.repeat(n)), 25],
    ['city', (n) => withCity('x'.repeat(n)), 15],
    ['amount', (n) => withAmount(`${'9'.repeat(n - 3)}.00`), 13],
    ['txid', (n) => withTxid('a'.repeat(n)), 25],
    ['postal code', (n) => withCode('1'.repeat(n)), 10],
  ]
  test.each(cases)('%s', (_name, payload, max) => {
    expect(refusal(() => parseBrCode(payload(max)))).toBe('accepted')
    expect(refusal(() => parseBrCode(payload(max + 1)))).toStartWith('brcode_value')
  })

  test('an address of 77 characters fills its template', () => {
    const url = `a.br/${'x'.repeat(72)}`
    expect(parseBrCode(withUrl(url)).pix?.url).toBe(url)
  })

  test('the payload', () => {
    const room = brcodeBytesMax - official.static.length
    const fill = (size: number) => tlv('81', tlv('00', 'x'.repeat(size - 8)))
    // Unreserved templates of at most 99 bytes take the rest.
    const payloadOf = (total: number) => {
      let text = official.static.slice(0, -8)
      let left = total - official.static.length
      for (let id = 82; left > 0; id++) {
        const size = left > 103 + 20 ? 103 : left > 103 ? 60 : left
        text += fill(size).replace(/^81/, String(id))
        left -= size
      }
      return sealed(text)
    }
    expect(room).toBeGreaterThan(200)
    expect(payloadOf(brcodeBytesMax).length).toBe(brcodeBytesMax)
    expect(refusal(() => parseBrCode(payloadOf(brcodeBytesMax)))).toBe('accepted')
    expect(refusal(() => parseBrCode(payloadOf(brcodeBytesMax + 1)))).toBe('brcode_size  @0')
    expect(refusal(() => parseBrCode('é'.repeat(brcodeBytesMax * 4)))).toBe('brcode_size  @0')
  })

  test('as many objects as fit: templates with one child each', () => {
    const child = tlv('00', 'x')
    const templates = (ids: readonly number[]) => ids.map((id) => tlv(String(id), child)).join('')
    const upFrom = (first: number, count: number) =>
      Array.from({ length: count }, (_, at) => first + at)
    const own = templates([...upFrom(26, 26), ...upFrom(80, 14)])
    const text = `${head}${own}5204000053039865802BR5901A6001B${tlv('62', templates(upFrom(50, 11)))}`
    const payload = sealed(text)
    expect(payload.length).toBeLessThanOrEqual(brcodeBytesMax)
    expect(refusal(() => parseBrCode(payload))).toBe('accepted')
    const { nodes } = explainBrCode(payload)
    const all = nodes.flatMap((node) => [
      node,
      ...node.children.flatMap((one) => [one, ...one.children]),
    ])
    expect(all.length).toBe(110)
  })
})

describe('the tree', () => {
  test('shows every object with its path, name and place', () => {
    const { nodes } = explainBrCode(official.authorization)
    expect(nodes.map(({ id }) => id).join(' ')).toBe('00 26 52 53 58 59 60 62 80 63')
    const rec = nodes.find(({ id }) => id === '80')
    expect(rec?.children.map(({ path, name, value }) => [path, name, value])).toEqual([
      ['80.00', 'globally unique identifier', 'br.gov.bcb.pix'],
      ['80.25', 'payload address', 'pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002'],
    ])
    for (const node of nodes) {
      const text = official.authorization.slice(node.offset + 4, node.offset + 4 + node.length)
      if (node.children.length === 0) expect(node.value).toBe(text)
    }
  })

  test('goes into the templates of 62 and 64', () => {
    const nested = tlv(
      '62',
      `${tlv('05', 'a')}${tlv('50', `${tlv('00', 'br.gov.bcb.brcode')}${tlv('01', '1.0.0')}`)}`,
    )
    const language = tlv('64', `${tlv('00', 'en')}${tlv('01', 'Mr X')}`)
    const { nodes } = explainBrCode(sealed(`${head}${template}${nested}${language}`))
    const values = (id: string) => nodes.find((node) => node.id === id)?.children
    expect(values('62')?.[1]?.children.map(({ path, value }) => [path, value])).toEqual([
      ['62.50.00', 'br.gov.bcb.brcode'],
      ['62.50.01', '1.0.0'],
    ])
    expect(values('64')?.map(({ name }) => name)).toEqual([
      'language preference',
      'merchant name, other language',
    ])
  })
})
