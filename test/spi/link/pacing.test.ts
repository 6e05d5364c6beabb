import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sharedBuckets } from '#src/platform/http/index.ts'
import { ownBuckets } from '#src/platform/http/limits/store.ts'
import { costOf, createPacing, type Pacing } from '#src/spi/link/pacing.ts'
import { createTestDatabase } from '../../support/database.ts'
import { build, payment, transfer } from '../../support/participant.ts'

/** One of them starts a database. */
setDefaultTimeout(60_000)

const ispb = '12345678'
const other = '87654321'
const payments = (count: number): Uint8Array =>
  payment(
    ispb,
    other,
    100,
    Array.from({ length: count - 1 }, () => transfer(ispb, other, 100)),
  )
const text = (type: string): Uint8Array => Buffer.from(`<MsgDefIdr>${type}.spi.1.1</MsgDefIdr>`)

test('a message costs what its operations cost', () => {
  expect(costOf(payments(1))).toEqual({ cost: 1, isTracked: false })
  expect(costOf(payments(10))).toEqual({ cost: 10, isTracked: false })
  const report = build(ispb, 'PACS002', {
    original_end_to_end_id: `E${other}202501010000abcdefghijk`,
    status: 'ACSP',
  })
  expect(costOf(report)).toEqual({ cost: 0.2, isTracked: false })
  expect(costOf(text('camt.055'))).toEqual({ cost: 1, isTracked: false })
  const tracked = Buffer.concat([text('trck.002'), Buffer.from('<Tx>1</Tx><Tx>2</Tx><Tx>3</Tx>')])
  expect(costOf(tracked)).toEqual({ cost: 3, isTracked: true })
  expect(costOf(Buffer.from('no message'))).toEqual({ cost: 1, isTracked: false })
})

describe('buckets', () => {
  const noon = Date.UTC(2025, 0, 1, 15)
  const clock = { ms: noon }
  const now = () => clock.ms
  const pacing = (share = 1, draw = ownBuckets(now)) => createPacing({ ispb, share, draw, now })
  const takeAll = async (from: Pacing, channel: 'PRIMARY' | 'SECONDARY') => {
    const messages = [text('camt.060')]
    let taken = 0
    while ((await from.take(channel, messages)) === 0) taken++
    return taken
  }

  test('the primary holds 3750 and refills 750 a second', async () => {
    clock.ms = noon
    const one = pacing()
    expect(await takeAll(one, 'PRIMARY')).toBe(3_750)
    clock.ms += 1_000
    expect(await takeAll(one, 'PRIMARY')).toBe(750)
    clock.ms += 3_600_000
    expect(await takeAll(one, 'PRIMARY')).toBe(3_750)
  })

  test('the secondary holds 350 by day, 5000 by night; investigations have their own', async () => {
    clock.ms = noon
    const one = pacing()
    expect(await takeAll(one, 'SECONDARY')).toBe(350)
    expect(await one.take('SECONDARY', [text('trck.002')])).toBe(0)
    // 08:00 in São Paulo is 11:00 UTC.
    for (const [moment, size] of [
      [Date.UTC(2025, 0, 2, 10, 59, 59), 5_000],
      [Date.UTC(2025, 0, 2, 11), 350],
      [Date.UTC(2025, 0, 2, 3), 5_000],
      [Date.UTC(2025, 0, 2, 2, 59), 350],
    ] as const) {
      clock.ms = moment
      expect(await takeAll(pacing(), 'SECONDARY')).toBe(size)
    }
  })

  test('a large message may take more than is left, and is then waited for', async () => {
    clock.ms = noon
    const one = pacing(0.001)
    const ten = payments(10)
    expect(await one.take('PRIMARY', [ten])).toBe(0)
    for (let waitMs = 1; waitMs > 0; clock.ms += waitMs) waitMs = await one.take('PRIMARY', [ten])
    expect(clock.ms - noon).toBeWithin(9_000, 10_000)
  })

  test('a line is admitted from its first on, as far as the bucket goes, and its room is what that would be', async () => {
    clock.ms = noon
    const one = pacing()
    expect(await one.room('SECONDARY', 'secondary')).toBe(350)
    expect(await one.admit('SECONDARY', 'secondary', [200, 0.2])).toBe(2)
    expect(await one.room('SECONDARY', 'secondary')).toBeWithin(148, 150)
    // What costs more than is left is admitted as long as anything is, and owed.
    expect(await one.admit('SECONDARY', 'secondary', [500, 1])).toBe(1)
    expect(await one.room('SECONDARY', 'secondary')).toBeLessThan(0)
    expect(await one.admit('SECONDARY', 'secondary', [1])).toBe(0)
    expect(await one.room('SECONDARY', 'investigations')).toBe(1_500)
    // Nobody but who asks for room pays what is owed.
    clock.ms += 20_000
    expect(await one.room('SECONDARY', 'secondary')).toBeLessThanOrEqual(0)
    clock.ms += 2_000
    expect(await one.room('SECONDARY', 'secondary')).toBeWithin(68, 71)
    expect(await one.admit('SECONDARY', 'secondary', [1])).toBe(1)
    expect(await one.admit('SECONDARY', 'secondary', [])).toBe(0)
  })

  test('what has nothing to pay waits for no bucket', async () => {
    clock.ms = noon
    const one = pacing()
    await takeAll(one, 'SECONDARY')
    expect(await one.take('SECONDARY', [])).toBe(0)
  })

  test('processes on one database draw from the same bucket', async () => {
    const database = await createTestDatabase(2)
    const draw = sharedBuckets(database.sql)
    // The database's clock runs: a tenth of the rate adds little within the test.
    const [one, other] = [pacing(0.1, draw), pacing(0.1, draw)]
    const startMs = performance.now()
    const taken = await Promise.all([one, other].map((each) => takeAll(each, 'PRIMARY')))
    const added = ((performance.now() - startMs) / 1_000) * 75
    const sum = (taken[0] ?? 0) + (taken[1] ?? 0)
    expect(sum).toBeGreaterThanOrEqual(375 - 1)
    expect(sum).toBeLessThanOrEqual(375 + added + 1)
    await database.close()
  })

  test('a clock that goes back takes nothing away', async () => {
    clock.ms = noon
    const one = pacing()
    expect(await one.take('PRIMARY', [text('camt.060')])).toBe(0)
    clock.ms -= 60_000
    expect(await one.take('PRIMARY', [text('camt.060')])).toBe(0)
  })
})
