/** What simulators keep for as long as they run has a bound, and reaching it costs nobody what is still needed. */
import { expect, test } from 'bun:test'
import { CardMessage, createFieldSetter } from '#codecs/iso8583'
import { createBuckets } from '../../src/simulators/buckets.ts'
import { DailyTotals } from '../../src/simulators/card-network/daily-totals.ts'
import { createBook } from '../../src/simulators/directory/book.ts'
import { createClaims } from '../../src/simulators/directory/claims.ts'
import { createRecords } from '../../src/simulators/directory/records.ts'

const [claimer, donor] = ['12345678', '87654321']
const account = { accountNumber: '500100', accountType: 'CACC' } as const
const now = () => Date.parse('2026-11-01T12:00:00Z')
const openedAt = '2020-01-01T03:00:00Z'

test('a claim can be opened after any number of others; the oldest that is over leaves', () => {
  const book = createBook(now)
  const periods = { resolutionMs: 1_000, completionMs: 1_000, listLagMs: 0 }
  const claims = createClaims({ book, now, periods })
  const open = (key: string) => {
    const kept = { keyType: 'PHONE', key, openedAt } as const
    if (book.find(key) === undefined) {
      const owner = { taxIdNumber: '98765432100', name: 'Ana Souza' }
      const entry = { ...kept, owner, account: { ...account, participant: donor } }
      book.create(entry, 'USER_REQUESTED', crypto.randomUUID())
    }
    return claims.open({
      ...kept,
      type: 'OWNERSHIP',
      account: { ...account, accountNumber: key, participant: claimer },
      claimer: { taxIdNumber: '12345678909', name: 'João Silva' },
    }).id
  }
  const going = open('+5561988880001')
  const ended: string[] = []
  for (let i = 0; i < 100_002; i++) {
    const id = open('+5561988880002')
    claims.cancel(id, claimer, 'USER_REQUESTED')
    ended.push(id)
  }
  expect(claims.all()).toHaveLength(100_000)
  expect(claims.find(going, claimer).status).toBe('OPEN')
  expect(() => claims.find(ended[0] ?? '', claimer)).toThrow()
  expect(claims.find(ended.at(-1) ?? '', claimer).status).toBe('CANCELLED')
})

test('a change of a record takes no other out', () => {
  type Kept = Parameters<typeof records.put>[0]
  const records = createRecords<
    'by',
    {
      readonly id: string
      readonly modifiedMs: number
      readonly status: string
      readonly by: string
    }
  >(now, ['by'])
  const put = (id: number): Kept =>
    records.put({ id: String(id), modifiedMs: 0, status: 'OPEN', by: claimer })
  let last = put(0)
  for (let id = 1; id < 100_000; id++) last = put(id)
  for (let times = 0; times < 3; times++) last = records.change(last, { status: 'CLOSED' })
  expect(records.demand('0', claimer).status).toBe('OPEN')
  put(100_000)
  expect(() => records.demand('0', claimer)).toThrow()
  expect(records.demand('1', claimer).status).toBe('OPEN')
})

test('those buckets stay that were used last', () => {
  const buckets = createBuckets(now)
  const filled = (name: string) => buckets.filled(name, 100, () => 0)
  filled('participant').tokens -= 10
  filled('payer').tokens -= 10
  for (let i = 0; i < 100_000; i++) {
    filled(`payer ${i}`)
    filled('participant')
  }
  expect(buckets.all().size).toBe(100_000)
  expect(filled('participant').tokens).toBe(90)
  expect(buckets.all().has('payer')).toBe(false)
})

test('who asks for the set of a participant without keys leaves nothing behind', () => {
  const book = createBook(now)
  const setOf = () => book.setOf(donor, 'PHONE')
  expect(setOf()).not.toBe(setOf())
  expect(setOf().hex()).toBe('0'.repeat(64))
  const owner = { taxIdNumber: '98765432100', name: 'Ana Souza' }
  const key = { keyType: 'PHONE', key: '+5561988880001', openedAt } as const
  const entry = { ...key, owner, account: { ...account, participant: donor } }
  const { cid } = book.create(entry, 'USER_REQUESTED', crypto.randomUUID())
  expect([...setOf().cids]).toEqual([cid])
  book.remove(entry.key, donor, 'USER_REQUESTED')
  expect(setOf().list(0, Number.MAX_SAFE_INTEGER, 10).events).toHaveLength(2)
})

test('a day is compared with its own totals, however often it was asked about', () => {
  const totals = new DailyTotals()
  totals.book('debits', '986', 100)
  totals.endDay('0301')
  totals.book('debits', '986', 999)
  const codeOf = (stan: number): string | undefined => {
    const [request, answer] = [new CardMessage(), new CardMessage()]
    request.transmissionDateTime = '0302000000'
    request.stan = String(stan).padStart(6, '0')
    request.settlementDate = '0301'
    createFieldSetter(50)(request, '986')
    for (const [at, count] of [0, 0, 1, 0].entries()) {
      createFieldSetter(74 + at)(request, String(count).padStart(10, '0'))
      createFieldSetter(86 + at)(request, String(count * 100).padStart(16, '0'))
    }
    totals.answer(request, answer)
    return answer.responseCode
  }
  for (let stan = 1; stan <= 1_002; stan++) expect(codeOf(stan)).toBe('00')
})
