import { describe, expect, test } from 'bun:test'
import { CardMessage, dialects, parseOriginalData } from '#codecs/iso8583'
import { createContent } from '../../../src/cards/content/index.ts'
import { answerCodes1987, createAnswerRules } from '../../../src/cards/networks/index.ts'
import { reversalMessage } from '../../../src/cards/networks/messages.ts'
import { readAnswer } from '../../../src/cards/reversals/attempt.ts'
import type { Reversal } from '../../../src/cards/reversals/index.ts'
import { reversalOf } from './support.ts'

const stored = (change: Partial<Reversal> = {}): Reversal => ({
  ...reversalOf(41),
  id: 1n,
  authCode: 'A00001',
  terminalId: undefined,
  traceparent: undefined,
  responseCode: undefined,
  doneAt: undefined,
  createdAt: new Date(),
  ...change,
})

const numbers = { stan: '000099', transmission: '1121010203' }
const ascii = dialects['ascii']!
const { 90: _, ...withoutOriginal } = ascii.fields
const build = (change: Partial<Reversal> = {}, hasField = true) =>
  reversalMessage(
    createContent(hasField ? ascii : { ...ascii, fields: withoutOriginal }),
    stored(change),
    numbers,
    new Uint8Array(16),
  )

describe('request', () => {
  test('has numbers of its own, the RRN of the original and names the original', () => {
    const message = build({ originalMti: '0200', amountCents: 999_999_999_999n, currency: 'USD' })
    expect(message).toMatchObject({
      mti: '0400',
      stan: '000099',
      transmissionDateTime: '1121010203',
      rrn: '632512000041',
      amount: '999999999999',
      currency: '840',
      authCode: 'A00001',
      terminalId: undefined,
    })
    expect(parseOriginalData(message.originalData ?? '')).toEqual({
      mti: '0200',
      stan: '000041',
      transmissionDateTime: '1120120000',
      acquirerId: '00000000000',
      forwarderId: '00000000000',
    })
  })

  test('is a repeat after the first attempt, and has no DE 90 where there is none', () => {
    expect(build({ attempts: 1 }).mti).toBe('0401')
    expect(build({}, false).originalData).toBeUndefined()
  })

  test('in a currency without a number cannot be built', () => {
    expect(() => build({ currency: 'EUR' })).toThrow('without a number')
  })
})

describe('answer', () => {
  const rules = createAnswerRules(answerCodes1987)
  const answer = (change: Partial<CardMessage>): CardMessage =>
    Object.assign(new CardMessage(), { mti: '0410', responseCode: '00' }, change)

  test.each([
    ['00', 0, 'confirmed'],
    // As the answer to a first sending it would be about another message.
    ['94', 0, 'refused'],
    ['94', 1, 'confirmed'],
    ['25', 0, 'not_known'],
    ['12', 1, 'not_known'],
  ])('code %s to attempt %p', (responseCode, attempts, outcome) => {
    expect(readAnswer(rules, build({ attempts }), answer({ responseCode }))).toEqual({
      outcome,
      responseCode,
    } as never)
  })

  test.each([
    ['code 05', { responseCode: '05' }],
    ['code 96', { responseCode: '96' }],
    ['no code', { responseCode: undefined }],
    ['another type', { mti: '0210' as const }],
    ['another amount', { amount: '000000010001' }],
    ['another currency', { currency: '840' }],
  ])('%s does not', (_, change) => {
    expect(readAnswer(rules, build(), answer(change)).outcome).toBe('refused')
  })
})
