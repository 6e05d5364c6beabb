import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createStanAllocator } from '../../../src/cards/transactions/stan.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
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
    ['2026-01-01T00:00:00.000Z', '600100', '0101000000'],
    ['2026-11-21T09:08:07.999Z', '632509', '1121090807'],
    ['2028-12-31T23:59:59.000Z', '836623', '1231235959'],
  ])('at %s: RRN %s…, DE 7 %s', async (at, prefix, transmission) => {
    const allocator = createStanAllocator({ sql: database.sql, now: () => new Date(at) })
    const numbers = await allocator.next(free('clock'))
    expect(numbers).toEqual({
      stan: numbers.stan,
      rrn: `${prefix}${numbers.stan}`,
      transmission,
    })
    expect(numbers.rrn).toHaveLength(12)
  })
})
