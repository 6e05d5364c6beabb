import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import {
  findInIdentifier,
  findSensitive,
  generateKey,
  isCardNumber,
  scrub,
  scrubFields,
} from '#src/platform/security/index.ts'
import {
  scrubLine,
  valueWithoutSecrets,
  withoutSecrets,
} from '../../../../src/platform/security/sensitive/index.ts'
import { countProcessorMs } from '../../../support/processor-ms.ts'

/** Appends the digit that makes the digits pass the Luhn test. */
const luhnComplete = (digits: string): string => {
  let sum = 0
  for (const [index, character] of [...digits].toReversed().entries()) {
    const digit = Number(character) * (index % 2 === 0 ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
  }
  return digits + String((10 - (sum % 10)) % 10)
}

/** Beginnings and lengths as the schemes publish them. */
const issued = fc.constantFrom(
  ...([
    ['4', 13],
    ['4', 16],
    ['4', 19],
    ['51', 16],
    ['55', 16],
    ['2221', 16],
    ['2720', 16],
    ['34', 15],
    ['37', 15],
    ['300', 14],
    ['36', 14],
    ['38', 16],
    ['3528', 16],
    ['3589', 16],
    ['5067', 16],
    ['509', 16],
    ['6011', 16],
    ['636368', 16],
    ['65', 16],
    ['606282', 16],
    ['62', 19],
    ['5899', 13],
    ['2200', 16],
    ['82', 16],
  ] as const),
)
const cardNumbers = fc
  .tuple(issued, fc.stringMatching(/^\d{18}$/))
  .map(([[start, length], rest]) => luhnComplete((start + rest).slice(0, length - 1)))

const cpfOf = (nine: string): string => {
  let digits = nine
  for (const first of [10, 11]) {
    let sum = 0
    for (const [index, digit] of [...digits].entries()) sum += Number(digit) * (first - index)
    digits += String(((sum * 10) % 11) % 10)
  }
  return digits
}

const grouped = (digits: string, by: string): string => digits.replace(/(\d{4})(?=\d)/g, `$1${by}`)
const separators = ['', ' ', '-', '.', '_', '/', '\u00a0', '\u202f', ' - ']
const digitsOf = (text: string): string => text.replaceAll(/\D/g, '')

describe('what must never be shown', () => {
  test.each([
    ['a card number', 'pan 4111111111111111 refused', 'pan [card number] refused'],
    ['13 digits', '4222222222222', '[card number]'],
    ['19 digits', luhnComplete('600000000000000000'), '[card number]'],
    ['behind another number', '12-4111111111111111', '12-[card number]'],
    ['before another number', '5555555555554444.00', '[card number].00'],
    ['within digits', '994111111111111111000000000', undefined],
    ['grouped by blanks', '"4111 1111 1111 1111"', '"[card number]"'],
    ['grouped by hyphens', '5555-5555-5555-4444', '[card number]'],
    ['grouped by dots', '5555.5555.5555.4444', '[card number]'],
    ['grouped by no-break spaces', '5555\u00a05555\u00a05555\u00a04444', '[card number]'],
    ['right after letters', 'PAN4111111111111111', 'PAN[card number]'],
    ['in track 2', ';4111111111111111=25121011234?', ';[card number]=25121011234?'],
    ['in packed track 2', '4111111111111111d25121011234567f', undefined],
    ['in the form of a UUID', '41111111-1111-1111-8111-000000000000', undefined],
    ['a CPF', '{"cpf":"52998224725"}', '{"cpf":"[document]"}'],
    ['a CPF behind another number', '12 52998224725', '12 [document]'],
    ['a formatted CPF', 'cpf 529.982.247-25', 'cpf [document]'],
    ['a CPF with wrong check digits', 'cpf 529.982.247-26', 'cpf [document]'],
    ['a CNPJ', 'x11222333000181x', 'x[document]x'],
    ['a formatted CNPJ', '11.222.333/0001-81', '[document]'],
    ['an alphanumeric CNPJ', '12.ABC.345/01DE-35', '[document]'],
    ['a bearer token', 'Authorization: Bearer abc.DEF-123==', 'Authorization: Bearer ***'],
    ['basic credentials', 'basic dXNlcjpwYXNz', 'basic ***'],
    ['a webhook secret', 'of whsec_c2VjcmV0c2VjcmV0.', 'of whsec_***.'],
    ['a password of a URL', 'postgres://u:p%40ss@h:5432/d', 'postgres://u:***@h:5432/d'],
    ['a bare @ and / in it', 'at amqp://u:p@s/s@h/d?x=1 ', 'at amqp://u:***@h/d?x=1 '],
    ['a password without a user', 'redis://:hunter2@cache', 'redis://:***@cache'],
    ['a password by name', "host=db password='two words' user=u", 'host=db password=*** user=u'],
    ['a password that was cut off', "password='two wor", 'password=***'],
    ['a password of PostgreSQL', 'PGPASSWORD=hunter2 psql', 'PGPASSWORD=*** psql'],
    ['one of a longer name', 'db_password = hunter2;x', 'db_password = ***;x'],
    ['a secret of OAuth', 'id=a&client_secret=b+c&x=1', 'id=a&client_secret=***&x=1'],
    ['a token of OAuth', '?access_token=ab.cd', '?access_token=***'],
    ['a key in a header', 'X-Api-Key=abc', 'X-Api-Key=***'],
    ['a private key by name', 'private_key=abc', 'private_key=***'],
    ['a secret in JSON', '{"client_secret":"a\\"b c","n":1}', '{"client_secret":"***","n":1}'],
    [
      'a secret in JSON within JSON',
      '"{\\"db_password\\": \\"a\\\\\\"b\\",\\"n\\":1}"',
      '"{\\"db_password\\": \\"***\\",\\"n\\":1}"',
    ],
    ['a secret in JSON cut off', 'got {"refresh_token": "abc d', 'got {"refresh_token": "***"'],
    ['a secret of Python', "{'api_key': 'abc'}", "{'api_key': '***'}"],
    ['a password without a scheme', 'at trilho:hunter2@db:5432/d', 'at trilho:***@db:5432/d'],
  ])('%s', (_name, text, expected) => {
    const shown = scrub(text)
    if (expected === undefined) expect(shown).not.toMatch(/4\D*(?:1\D*){15}/)
    else expect(shown).toBe(expected)
    expect(findSensitive(text)).toBeDefined()
    expect(findSensitive(shown)).toBeUndefined()
    expect(scrub(shown)).toBe(shown)
  })

  test('an API key keeps only its public part', () => {
    const { key, id } = generateKey('live')
    expect(scrub(`key ${key}.`)).toBe(`key trl_live_${id}_***.`)
  })

  test.each(['pkcs8', 'sec1'] as const)('a private key (%s), whole or cut off', (type) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = privateKey.export({ type, format: 'pem' }).toString()
    expect(scrub(`a ${pem} b`)).toBe('a [private key]\n b')
    expect(scrub(`a ${pem.slice(0, 100)}`)).toBe('a [private key]')
    expect(findSensitive(pem)).toBe('credential')
  })

  test('any card number, in any grouping, whatever digits stand before and behind', () => {
    const around = fc.constantFrom('', 'x', '"', ': ', '12-', '7 ', '2026', '0.', '00000000 ')
    const by = fc.constantFrom(...separators)
    fc.assert(
      fc.property(cardNumbers, by, around, around, (digits, separator, before, behind) => {
        const text = `${before}${grouped(digits, separator)}${behind}`
        expect(digitsOf(scrub(text))).not.toContain(digits)
        expect(digitsOf(scrub(text)).length).toBeLessThanOrEqual(digitsOf(before + behind).length)
        expect(findSensitive(text)).toBe('card number')
        expect(findInIdentifier(text)).toBe('card number')
      }),
      { numRuns: 20_000 },
    )
  })

  test('any CPF, in any grouping', () => {
    const nine = fc.stringMatching(/^\d{9}$/).filter((text) => !/^(\d)\1*$/.test(text))
    fc.assert(
      fc.property(nine, fc.constantFrom('', '12-', 'cpf '), (start, before) => {
        const digits = cpfOf(start)
        const written = digits.replace(/^(\d{3})(\d{3})(\d{3})/, '$1.$2.$3-')
        for (const text of [digits, written]) {
          expect(digitsOf(before)).toStartWith(digitsOf(scrub(before + text)))
        }
      }),
    )
  })
})

