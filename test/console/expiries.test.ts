import { expect, test } from 'bun:test'
import { expiries, toBeReplaced } from '../../src/console/browser/late.ts'
import { loadConsole } from './load-console.ts'

test('certificates are counted in the months of the days that are shown of them', () => {
  // In Brasília it is still the last evening of January, and of March.
  const [first, second, third, ...more] = expiries(
    [{ not_after: '2026-04-01T02:59:59Z' }, { not_after: '2026-04-01T03:00:00Z' }],
    Date.UTC(2026, 1, 1, 2, 59),
  )
  expect([first, second, third, more[0]].map((one) => one?.many)).toEqual([0, 0, 1, 1])
  expect(first?.at.toISOString()).toStartWith('2026-01-15')
  expect(more).toHaveLength(10)
})

test('a certificate is to be replaced until one that can do its work is there', () => {
  const old = {
    ispb: '12345678',
    type: 'PIA',
    version: 1,
    not_after: '2026-04-01T02:59:59Z',
    days_until_expiry: 3,
    has_private_key: true,
    status: 'active',
  } as const
  const next = { ...old, version: 2, days_until_expiry: 700 }
  expect(toBeReplaced([old, next])).toEqual([])
  expect(toBeReplaced([old, { ...next, has_private_key: false }])).toEqual([old])
  expect(toBeReplaced([old, { ...next, status: 'not_yet_valid' }])).toEqual([old])
  expect(toBeReplaced([old, { ...next, type: 'PIC' }])).toEqual([old])
  // A certificate that only verifies needs no key.
  const foreign = { ...old, has_private_key: false }
  expect(toBeReplaced([foreign, { ...next, has_private_key: false }])).toEqual([])
})

const { expiryText } = await loadConsole<{ readonly expiryText: (one: object) => string }>([
  'certificates.tsx',
])

test.each([
  ['active', 2, '2 days'],
  ['active', 1, '1 day'],
  ['active', 0, 'in less than a day'],
  ['not_yet_valid', 40, '40 days'],
  // Another process may count below zero by its own clock, before the certificate has expired.
  ['active', -1, 'in less than a day'],
  ['expired', -1, 'expired'],
])('a certificate that is %s, %i days from its end, is told to be %j', (status, days, told) => {
  expect(expiryText({ status, days_until_expiry: days })).toBe(told)
})
