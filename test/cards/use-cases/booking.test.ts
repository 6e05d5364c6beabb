import { expect, test } from 'bun:test'
import type { Network } from '../../../src/cards/networks/index.ts'
import type { Reversal } from '../../../src/cards/reversals/types.ts'
import type { CardTransaction } from '../../../src/cards/transactions/store.ts'
import { bookedBy, bookedByEnd } from '../../../src/cards/use-cases/booking.ts'

/* What a network has moved with its answer: the kind, the amount, the numbers under which it has it, and the day. */

const networkOf = (authorization: '0100' | '0200') =>
  ({
    name: 'neta',
    reconciliation: { isByNetwork: true, cutOver: { minutes: 0, offsetMinutes: 0 } },
    content: { mtiOf: () => authorization },
    answers: { ofReversal: (code: string) => (code === '00' ? 'done' : 'unknown') },
  }) as unknown as Network

const holds = networkOf('0100')
const sales = networkOf('0200')
const at = new Date('2026-11-22T12:00:00Z')

const transaction = {
  id: 'txn_1',
  currency: 'USD',
  amountCents: 10_000n,
  stan: '000001',
  transmission: 'T1',
  operationStan: '000002',
  operationTransmission: 'T2',
  operationCents: 2_500n,
} as CardTransaction

const voidedInPart = { ...transaction, reversedCents: 4_000n } as CardTransaction

const captured = {
  ...transaction,
  capturedCents: 3_000n,
  captureStan: '000004',
  captureTransmission: 'T4',
  captures: [{ stan: '000003', transmission: 'T3', cents: 1_200 }],
} as CardTransaction

const approved = (partCents?: bigint) =>
  ({ kind: 'approved', responseCode: '00', settlementDate: '1123', partCents }) as Parameters<
    typeof bookedBy
  >[3]

const common = { network: 'neta', currency: 'USD', transactionId: 'txn_1', day: '2026-11-23' }

test('an approval is booked as what it moved', () => {
  for (const [network, operation, before, partCents, booked] of [
    [holds, 'capture', transaction, undefined, ['debit', 2_500n, '000002', 'T2']],
    [holds, 'partial_capture', captured, undefined, ['debit', 2_500n, '000002', 'T2']],
    [holds, 'refund', captured, undefined, ['credit', 2_500n, '000002', 'T2']],
    [holds, 'void', captured, undefined, ['debit_reversal', 1_800n, '000004', 'T4']],
    [holds, 'void', transaction, undefined, undefined],
    [sales, 'void', transaction, undefined, ['debit_reversal', 10_000n, '000001', 'T1']],
    [holds, 'authorization', transaction, undefined, undefined],
    [sales, 'authorization', transaction, undefined, ['debit', 10_000n, '000001', 'T1']],
    [sales, 'authorization', transaction, 4_000n, ['debit', 4_000n, '000001', 'T1']],
    [holds, 'increment', transaction, undefined, undefined],
    [sales, 'increment', transaction, undefined, ['debit', 2_500n, '000002', 'T2']],
    [holds, 'partial_void', transaction, undefined, undefined],
    [holds, 'release', captured, undefined, undefined],
    [sales, 'partial_void', transaction, undefined, ['debit_reversal', 2_500n, '000002', 'T2']],
    [sales, 'void', voidedInPart, undefined, ['debit_reversal', 6_000n, '000001', 'T1']],
    [sales, 'verification', transaction, undefined, undefined],
  ] as const) {
    const [kind, cents, stan, transmission] = booked ?? []
    const expected = booked ? [{ ...common, kind, cents, stan, transmission }] : []
    expect(bookedBy(network, operation, before, approved(partCents), at)).toEqual(
      expected as ReturnType<typeof bookedBy>,
    )
  }
})

test('nothing is booked that was not approved, or where no days are compared', () => {
  const declined = { kind: 'declined', responseCode: '05' } as const
  expect(bookedBy(holds, 'capture', transaction, declined, at)).toEqual([])
  const without = { ...holds, reconciliation: undefined }
  expect(bookedBy(without, 'capture', transaction, approved(), at)).toEqual([])
  expect(bookedBy(undefined, 'capture', transaction, approved(), at)).toEqual([])
})

test('an approved 0100 is counted where the network compares their number', () => {
  const counting = (one: Network): Network =>
    ({ ...one, content: { ...one.content, countsAuthorizations: true } }) as Network
  const bookedAs = (network: Network, operation: Parameters<typeof bookedBy>[1], part?: bigint) =>
    bookedBy(network, operation, transaction, approved(part), at).map(
      ({ kind, cents, stan, transmission }) => [kind, cents, stan, transmission],
    )
  const first = ['authorization', 10_000n, '000001', 'T1']
  expect(bookedAs(counting(holds), 'authorization')).toEqual([first])
  expect(bookedAs(counting(holds), 'authorization', 4_000n)).toEqual([
    ['authorization', 4_000n, '000001', 'T1'],
  ])
  expect(bookedAs(counting(holds), 'verification')).toEqual([first])
  expect(bookedAs(counting(holds), 'increment')).toEqual([
    ['authorization', 2_500n, '000002', 'T2'],
  ])
  expect(bookedAs(counting(holds), 'capture').map(([kind]) => kind)).toEqual(['debit'])
  expect(bookedAs(counting(sales), 'authorization').map(([kind]) => kind)).toEqual(['debit'])
  for (const [reverses, kinds] of [
    ...([
      ['authorization', ['authorization']] as const,
      ['increment', ['authorization']] as const,
    ] as const),
    ...([['authorization_advice', ['authorization']] as const, ['void', []] as const] as const),
  ]) {
    const ended = { ...reversal, reverses }
    const booked = bookedByEnd(counting(holds), ended, 'confirmed', answered, 0n, at)
    expect(booked.map(({ kind }) => kind as string)).toEqual([...kinds])
  }
})

