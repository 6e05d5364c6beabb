import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  buildCompositeBrCode,
  buildDynamicBrCode,
  buildStaticBrCode,
  checkTxid,
  crc16,
  hasAsciiForm,
  parseBrCode,
  parsePixKey,
  pixKeyKind,
  toAscii,
} from '#codecs/brcode'
import { isCnpj, isCpf } from '#codecs/taxpayer'
import {
  address,
  amount,
  anyText,
  asciiText,
  bytesOf,
  cnpj,
  cpf,
  email,
  evp,
  official,
  phone,
  pixKey,
  refusal,
  txid,
} from './support.ts'

const merchant = { merchantName: 'Fulano de Tal', merchantCity: 'BRASILIA' }

test('CRC-16/CCITT-FALSE of the check string, whole and in parts of any length', () => {
  expect(crc16(bytesOf('123456789'))).toBe(0x29b1)
  const bitwise = (bytes: Uint8Array): number => {
    let crc = 0xffff
    for (const byte of bytes) {
      crc ^= byte << 8
      for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
      crc &= 0xffff
    }
    return crc
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(crc16(bytes)).toBe(bitwise(bytes))
    }),
  )
})

describe('the published examples are written byte for byte', () => {
  test('static', () => {
    const key = '123e4567-e12b-12d1-a456-426655440000'
    expect(buildStaticBrCode({ ...merchant, key })).toBe(official.static)
  })
  test('dynamic', () => {
    const url = 'pix.example.com/8b3da2f39a4140d1a91abd93113bd441'
    expect(buildDynamicBrCode({ ...merchant, url })).toBe(official.dynamic)
  })
  test('composite', () => {
    const rec = 'pix.example.com/qr/v2/rec/'
    expect(
      buildCompositeBrCode({
        ...merchant,
        recurrenceUrl: `${rec}2353c790eefb11eaadc10242ac120002`,
      }),
    ).toBe(official.authorization)
    expect(
      buildCompositeBrCode({
        ...merchant,
        url: 'pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441',
        recurrenceUrl: `${rec}94ed2badcbc04c15b0bb7fa353194890`,
      }),
    ).toBe(official.chargeAndRecurrence)
    expect(
      buildCompositeBrCode({
        ...merchant,
        url: 'pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e7',
        recurrenceUrl: `${rec}3ffa640fa4f14080adccb949fa2dc0d0`,
      }),
    ).toBe(official.dueChargeAndRecurrence)
  })
})