/** With a letter: of the random digits of a UUID, one in three million has none, and is a number to us. */
const withLetter = (random: string): string => random.replace(/^./, 'a')

describe('what stays', () => {
  test.each([
    '{"ts":"2026-11-20T20:02:48.076Z","duration_ms":5.764,"status":200}',
    'E1234567820261120194800000000001', // EndToEndId
    'D1234567820261120194841111111111', // RtrId
    'stan 123456 rrn 632519001234',
    '4111111111111112', // fails the Luhn test
    '1000000000000008', // passes it, and no issuer's numbers begin with 1
    '12345678901', // no CPF
    '00000000000', // right check digits, nobody's
    'req_806bfe4ed3ae7062_1a',
    'trf_0193456789127abc8def012345678901',
    'amount 100000.00 of 2026-11-20',
    'http://10.0.0.1:8080/path?from=a@b',
    // Messages of the API say of a member so.
    'client_secret: must be a text',
    'password: is missing',
    'CLIENT_SECRET_FILE=/run/secrets/client',
    'key maria@example.com, copy: joana@example.com',
    '',
  ])('%s', (text) => {
    expect(scrub(text)).toBe(text)
    expect(findSensitive(text)).toBeUndefined()
  })

  test('identifiers, many of each, anywhere in a text', () => {
    for (let round = 0; round < 20_000; round++) {
      const uuid = round % 2 === 0 ? withLetter(crypto.randomUUID()) : Bun.randomUUIDv7()
      const random = String(Math.random()).slice(2, 13).padEnd(11, '4')
      const hex = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')
      const text = `of ${uuid}, E41111111${'20261122103'}0${random}, 0x${hex}, 00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-01.`
      expect(scrub(text)).toBe(text)
    }
  })

  test('what callers draw at random to name a request', () => {
    for (let round = 0; round < 20_000; round++) {
      const hex = withLetter(
        Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex'),
      )
      for (const id of [withLetter(crypto.randomUUID()), hex, hex.slice(0, 40), hex.slice(0, 32)]) {
        expect(findInIdentifier(id)).toBeUndefined()
      }
    }
    expect(findInIdentifier('01JD4111111111111111ABCDEF')).toBeUndefined()
    expect(findInIdentifier('order 4111111111111111')).toBe('card number')
    expect(findInIdentifier('4111111111111111'.padStart(32, '0'))).toBe('card number')
  })
})