/** DE 15 and DE 28 of an answer. */
const answered = { settlementDate: '1123', fees: { transaction: 25n } }

const reversal = {
  transactionId: 'txn_1',
  currency: 'USD',
  amountCents: 700n,
  responseCode: '00',
  stan: '000009',
  transmission: 'T9',
  originalStan: '000002',
  originalTransmission: 'T2',
  originalMti: '0100',
} as Reversal

test('a confirmed reversal is booked with what it takes back, and an advice as what it tells', () => {
  const own = ['000009', 'T9'] as const
  const original = ['000002', 'T2'] as const
  const sale = ['debit', 'debit_reversal'] as const
  for (const [network, ended, kinds, [stan, transmission]] of [
    [holds, { reverses: 'capture_advice' }, ['debit'], own],
    [holds, { reverses: 'partial_capture_advice' }, ['debit'], own],
    [holds, { reverses: 'refund_advice' }, ['credit'], own],
    [holds, { reverses: 'authorization_advice' }, [], own],
    [sales, { reverses: 'authorization_advice' }, ['debit'], own],
    [holds, { reverses: 'capture' }, sale, original],
    [holds, { reverses: 'refund' }, ['credit', 'credit_reversal'], original],
    [holds, { reverses: 'void', originalMti: '0200' }, sale, original],
    [holds, { reverses: 'void', originalMti: '0220' }, sale, original],
    [holds, { reverses: 'void' }, [], original],
    [sales, { reverses: 'void' }, sale, original],
    [holds, { reverses: 'authorization' }, [], original],
    [sales, { reverses: 'authorization' }, sale, original],
    [holds, { reverses: 'increment' }, [], original],
    [sales, { reverses: 'increment' }, sale, original],
    [holds, { reverses: 'partial_void' }, [], own],
    [holds, { reverses: 'release' }, [], own],
  ] as const) {
    const booked = bookedByEnd(network, { ...reversal, ...ended }, 'confirmed', answered, 0n, at)
    // What takes money back names no fee of what it takes back.
    const { fees } = ended.reverses.endsWith('_advice') ? answered : { fees: undefined }
    const charged = fees === undefined ? {} : { fees }
    expect(booked).toEqual(
      kinds.map((kind) => ({ ...common, kind, cents: 700n, stan, transmission, ...charged })),
    )
  }
})

test('what a network refused, never answered or did not know moved nothing', () => {
  for (const reverses of ['capture_advice', 'refund_advice', 'capture'] as const) {
    for (const outcome of ['refused', 'expired'] as const) {
      expect(bookedByEnd(holds, { ...reversal, reverses }, outcome, answered, 0n, at)).toEqual([])
    }
  }
  const unknown = { ...reversal, reverses: 'capture', responseCode: '25' } as const
  expect(bookedByEnd(holds, unknown, 'confirmed', answered, 0n, at)).toEqual([])
  const told = { ...reversal, reverses: 'capture_advice', responseCode: '94' } as const
  expect(bookedByEnd(holds, told, 'confirmed', undefined, 0n, at)).toMatchObject([
    { kind: 'debit', day: undefined },
  ])
})

test('without DE 15 the clock of the database tells the day, and that of the process nothing', () => {
  const cutOver = { minutes: 22 * 60, offsetMinutes: -180 }
  const byClock = { ...holds, reconciliation: { isByNetwork: false, cutOver } } as Network
  const untold = { kind: 'approved', responseCode: '00' } as Parameters<typeof bookedBy>[3]
  for (const moment of ['2026-11-23T00:59:59Z', '2026-11-23T01:00:00Z']) {
    const heard = new Date(moment)
    const byDatabase = [{ day: undefined, shiftMinutes: -60 }]
    expect(bookedBy(byClock, 'capture', transaction, untold, heard)).toMatchObject(byDatabase)
    const advised = { ...reversal, reverses: 'capture_advice' } as const
    expect(bookedByEnd(byClock, advised, 'confirmed', undefined, 0n, heard)).toMatchObject(
      byDatabase,
    )
    expect(bookedBy(holds, 'capture', transaction, untold, heard)).toMatchObject([
      { day: undefined, shiftMinutes: undefined },
    ])
    // What the network tells goes before.
    expect(bookedBy(byClock, 'capture', transaction, approved(), heard)).toMatchObject([
      { day: '2026-11-23' },
    ])
  }
})

test('of a sale, the void of a part takes back that part, and what follows it what is left', () => {
  const bookedAs = (change: Partial<Reversal>, reversedCents: bigint) => {
    const ended = { ...reversal, amountCents: 10_000n, ...change } as Reversal
    return bookedByEnd(sales, ended, 'confirmed', undefined, reversedCents, at).map(
      ({ kind, cents, stan }) => [kind, cents, stan],
    )
  }
  for (const reverses of ['partial_void', 'release'] as const) {
    const part = { reverses, remainingCents: 5_000n }
    expect(bookedAs(part, 0n)).toEqual([['debit_reversal', 5_000n, '000009']])
    expect(bookedAs(part, 2_000n)).toEqual([['debit_reversal', 3_000n, '000009']])
  }
  for (const reverses of ['void', 'authorization'] as const) {
    expect(bookedAs({ reverses }, 2_000n)).toEqual([
      ['debit', 10_000n, '000002'],
      ['debit_reversal', 8_000n, '000002'],
    ])
  }
  // Captures are voided one by one.
  expect(bookedAs({ reverses: 'capture', originalMti: '0200' }, 2_000n).at(1)).toEqual([
    'debit_reversal',
    10_000n,
    '000002',
  ])
})
