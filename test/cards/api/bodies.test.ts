import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { ApiError } from '#src/platform/http/index.ts'
import { findSensitive } from '#src/platform/security/index.ts'
import {
  authorizationBody,
  captureBody,
  readAuthorization,
  readCapture,
  readResolution,
  resolutionBody,
} from '../../../src/cards/api/bodies.ts'

type Published = {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** What a reader of the OpenAPI document would take for valid, told by nothing but the published schema. */
const isPublished = (schema: Published, value: unknown): boolean => {
  if (schema.enum !== undefined) return schema.enum.includes(value)
  if (schema.type === 'boolean') return typeof value === 'boolean'
  if (schema.type === 'integer') {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
    return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
  }
  if (schema.type !== 'string' || typeof value !== 'string') return false
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern = '' } = schema
  const { length } = [...value]
  return length >= minLength && length <= maxLength && new RegExp(pattern, 'u').test(value)
}

const fieldsOf = ({ shape }: z.ZodObject): Readonly<Record<string, Published>> =>
  Object.fromEntries(
    Object.entries(shape).map(([field, schema]) => [
      field,
      z.toJSONSchema(schema as z.ZodType, { io: 'input' }) as Published,
    ]),
  )

const authorization = {
  card_token: 'tok_visa_approved',
  amount: 10_000,
  currency: 'BRL',
  merchant_id: 'MERCHANT000001',
}

const bodies = [
  { schema: authorizationBody, read: readAuthorization, valid: authorization },
  { schema: captureBody, read: readCapture, valid: {} },
  {
    schema: resolutionBody,
    read: readResolution,
    valid: { outcome: 'voided', reason: 'Network desk, case 4711' },
  },
] as const

const isTaken = (read: (body: unknown) => unknown, body: unknown): boolean => {
  try {
    read(body)
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return false
  }
}

const pan = '4111111111111111'
const nearlyRight = fc.constantFrom<unknown>(
  ...[
    'João',
    'M1 ',
    ' M1',
    'M\t1',
    '',
    ' ',
    pan,
    '4111 1111 1111 1111',
    `desk ${pan}`,
    'tok\u0000',
  ],
  ...['\u200b', '\ud800', '\u2028', 'a\nb', 'M'.repeat(15), 'M'.repeat(16), 'x'.repeat(255)],
  ...[
    'x'.repeat(256),
    'y'.repeat(201),
    'BRL',
    'brl',
    'constructor',
    'voided',
    'pending',
    '12345678901',
  ],
  0,
  1,
  1.5,
  12,
  13,
  -1,
  999_999_999_999,
  1_000_000_000_000,
  Number.MAX_SAFE_INTEGER + 1,
  true,
  false,
  null,
  [],
  {},
)
const anything = fc.oneof(
  nearlyRight,
  fc.string({ maxLength: 260 }),
  fc.string({ unit: fc.constantFrom(...'0123456789- '), maxLength: 24 }),
  fc.integer({ min: -2, max: 15 }),
)

describe('bodies', () => {
  for (const { schema, read, valid } of bodies) {
    for (const [field, published] of Object.entries(fieldsOf(schema))) {
      test(`${field}: what is published is what judges`, () => {
        expect(isTaken(read, valid)).toBe(true)
        fc.assert(
          fc.property(anything, (value) => {
            // No pattern can say what passes the Luhn test; the descriptions do. Cryptograms of a chip look like it.
            const isRight =
              isPublished(published, value) &&
              (field === 'icc_data' || findSensitive(String(value)) !== 'card number')
            expect([value, isTaken(read, { ...valid, [field]: value })]).toEqual([value, isRight])
          }),
          { numRuns: 1_000 },
        )
      })
    }
  }

  test('a merchant that is a card number is refused, and not shown', () => {
    for (const number of ['378282246310005', '4222_2222_22222', '30569309025904']) {
      try {
        readAuthorization({ ...authorization, merchant_id: number })
        expect(number).toBe('refused')
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(error.definition.code).toBe('invalid_merchant_id')
        expect(JSON.stringify(error.details)).not.toContain(number)
      }
    }
  })

  test('names outside the ASCII characters of a message, blanks at an end and card numbers are refused', () => {
    const refusals = [{ merchant_id: 'João' }, { merchant_id: 'M1 ' }]
    for (const change of refusals) {
      const [field, value] = Object.entries(change)[0]!
      expect(isPublished(fieldsOf(authorizationBody)[field]!, value)).toBe(false)
      expect(isTaken(readAuthorization, { ...authorization, ...change })).toBe(false)
    }
    // No pattern can tell a card number from a token of as many digits: the check digit does.
    expect(isTaken(readAuthorization, { ...authorization, card_token: pan })).toBe(false)
    expect(isTaken(readAuthorization, { ...authorization, card_token: `${pan}x` })).toBe(false)
  })
})
