import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createGatherer, OverloadedError, Writers } from '#src/platform/database/index.ts'
import { besideAfterMs } from '../../../src/platform/database/gatherer.ts'

const gatherer = (
  over: Partial<{
    rowsMax: number
    writersMax: number
    waitingMax: number
    spacingMs: number
    rowsEnough: number
    crowdMin: number
    besideMin: number
    bad: Set<number>
  }> = {},
) => {
  const batches: number[][] = []
  const written: number[] = []
  let running = 0
  let runningMost = 0
  const write = createGatherer<number, string>({
    rowsMax: over.rowsMax ?? 100,
    writersMax: over.writersMax ?? 1,
    waitingMax: over.waitingMax ?? 1_000,
    ...(over.spacingMs === undefined ? {} : { spacingMs: over.spacingMs }),
    ...(over.rowsEnough === undefined ? {} : { rowsEnough: over.rowsEnough }),
    ...(over.crowdMin === undefined ? {} : { crowdMin: over.crowdMin }),
    ...(over.besideMin === undefined ? {} : { besideMin: over.besideMin }),
    isRowFault: (error) => error instanceof RangeError,
    write: async (rows) => {
      batches.push([...rows])
      runningMost = Math.max(runningMost, ++running)
      await Bun.sleep(0)
      running--
      if (rows.includes(-1)) throw new Error('away')
      if (rows.some((row) => over.bad?.has(row))) throw new RangeError('bad row')
      written.push(...rows)
      return rows.map((row) => `r${row}`)
    },
  })
  return { write, batches, written, most: () => runningMost }
}

