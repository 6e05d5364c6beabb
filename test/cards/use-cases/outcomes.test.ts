import { expect, test } from 'bun:test'
import { portugueseOf } from '#src/platform/http/index.ts'
import type { CardState } from '../../../src/cards/transactions/domain.ts'
import type { CardTransaction } from '../../../src/cards/transactions/store.ts'
import { reversalOf, reversalsBegun } from '../../../src/cards/use-cases/begun-reversals.ts'
import type { Verdict } from '../../../src/cards/use-cases/exchange.ts'
import { outcomes, stepOf } from '../../../src/cards/use-cases/outcomes.ts'

const at = new Date('2026-11-21T12:00:00Z')

const transaction = (state: CardState): CardTransaction => ({
  id: 'txn_1',
  network: 'neta',
  brand: 'visa',
  cardToken: 'tok',
  currency: 'BRL',
  amountCents: 10_000n,
  operationCents: 4_000n,
  capturedCents: undefined,
  installments: 1,
  merchantId: 'M1',
  terminalId: undefined,
  stan: '000001',
  rrn: '632512000001',
  transmission: '1121120000',
  operationStan: '000002',
  operationTransmission: '1121120001',
  authCode: undefined,
  responseCode: undefined,
  captureError: undefined,
  captureStan: '000003',
  captureTransmission: '1121120002',
  captures: undefined,
  voidError: undefined,
  reason: undefined,
  needsAttention: false,
  reference: undefined,
  details: undefined,
  refundError: undefined,
  incrementError: undefined,
  requestedCents: undefined,
  refundedCents: undefined,
  reversedCents: undefined,
  captureAdvised: undefined,
  standIn: undefined,
  claimKey: undefined,
  traceparent: undefined,
  account: 'default',
  createdBy: 'key',
  createdAt: at,
  updatedAt: at,
  capturedAt: undefined,
  voidedAt: undefined,
  ...state,
})

const verdicts: { readonly [K in Verdict['kind']]: Extract<Verdict, { kind: K }> } = {
  approved: { kind: 'approved', responseCode: '00', authCode: 'A00001' },
  declined: { kind: 'declined', responseCode: '51' },
  not_sent: { kind: 'not_sent', why: 'no_connection' },
  unwanted: { kind: 'unwanted', responseCode: '10' },
  undecided: { kind: 'undecided', responseCode: '91' },
  unknown: { kind: 'unknown', why: 'timed_out' },
  advised: { kind: 'advised' },
}

const states = {
  authorization: { status: 'pending', operation: undefined },
  verification: { status: 'pending', operation: 'verification' },
  increment: { status: 'authorized', operation: 'increment' },
  capture: { status: 'authorized', operation: 'capture' },
  partial_capture: { status: 'authorized', operation: 'partial_capture' },
  void: { status: 'captured', operation: 'void' },
  partial_void: { status: 'authorized', operation: 'partial_void' },
  release: { status: 'authorized', operation: 'release', capturedCents: 4_000n },
  refund: { status: 'captured', operation: 'refund' },
} as const

/** Status, operation and event after each verdict; whether the key is freed; what is taken back. */
const expected = {
  authorization: {
    approved: ['authorized', undefined, 'authorized', false, false],
    declined: ['declined', undefined, 'declined', false, false],
    unwanted: ['declined', 'reversing_authorization', 'declined', false, true],
    not_sent: ['voided', undefined, 'not_sent', true, false],
    unknown: ['pending', 'reversing_authorization', 'authorization_unknown', false, true],
  },
  verification: {
    approved: ['verified', undefined, 'verified', false, false],
    declined: ['declined', undefined, 'declined', false, false],
    unwanted: ['declined', undefined, 'declined', false, false],
    not_sent: ['voided', undefined, 'not_sent', true, false],
    unknown: ['voided', undefined, 'verification_unknown', false, false],
  },
  increment: {
    approved: ['authorized', undefined, 'incremented', false, false],
    declined: ['authorized', undefined, 'increment_declined', false, false],
    unwanted: ['authorized', 'reversing_increment', 'increment_declined', false, true],
    not_sent: ['authorized', undefined, 'increment_not_sent', true, false],
    unknown: ['authorized', 'reversing_increment', 'increment_unknown', false, true],
  },
  capture: {
    approved: ['captured', undefined, 'captured', false, false],
    declined: ['authorized', undefined, 'capture_declined', false, false],
    unwanted: ['authorized', 'reversing_capture', 'capture_declined', false, true],
    not_sent: ['authorized', undefined, 'capture_not_sent', true, false],
    unknown: ['authorized', 'reversing_capture', 'capture_unknown', false, true],
  },
  partial_capture: {
    approved: ['authorized', undefined, 'partially_captured', false, false],
    declined: ['authorized', undefined, 'partial_capture_declined', false, false],
    unwanted: ['authorized', 'reversing_capture', 'partial_capture_declined', false, true],
    not_sent: ['authorized', undefined, 'partial_capture_not_sent', true, false],
    unknown: ['authorized', 'reversing_capture', 'partial_capture_unknown', false, true],
  },
  void: {
    // The hold beneath the capture goes by a reversal of its own.
    approved: ['voided', 'reversing_authorization', 'voided', false, true],
    declined: ['captured', undefined, 'void_declined', false, false],
    undecided: ['captured', 'reversing_void', 'void_unknown', false, true],
    not_sent: ['captured', undefined, 'void_not_sent', true, false],
    unknown: ['captured', 'reversing_void', 'void_unknown', false, true],
  },
  partial_void: {
    approved: ['authorized', undefined, 'partially_voided', false, false],
    declined: ['authorized', undefined, 'partial_void_declined', false, false],
    undecided: ['authorized', 'reversing_partial_void', 'partial_void_unknown', false, true],
    not_sent: ['authorized', undefined, 'partial_void_not_sent', true, false],
    unknown: ['authorized', 'reversing_partial_void', 'partial_void_unknown', false, true],
  },
  release: {
    approved: ['captured', undefined, 'released', false, false],
    declined: ['authorized', undefined, 'release_declined', false, false],
    undecided: ['authorized', 'reversing_release', 'release_unknown', false, true],
    not_sent: ['authorized', undefined, 'release_not_sent', true, false],
    unknown: ['authorized', 'reversing_release', 'release_unknown', false, true],
  },
  refund: {
    approved: ['captured', undefined, 'refunded', false, false],
    declined: ['captured', undefined, 'refund_declined', false, false],
    unwanted: ['captured', 'reversing_refund', 'refund_declined', false, true],
    not_sent: ['captured', undefined, 'refund_not_sent', true, false],
    unknown: ['captured', 'reversing_refund', 'refund_unknown', false, true],
  },
} as const

