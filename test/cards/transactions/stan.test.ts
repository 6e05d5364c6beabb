import { afterAll, describe, expect, test } from 'bun:test'
import { createStanAllocator, referencesOf } from '../../../src/cards/transactions/stan.ts'
import { createTestDatabase } from '../../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

const free = (name: string) => ({ name, isPending: () => false })

const take = async (
  allocator: ReturnType<typeof createStanAllocator>,
  network: Parameters<ReturnType<typeof createStanAllocator>['next']>[0],
  count: number,
): Promise<readonly string[]> => {
  const taken: string[] = []
  for (let at = 0; at < count; at++) taken.push((await allocator.next(network)).stan)
  return taken
}

describe('trace numbers', () => {
  test('run from 000001 by network, and a restart gives none again', async () => {
    const { sql } = database
    const first = createStanAllocator({ sql, blockSize: 3 })
    expect(await take(first, free('a'), 4)).toEqual(['000001', '000002', '000003', '000004'])
    expect(await take(first, free('b'), 1)).toEqual(['000001'])
    const restarted = createStanAllocator({ sql, blockSize: 3 })
    expect(await take(restarted, free('a'), 2)).toEqual(['000007', '000008'])
    expect(await take(first, free('a'), 3)).toEqual(['000005', '000006', '000010'])
  })

  test('go round after 999999', async () => {
    const { sql } = database
    await sql`insert into card_stan_blocks values ('round', 999998)`
    const allocator = createStanAllocator({ sql, blockSize: 4 })
    expect(await take(allocator, free('round'), 5)).toEqual([
      '999998',
      '999999',
      '000001',
      '000002',
      '000003',
    ])
  })

  test('of waiting messages are passed over', async () => {
    const { sql } = database
    const allocator = createStanAllocator({ sql, blockSize: 2 })
    const network = { name: 'busy', isPending: (stan: string) => stan < '000004' }
    expect(await take(allocator, network, 1)).toEqual(['000004'])
  })

  test('asked for at the same time, and by two instances, are all different', async () => {
    const { sql } = database
    const allocators = [1, 2].map(() => createStanAllocator({ sql, blockSize: 50 }))
    const taken = await Promise.all(
      allocators.flatMap((one) => Array.from({ length: 500 }, () => one.next(free('many')))),
    )
    expect(new Set(taken.map(({ stan }) => stan)).size).toBe(1_000)
  })

  test.each([
    ['2026-01-01T00:00:00.000Z', '0101000000'],
    ['2028-12-31T23:59:59.000Z', '1231235959'],
  ])('at %s: DE 7 %s; the RRN has the hour of the database', async (at, transmission) => {
    const { sql } = database
    const allocator = createStanAllocator({ sql, now: () => new Date(at) })
    const numbers = await allocator.next(free('clock'))
    const [row] = await sql<{ hour: string }[]>`
      select to_char(now() at time zone 'UTC', 'YYYYDDDHH24') as hour`
    const rrn = `${row?.hour.slice(3)}${numbers.stan}`
    expect(numbers).toEqual({ stan: numbers.stan, rrn, transmission })
    expect(numbers.rrn).toHaveLength(12)
  })

  test('that come again within the hour have another retrieval reference', async () => {
    const { sql } = database
    const rrns = new Set<string>()
    let count = 0
    const takeAll = async (numbers: number): Promise<void> => {
      const allocator = createStanAllocator({ sql, blockSize: 4 })
      for (let at = 0; at < numbers; at++) {
        rrns.add((await allocator.next(free('fast'))).rrn)
        count++
      }
    }
    const endWith = (round: number) => sql`
      update card_stan_blocks set next = 999996, round = ${round} where network = 'fast'`
    await takeAll(4)
    // As if a million had been taken since; again, and very often.
    for (const round of [0, 1, 2, 400]) {
      await endWith(round)
      await takeAll(12)
    }
    // In another hour the rounds begin anew.
    await sql`
      update card_stan_blocks set hour = hour - interval '1 hour', next = 999998, round = 7
      where network = 'fast'`
    const allocator = createStanAllocator({ sql, blockSize: 4 })
    const after = [1, 2, 3, 4, 5].map(() => allocator.next(free('fast')))
    const suffixes = (await Promise.all(after)).map(({ rrn }) => rrn.slice(6))
    expect(suffixes).toEqual(['999998', '999999', 'A00001', 'A00002', 'A00003'])
    expect(rrns.size).toBe(count)
    for (const rrn of rrns) expect(rrn).toMatch(/^\d{6}[0-9A-Z]{6}$/)
  })

  test('with DE 7 tell what the retrieval reference number may be, also at the turn of a year', async () => {
    const { sql } = database
    const allocator = createStanAllocator({ sql, blockSize: 3 })
    await allocator.next(free('named'))
    for (const round of [0, 1, 17]) {
      await sql`update card_stan_blocks set next = 999997, round = ${round} where network = 'named'`
      for (const numbers of Array.from({ length: 8 }, () => allocator.next(free('named')))) {
        const { stan, transmission, rrn } = await numbers
        expect(referencesOf(stan, transmission, new Date())).toContain(rrn)
      }
    }
    const first = referencesOf('000001', '1231235959', new Date('2027-01-01T00:00:30Z'))
    expect(first).toContain('636523000001')
    expect(first).toContain('700100000001')
    const last = referencesOf('000001', '0101000001', new Date('2026-12-31T23:59:59Z'))
    expect(last).toContain('700100000001')
    expect(last).toContain('636523000001')
  })

  test('of a block of the last hour are not used in the next', async () => {
    const { sql } = database
    const allocator = createStanAllocator({ sql, blockSize: 500 })
    expect(await take(allocator, free('hours'), 1)).toEqual(['000001'])
    const now = performance.now
    performance.now = () => now.call(performance) + 3_600_001
    try {
      expect(await take(allocator, free('hours'), 1)).toEqual(['000501'])
    } finally {
      performance.now = now
    }
  })
})