/** What a hostile caller would make an expression search again and again with. */
const hostileParts = fc.constantFrom(
  ...[
    'secret',
    'client_secret',
    'password',
    'access_token',
    'api_key',
    '-----BEGIN PRIVATE KEY-----',
  ],
  ...['=', ':', ' ', "'", '"', '\\', '\\"', '\\\\\\"', '@', '://', 'a', '***', 'pin', '1', '\n'],
)

describe('whatever the text', () => {
  test('it is scrubbed without an error, and once is enough', () => {
    fc.assert(
      fc.property(fc.array(hostileParts, { maxLength: 30 }), (parts) => {
        const shown = scrub(parts.join(''))
        expect(scrub(shown)).toBe(shown)
      }),
      { numRuns: 5_000 },
    )
  })

  test.each([
    ...[
      'a://b:',
      'a.',
      'secret',
      'secret ',
      'secret\\":\\"',
      '"secret":\\\\\\"x',
      'a:',
      'a:!!!!',
      '@',
      '://',
    ],
    ...['-----BEGIN ', 'pin\\', 'bearer ', "password='", 'secret"'],
  ])('sixteen times as many %p take no more than their share of time', (repeated) => {
    const msOf = (count: number): number => {
      const text = `@ ${repeated.repeat(count)}`
      const times = [0, 1, 2].map(() => {
        const usedMs = countProcessorMs()
        scrub(text)
        return usedMs()
      })
      return Math.min(...times)
    }
    const shortMs = msOf(2_000)
    // An expression with quadratic time would take 256 times as long.
    expect(msOf(32_000)).toBeLessThan(64 * shortMs + 200)
  })
})