describe('build, parse, build', () => {
  const fields = {
    merchantName: anyText(25),
    merchantCity: anyText(15),
    amount: fc.option(amount, { nil: undefined }),
    postalCode: fc.option(fc.constantFrom('70040912', '50000-000'), { nil: undefined }),
    merchantCategoryCode: fc.option(fc.constantFrom('0000', '5411'), { nil: undefined }),
    singleUse: fc.boolean(),
  }
  const readMerchant = (payload: string) => {
    const code = parseBrCode(payload)
    const { merchantName, merchantCity, postalCode, merchantCategoryCode, pix } = code
    expect(code.lengthUnit).toBe('bytes')
    expect(code.warnings).toEqual([])
    if (pix === undefined) throw new Error('no Pix reading')
    const { key, info, txid: label, singleUse } = pix
    const own = { merchantName, merchantCity, amount: code.amount, postalCode }
    return { ...own, merchantCategoryCode, key, info, txid: label, singleUse, pix }
  }

  test('static', () => {
    const arbitrary = fc.record({
      ...fields,
      key: pixKey,
      info: fc.option(anyText(20), { nil: undefined }),
      txid: fc.option(txid, { nil: undefined }),
    })
    fc.assert(
      fc.property(arbitrary, (code) => {
        const payload = buildStaticBrCode(code)
        const { key = '', pix: _pix, ...read } = readMerchant(payload)
        expect({ ...read, key }).toEqual({
          ...code,
          merchantCategoryCode: code.merchantCategoryCode ?? '0000',
        })
        expect(buildStaticBrCode({ ...read, key })).toBe(payload)
      }),
      { numRuns: 2000 },
    )
  })

  test('dynamic and composite', () => {
    const arbitrary = fc.record({
      ...fields,
      url: fc.option(address, { nil: undefined }),
      recurrenceUrl: fc.option(address, { nil: undefined }),
    })
    fc.assert(
      fc.property(arbitrary, ({ url, recurrenceUrl, ...code }) => {
        if (url === undefined && recurrenceUrl === undefined) return
        const payload =
          recurrenceUrl === undefined
            ? buildDynamicBrCode({ ...code, url: url ?? '' })
            : buildCompositeBrCode({ ...code, url, recurrenceUrl })
        const { pix, ...read } = readMerchant(payload)
        expect([pix.url, pix.recurrenceUrl]).toEqual([url, recurrenceUrl])
        expect([read.singleUse, read.amount]).toEqual([code.singleUse, code.amount])
        const again =
          recurrenceUrl === undefined
            ? buildDynamicBrCode({ ...read, url: pix.url ?? '' })
            : buildCompositeBrCode({
                ...read,
                url: pix.url,
                recurrenceUrl: pix.recurrenceUrl ?? '',
              })
        expect(again).toBe(payload)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('Pix keys', () => {
  test('are recognised by form', () => {
    const kinds = { cpf, cnpj, phone, email, evp } as const
    for (const [kind, arbitrary] of Object.entries(kinds)) {
      fc.assert(
        fc.property(arbitrary, (key) => {
          expect(pixKeyKind(key) ?? 'none').toBe(kind as 'cpf')
          expect(parsePixKey(key)).toBe(kind as 'cpf')
        }),
      )
    }
  })

  test('known numbers', () => {
    expect(isCpf('52998224725')).toBe(true)
    expect(isCnpj('11222333000181')).toBe(true)
    expect(isCnpj('12ABC34501DE35')).toBe(true)
    expect(pixKeyKind('+14155552671')).toBe('phone')
  })

  test('any changed digit of a CPF or CNPJ is refused', () => {
    fc.assert(
      fc.property(fc.oneof(cpf, cnpj), fc.nat({ max: 13 }), fc.nat({ max: 8 }), (key, at, by) => {
        const i = at % key.length
        const code = key.charCodeAt(i)
        if (code > 57) return
        const other = String((code - 48 + by + 1) % 10)
        const changed = key.slice(0, i) + other + key.slice(i + 1)
        const check = key.length === 11 ? isCpf(changed) : isCnpj(changed)
        // A remainder of 10 and one of 0 or 1 write the same digit 0: one change in 11 may pass there.
        if (check) expect(changed.slice(-2)).toContain('0')
      }),
    )
  })

  test.each([
    ['', 'pix_key_form'],
    ['529.982.247-25', 'pix_key_form'],
    ['52998224724', 'pix_key_check_digits'],
    ['11111111111', 'pix_key_check_digits'],
    ['11222333000182', 'pix_key_check_digits'],
    ['12ABC34501DE34', 'pix_key_check_digits'],
    ['12abc34501de35', 'pix_key_form'],
    ['+5501999999999', 'pix_key_area_code'],
    ['+55119999', 'pix_key_area_code'],
    ['+5511899999999', 'pix_key_area_code'],
    ['Ana@Example.com', 'pix_key_form'],
    ['ana@', 'pix_key_form'],
    ['123E4567-E12B-12D1-A456-426655440000', 'pix_key_form'],
    [`${'a'.repeat(65)}@example.com.b`, 'pix_key_length'],
  ])('%s is refused: %s', (key, code) => {
    expect(refusal(() => parsePixKey(key)).split(' ')[0]).toBe(code)
    expect(pixKeyKind(key)).toBeUndefined()
  })

  test('an e-mail may have 77 characters', () => {
    expect(parsePixKey(`${'a'.repeat(65)}@example.com`)).toBe('email')
  })

  test('the error never holds the key', () => {
    try {
      parsePixKey('52998224724')
    } catch (error) {
      expect(`${error} ${JSON.stringify(error)}`).not.toContain('52998224724')
    }
    expect.assertions(1)
  })
})

describe('a builder refuses', () => {
  const key = 'a@b.br'
  const url = 'pix.example.com/abc'
  test.each([
    [
      'a name too long',
      () => buildStaticBrCode({ ...merchant, key, merchantName: 'x'.repeat(26) }),
      '59',
    ],
    [
      'a name too long in bytes',
      () => buildStaticBrCode({ ...merchant, key, merchantName: 'é'.repeat(13) }),
      '59',
    ],
    ['an empty name', () => buildStaticBrCode({ ...merchant, key, merchantName: '' }), '59'],
    [
      'half a character',
      () => buildStaticBrCode({ ...merchant, key, merchantName: '\ud800' }),
      '59',
    ],
    ['a line break', () => buildStaticBrCode({ ...merchant, key, merchantName: 'a\nb' }), '59'],
    [
      'a city too long',
      () => buildStaticBrCode({ ...merchant, key, merchantCity: 'x'.repeat(16) }),
      '60',
    ],
    ['an amount of zero', () => buildStaticBrCode({ ...merchant, key, amount: '0.00' }), '54'],
    ['zeros alone', () => buildDynamicBrCode({ ...merchant, url: 'a.br/b', amount: '000' }), '54'],
    ['an amount in words', () => buildStaticBrCode({ ...merchant, key, amount: 'ten' }), '54'],
    [
      'an amount too long',
      () => buildStaticBrCode({ ...merchant, key, amount: '99999999999.00' }),
      '54',
    ],
    [
      'a category code',
      () => buildStaticBrCode({ ...merchant, key, merchantCategoryCode: '1' }),
      '52',
    ],
    [
      'a postal code',
      () => buildStaticBrCode({ ...merchant, key, postalCode: '1'.repeat(11) }),
      '61',
    ],
    ['a txid', () => buildStaticBrCode({ ...merchant, key, txid: 'a'.repeat(26) }), '62.05'],
    [
      'info over the template',
      () => buildStaticBrCode({ ...merchant, key, info: 'x'.repeat(68) }),
      '26',
    ],
    [
      'an address with scheme',
      () => buildDynamicBrCode({ ...merchant, url: `https://${url}` }),
      '26.25',
    ],
    [
      'an address too long',
      () => buildDynamicBrCode({ ...merchant, url: `a/${'x'.repeat(76)}` }),
      '26.25',
    ],
    [
      'key and url',
      () => buildCompositeBrCode({ ...merchant, key, url, recurrenceUrl: url }),
      '26',
    ],
    [
      'a txid without key',
      () => buildCompositeBrCode({ ...merchant, txid: 'a', recurrenceUrl: url }),
      '62.05',
    ],
    [
      'info without key',
      () => buildCompositeBrCode({ ...merchant, info: 'a', recurrenceUrl: url }),
      '26.02',
    ],
    [
      'a recurrence address',
      () => buildCompositeBrCode({ ...merchant, recurrenceUrl: 'x' }),
      '80.25',
    ],
  ])('%s', (_name, run, path) => {
    expect(refusal(run)).toBe(`brcode_build ${path} @0`)
  })

  test('info that just fits', () => {
    expect(
      parseBrCode(buildStaticBrCode({ ...merchant, key, info: 'x'.repeat(67) })).pix?.info,
    ).toHaveLength(67)
  })

  test('a txid outside its length', () => {
    for (const [length, kind, ok] of [
      [25, 'static', true],
      [26, 'static', false],
      [25, 'dynamic', false],
      [26, 'dynamic', true],
      [35, 'dynamic', true],
      [36, 'dynamic', false],
    ] as const) {
      expect(refusal(() => checkTxid('a'.repeat(length), kind)) === 'accepted').toBe(ok)
    }
  })
})

test('signs are written as is usual in ASCII, and what nobody sees is taken off', () => {
  for (const [text, ascii] of [
    ['Bar “X”', 'Bar "X"'],
    ['„A‟ «B» ‹C› ‚D‛', `"A" "B" 'C' 'D'`],
    ['D´Água, ʼN, 5′', "D'Agua, 'N, 5'"],
    ['a – b — c ‒ d ― e − f', 'a - b - c - d - e - f'],
    ['pague 5€ já…', 'pague 5EUR ja...'],
    ['1º × 2ª • A·B ½ ™ © ® 5°', '1o x 2a * A.B 1/2 TM (C) (R) 5o'],
    ['¿Qué? ¡Sí!', '?Que? !Si!'],
    ['a\u00a0b\u00adc\u200bd\ufe0f', 'a bcd'],
  ] as const) {
    expect([text, toAscii(text)]).toEqual([text, ascii])
    expect(hasAsciiForm(text)).toBe(true)
  }
})

test('a text that ASCII cannot write is told from one that it can', () => {
  for (const text of ['a日b', 'Loja 日本', 'Кафе', 'שלום', 'ok 👍', '5 ≤ 6', '\ud800']) {
    expect([text, hasAsciiForm(text)]).toEqual([text, false])
    expect(toAscii(text)).toMatch(/^[\x20-\x7e]*$/)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      expect(toAscii(text)).toMatch(/^[\x20-\x7e]*$/)
      // Twice: it keeps nothing from one text to the next.
      expect(hasAsciiForm(text)).toBe(hasAsciiForm(text))
    }),
  )
})

test('accents are taken off for readers that know ASCII only', () => {
  expect(toAscii('São João & Cª')).toBe('Sao Joao & Ca')
  expect(toAscii('Łódź, Ørsted, Straße, Æther, Đorđe, Þór, Œuvre, ıl, ħ, Ŋ, D’Água – Sul')).toBe(
    "Lodz, Orsted, Strasse, AEther, Dorde, Thor, OEuvre, il, h, N, D'Agua - Sul",
  )
  fc.assert(
    fc.property(asciiText(25), (text) => {
      expect(toAscii(text)).toBe(text)
    }),
  )
  // Blocks of Latin letters with which European languages write.
  for (let code = 0xc0; code < 0x180; code++) {
    const letter = String.fromCodePoint(code)
    if (/\p{L}/u.test(letter))
      expect([letter, toAscii(letter)]).toEqual([letter, expect.stringMatching(/[A-Za-z]/)])
  }
})