describe('the gatherer', () => {
  test('writes the rows of one turn together and gives each its own result', async () => {
    const { write, batches } = gatherer()
    expect(await Promise.all([write(1), write(2), write(3)])).toEqual(['r1', 'r2', 'r3'])
    expect(batches).toEqual([[1, 2, 3]])
    expect(await write(4)).toBe('r4')
  })

  test('keeps to its limits of rows and of writers', async () => {
    const { write, batches, most } = gatherer({ rowsMax: 10, writersMax: 2 })
    await Promise.all(Array.from({ length: 95 }, (_, index) => write(index)))
    expect(Math.max(...batches.map(({ length }) => length))).toBe(10)
    expect(batches.length).toBe(10)
    expect(most()).toBe(2)
  })

  test('takes turns with others over the same writers', async () => {
    const order: string[] = []
    const writers = new Writers()
    let running = 0
    const named = (name: string) =>
      createGatherer<number, number>({
        rowsMax: 3,
        writersMax: 1,
        writers,
        waitingMax: 100,
        isRowFault: () => false,
        write: async (rows) => {
          expect(++running).toBe(1)
          order.push(`${name}${rows.length}`)
          await Bun.sleep(1)
          running--
          return rows
        },
      })
    const [first, second] = [named('a'), named('b')]
    const rows = [0, 1, 2, 3, 4, 5, 6]
    await Promise.all([...rows.map(first), ...rows.map(second)])
    expect(order).toEqual(['a3', 'b3', 'a3', 'b3', 'a1', 'b1'])
    expect(await first(9)).toBe(9)
  })

  test('few rows wait for the statement that runs, and as many as are worth another do not', async () => {
    const first = Promise.withResolvers<void>()
    const batches: number[][] = []
    const write = createGatherer<number, number>({
      rowsMax: 10,
      writersMax: 2,
      besideMin: 4,
      waitingMax: 100,
      isRowFault: () => false,
      write: async (rows) => {
        batches.push([...rows])
        if (rows.includes(0)) await first.promise
        return rows
      },
    })
    const ends = [write(0)]
    await Bun.sleep(1)
    ends.push(write(1), write(2), write(3))
    await Bun.sleep(5)
    expect(batches).toEqual([[0]])
    ends.push(write(4))
    expect(await Promise.all(ends.slice(1))).toEqual([1, 2, 3, 4])
    ends.push(write(5))
    await Bun.sleep(5)
    expect(batches).toEqual([[0], [1, 2, 3, 4]])
    first.resolve()
    await Promise.all(ends)
    expect(batches).toEqual([[0], [1, 2, 3, 4], [5]])
    expect(await write(6)).toBe(6)
  })

  test('few rows do not wait for a statement that hangs', async () => {
    const hangs = Promise.withResolvers<void>()
    const write = createGatherer<number, number>({
      rowsMax: 10,
      writersMax: 2,
      besideMin: 4,
      waitingMax: 100,
      isRowFault: () => false,
      write: async (rows) => {
        if (rows.includes(0)) await hangs.promise
        return rows
      },
    })
    const first = write(0)
    await Bun.sleep(1)
    // Two waits in turn: each has its own patience.
    for (const row of [1, 2]) {
      const beganMs = performance.now()
      expect(await write(row)).toBe(row)
      expect(performance.now() - beganMs).toBeGreaterThan(besideAfterMs * 0.9)
    }
    hangs.resolve()
    expect(await first).toBe(0)
  })

  test('with a spacing the first row waits for nobody', async () => {
    const { write } = gatherer({ spacingMs: 10 * 60_000 })
    expect(await write(0)).toBe('r0')
  })

  test('with a spacing what follows the first row shares a statement', async () => {
    const spacingMs = 700
    const { write, batches } = gatherer({ spacingMs })
    const startMs = performance.now()
    await write(0)
    const later: Promise<string>[] = []
    for (const row of [1, 2, 3]) {
      later.push(write(row))
      await Bun.sleep(1)
    }
    expect(await Promise.all(later)).toEqual(['r1', 'r2', 'r3'])
    expect(batches).toEqual([[0], [1, 2, 3]])
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(spacingMs - 1)
  })

  test('with a spacing few callers wait for nobody, and the crowd behind them does', async () => {
    // Longer than the test: nobody who has waited so long gets through.
    const { write, batches } = gatherer({ spacingMs: 10 * 60_000, crowdMin: 3 })
    await write(0)
    await Promise.all([write(1), write(2)])
    await Promise.all([write(3), write(4), write(5)])
    void write(6)
    await Bun.sleep(20)
    expect(batches).toEqual([[0], [1, 2], [3, 4, 5]])
  })

  test('with a spacing the rows of whole statements wait for one another only', async () => {
    const { write, batches } = gatherer({ rowsMax: 10, spacingMs: 60_000 })
    await Promise.all(Array.from({ length: 30 }, (_, index) => write(index)))
    expect(batches.map(({ length }) => length)).toEqual([10, 10, 10])
  })

  test.each([
    ['a whole statement', { rowsMax: 4 }],
    ['as many as are enough', { rowsEnough: 4 }],
  ])('with a spacing %s starts at once, however its rows came', async (_, some) => {
    const { write, batches } = gatherer({ ...some, spacingMs: 60_000 })
    await write(0)
    const later: Promise<string>[] = []
    for (const row of [1, 2, 3, 4]) {
      expect(batches.length).toBe(1)
      later.push(write(row))
      await Bun.sleep(2)
    }
    await Promise.all(later)
    expect(batches).toEqual([[0], [1, 2, 3, 4]])
  })

  test('refuses one row more than may wait, and takes rows again afterwards', async () => {
    const { write } = gatherer({ waitingMax: 3 })
    const three = [write(1), write(2), write(3)]
    expect(write(4)).rejects.toThrow(OverloadedError)
    await Promise.all(three)
    expect(await write(5)).toBe('r5')
  })

  test('an error that is no row’s fails the batch once', async () => {
    const { write, batches } = gatherer()
    const outcomes = await Promise.allSettled([write(1), write(-1), write(2)])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(batches.length).toBe(1)
  })

  test('whatever rows are bad, only those fail, and the others are written once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat(1_000), { maxLength: 60 }),
        fc.func(fc.boolean()),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, isBad, rowsMax, besideMin) => {
          const bad = new Set(rows.filter((row) => isBad(row)))
          const { write, written } = gatherer({ rowsMax, writersMax: 3, besideMin, bad })
          const outcomes = await Promise.allSettled(rows.map(write))
          const failed = rows.filter((_, index) => outcomes[index]?.status === 'rejected')
          expect(failed).toEqual(rows.filter((row) => bad.has(row)))
          expect([...written].sort()).toEqual(rows.filter((row) => !bad.has(row)).sort())
        },
      ),
      { numRuns: 50 },
    )
  })
})