describe('fields', () => {
  test('of identifiers stay, of secrets go whole, all others are searched', () => {
    const traceId = '41111111111111110123456789abcdef'
    expect(
      scrubFields({
        trace_id: traceId,
        ids: [traceId, 4_111_111_111_111_111],
        note: traceId,
        amount: 4_111_111_111_111_111,
        deep: [{ endToEndId: traceId, text: 'of 52998224725' }],
        password: 'x',
        db_password: 'x',
        access_token: 'x',
        Authorization: ['y'],
        pan: 41,
        '4111111111111111': true,
        secret: null,
      }),
    ).toEqual({
      trace_id: traceId,
      ids: [traceId, 4_111_111_111_111_111],
      note: '[card number]0123456789abcdef',
      amount: '[card number]',
      deep: [{ endToEndId: traceId, text: 'of [document]' }],
      password: '***',
      db_password: '***',
      access_token: '***',
      Authorization: '***',
      pan: '***',
      '[card number]': true,
      secret: null,
    })
  })
})

test('a number is found behind an escape, whose digits are beside its own in the line', () => {
  for (const before of ['\u0001', '\ud800', '\n', '\\']) {
    const shown = scrubLine(
      JSON.stringify({ note: `${before}52998224725`, [`${before}52998224725`]: 0 }),
    )
    expect(JSON.parse(shown)).toEqual({ note: `${before}[document]`, [`${before}[document]`]: 0 })
  }
})

test('a line is shown as its fields are, whatever stands beside an identifier', () => {
  const digits = fc.stringMatching(/^[0-9]{9,24}$/)
  const part = fc.oneof(
    issued.map(([start, length]) => luhnComplete(start.padEnd(length - 1, '1'))),
    ...[
      digits,
      fc.constantFrom('52998224725', 'a', '"', '\\', '\t', '\n', '\u0001', 'é', '-', ' '),
    ],
    fc.uuid({ version: 7 }),
    digits.map((text) => `M${text.slice(0, 8)}`.padEnd(32, text)),
    digits.map((text) => `E12345678202611252230${text}`.padEnd(32, 'a1').slice(0, 32)),
  )
  const value = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''))
  const name = fc.oneof(value, fc.constantFrom('id', 'end_to_end_id', 'note', 'amount'))
  const fields = fc.dictionary(name, fc.oneof(value, digits.map(Number)), { maxKeys: 5 })
  fc.assert(
    fc.property(fields, (all) => {
      const shown = scrubLine(`${JSON.stringify(all)}\n`)
      expect(JSON.parse(shown)).toEqual(scrubFields(JSON.parse(JSON.stringify(all))) as object)
    }),
    { numRuns: 2_000 },
  )
})

test('a whole card number is told from identifiers that are digits too', () => {
  for (const card of ['378282246310005', '3782-822463-10005', '4222222222222', '30569309025904']) {
    expect(isCardNumber(card)).toBe(true)
  }
  // A terminal's number with one within, a CNPJ that passes the Luhn test, a name.
  for (const other of ['000378282246310', '1234567890', 'MERCHANT000001', '37828224631000']) {
    expect(isCardNumber(other)).toBe(false)
  }
})

describe('what a refusal quotes', () => {
  const card = '4111 1111 1111 1111'
  test.each([
    [`kid: got ${card}`, 'kid: got [card number]'],
    ['got trl_test_ABCDEF_secretsecret', 'got trl_test_ABCDEF_***'],
    ['got postgres://trilho:hidden@db/x', 'got postgres://trilho:***@db/x'],
    ['got {"cvv":"9137"}', 'got {"cvv":"***"}'],
    ['got {\\"cvv\\": \\"9137\\"}', 'got {\\"cvv\\": \\"***\\"}'],
    ['got cvc=913&pin=4711', 'got cvc=***&pin=***'],
    // The wrong number of a person goes back to who sent it.
    ['got 123.456.789-09', 'got 123.456.789-09'],
    ['got 12345678909', 'got 12345678909'],
    ['shipping 4711 to the pin of the map', 'shipping 4711 to the pin of the map'],
  ])('%s', (text, shown) => {
    expect(withoutSecrets(text)).toBe(shown)
  })

  test('stays a value of its form', () => {
    const whole = { n: 1, at: null, list: [true, 'x'], [card]: 4_111_111_111_111_111 }
    expect(valueWithoutSecrets(whole)).toEqual({
      n: 1,
      at: null,
      list: [true, 'x'],
      '[card number]': '[card number]',
    })
  })
})
