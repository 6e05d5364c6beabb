import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createLogger, scrub } from '#src/platform/observe/index.ts'
import { generateKey } from '#src/platform/security/index.ts'

/** Appends the digit that makes the digits pass the Luhn test. */
const luhnComplete = (digits: string): string => {
  for (let check = 0; check < 10; check++) {
    const candidate = digits + check
    const sum = [...candidate].reverse().reduce((total, character, index) => {
      const digit = Number(character) * (index % 2 === 0 ? 1 : 2)
      return total + (digit > 9 ? digit - 9 : digit)
    }, 0)
    if (sum % 10 === 0) return candidate
  }
  throw new Error('unreachable')
}

describe('what a log line must never hold', () => {
  test.each([
    ['a card number', 'pan 4111111111111111 refused', 'pan [card number] refused'],
    ['13 digits', '4222222222222', '[card number]'],
    ['19 digits', luhnComplete('600000000000000000'), '[card number]'],
    ['grouped by blanks', '"4111 1111 1111 1111"', '"[card number]"'],
    ['grouped by hyphens', '5555-5555-5555-4444', '[card number]'],
    ['right after letters', 'PAN4111111111111111', 'PAN[card number]'],
    ['a CPF', '{"cpf":"52998224725"}', '{"cpf":"[document]"}'],
    ['a formatted CPF', 'cpf 529.982.247-25', 'cpf ***.***.***-**'],
    ['a CNPJ', 'x11222333000181x', 'x[document]x'],
    ['a formatted CNPJ', '11.222.333/0001-81', '**.***.***/****-**'],
    ['an alphanumeric CNPJ', '12.ABC.345/01DE-35', '**.***.***/****-**'],
    ['a bearer token', 'Authorization: Bearer abc.DEF-123==', 'Authorization: Bearer ***'],
    ['basic credentials', 'basic dXNlcjpwYXNz', 'basic ***'],
  ])('%s', (_name, line, expected) => {
    expect(scrub(line)).toBe(expected)
  })

  test('an API key keeps only its public part', () => {
    const { key, id } = generateKey('live')
    expect(scrub(`key ${key}.`)).toBe(`key trl_live_${id}_***.`)
  })

  test('any card number, anywhere in a line, in any grouping', () => {
    const pan = fc
      .array(fc.integer({ min: 0, max: 9 }), { minLength: 12, maxLength: 18 })
      .map((digits) => luhnComplete(digits.join('')))
    const separator = fc.constantFrom('', ' ', '-')
    fc.assert(
      fc.property(pan, separator, fc.constantFrom('', 'x', '"', ': '), (digits, by, before) => {
        const written = digits.replace(/(\d{4})(?=\d)/g, `$1${by}`)
        const line = `${before}${written}${before}`
        expect(scrub(line)).toBe(`${before}[card number]${before}`)
      }),
    )
  })
})

describe('what stays', () => {
  test.each([
    '{"ts":"2026-11-20T20:02:48.076Z","duration_ms":5.764,"status":200}',
    'E1234567820261120194800000000001', // EndToEndId: 20 digits and more in a row
    'stan 123456 rrn 632519001234',
    '4111111111111112', // fails the Luhn test
    '12345678901', // no CPF
    'req_806bfe4ed3ae7062_1a',
    'amount 100000.00 of 2026-11-20',
    '',
  ])('%s', (line) => {
    expect(scrub(line)).toBe(line)
  })
})

test('the logger scrubs every field, also inside errors', () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  logger.info({ deep: { note: 'card 4111111111111111' } }, 'of 52998224725')
  logger.child({ token: 'Bearer abcdef' }).error({ err: new Error('4111111111111111') }, 'x')
  const text = lines.join('')
  expect(text).not.toContain('4111111111111111')
  expect(text).not.toContain('52998224725')
  expect(text).not.toContain('abcdef')
  for (const line of lines) expect(JSON.parse(line)).toBeObject()
})

test('the text format keeps time, level, message and fields', () => {
  const lines: string[] = []
  const sink = { write: (line: string) => lines.push(line) }
  createLogger({ level: 'warn', format: 'text', sink }).warn({ port: 1 }, 'busy')
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT\S+Z WARN busy \{"port":1\}\n$/)
  createLogger({ level: 'warn', format: 'text', sink }).info({}, 'too fine')
  expect(lines).toHaveLength(1)
})

test('the request line is one JSON object, whatever the caller sends', () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  logger.request({
    requestId: '4111111111111111',
    method: 'G"T',
    path: '/v1/items/{id}',
    status: 200,
    durationMs: 1.23456,
    keyId: undefined,
    more: { note: 'a "quoted"\nline of 52998224725', count: 2 },
  })
  expect(lines).toHaveLength(1)
  expect(lines[0]?.trimEnd()).not.toContain('\n')
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    request_id: '[card number]',
    method: 'OTHER',
    path: '/v1/items/{id}',
    status: 200,
    duration_ms: 1.235,
    note: 'a "quoted"\nline of [document]',
    count: 2,
    msg: 'request',
  })
  logger.level = 'warn'
  logger.request({
    ...{ requestId: 'x', method: 'GET', path: '/', status: 200, durationMs: 1 },
    ...{ keyId: 'k', more: undefined },
  })
  expect(lines).toHaveLength(1)
})
