import { expect, test } from 'bun:test'
import { expiries } from '../../src/console/browser/late.ts'

test('certificates are counted in the months of the days that are shown of them', () => {
  // In Brasília it is the last evening of January, and of March.
  const [first, second, third, ...more] = expiries(
    [{ not_after: '2026-04-01T02:59:59Z' }, { not_after: '2026-04-01T03:00:00Z' }],
    Date.UTC(2026, 1, 1, 2, 59),
  )
  expect([first, second, third, more[0]].map((one) => one?.many)).toEqual([0, 0, 1, 1])
  expect(first?.at.toISOString()).toStartWith('2026-01-15')
  expect(more).toHaveLength(10)
})