for (const operation of Object.keys(states) as (keyof typeof states)[]) {
  for (const [name, ends] of Object.entries(expected[operation])) {
    const kind = name as Verdict['kind']
    test(`${operation}, ${kind}: state, event, key and reversal`, () => {
      const before = transaction(states[operation])
      const { after, event } = stepOf(operation, before, verdicts[kind], at)
      const { frees = false } = outcomes[operation][kind] ?? {}
      const reverses = reversalsBegun(before, after).length > 0
      expect([after.status, after.operation, event.type, frees, reverses]).toEqual([...ends])
    })
  }

  test(`${operation}: no verdict is without an outcome, but what goes on without the network`, () => {
    const { advised: _, ...others } = outcomes[operation]
    expect(Object.keys(others).sort()).toEqual(Object.keys(expected[operation]).sort())
  })
}

test('what follows on an unknown outcome is told as it is, in both languages', () => {
  const whys = ['timed_out', 'connection_lost', 'answer_unreadable', 'answer_mismatch'] as const
  const told = Object.entries(states).map(([name, state]) => {
    const { answer } = outcomes[name as keyof typeof states].unknown
    const messages = whys.map((why) => {
      const { body } = answer(transaction(state), { kind: 'unknown', why })
      return (JSON.parse(body) as { error: { message: string } }).error.message
    })
    for (const message of messages) expect(portugueseOf(message)).toBeDefined()
    return [name, [...new Set(messages.map((message) => message.split('; ')[1]))]]
  })
  const reversed = ['what it may have done is being reversed.']
  const repeated = ['it is repeated until the network has done it.']
  expect(Object.fromEntries(told)).toEqual({
    authorization: reversed,
    verification: ['nothing is on hold.'],
    increment: reversed,
    capture: reversed,
    partial_capture: reversed,
    void: repeated,
    partial_void: repeated,
    release: repeated,
    refund: reversed,
  })
  expect(portugueseOf('Nothing could be sent to the card network.')).toBeDefined()
})

test('a capture is taken back by its own numbers and amount, anything else by those of the authorization', () => {
  const of = (reverses: 'authorization' | 'capture' | 'void') => {
    const { originalMti, originalStan, amountCents } = reversalOf(
      transaction({ status: 'authorized', operation: 'capture' }),
      reverses,
    )
    return [originalMti, originalStan, amountCents]
  }
  expect(of('capture')).toEqual(['0200', '000002', 4_000n])
  expect(of('authorization')).toEqual(['0100', '000001', 10_000n])
  expect(of('void')).toEqual(['0100', '000001', 10_000n])
})

test('a refund is taken back by its own numbers, a partial void is repeated with what it leaves', () => {
  const refund = transaction({ status: 'captured', operation: 'refund' })
  expect(reversalOf(refund, 'refund')).toMatchObject({
    originalMti: '0200',
    originalStan: '000002',
    amountCents: 4_000n,
    attempts: 0,
  })
  const part = transaction({ status: 'authorized', operation: 'partial_void' })
  expect(reversalOf({ ...part, reversedCents: 500n }, 'partial_void')).toMatchObject({
    originalMti: '0100',
    originalStan: '000001',
    amountCents: 10_000n,
    remainingCents: 5_500n,
    attempts: 1,
    stan: '000002',
  })
})

test('the void of a captured payment names the capture, and is the first attempt of its reversal', () => {
  const captured = transaction({ status: 'captured', operation: 'void' })
  expect(reversalOf({ ...captured, capturedCents: 2_500n }, 'void')).toMatchObject({
    originalMti: '0200',
    originalStan: '000003',
    originalTransmission: '1121120002',
    amountCents: 2_500n,
    attempts: 1,
    stan: '000002',
    transmission: '1121120001',
  })
})
