import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Client } from '#src/platform/database/index.ts'
import { costsOf, engines, type RunningEngine, type StatementCost, startEngine } from './engines.ts'

export const isLong = process.env['TRILHO_LONG'] === '1'

/** The server keeps a plan after so many executions. */
const executionsUntilKept = 5
const storeTimeoutMs = 600_000
const workTimeoutMs = 120_000

/** A smaller table may be read as a whole. */
const heapPagesMin = 100

type Heap = { readonly name: string; readonly pages: number }

const heapsOf = (sql: Client): Promise<readonly Heap[]> =>
  sql<Heap[]>`
    select relname as name, (coalesce(
      (select sum(pg_relation_size(part.relid)) from pg_partition_tree(pg_class.oid) part),
      pg_relation_size(oid)) / 8192)::float8 as pages
    from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace`

/** Pages of the largest table that a statement reads from. */
const heapRead = (text: string, heaps: readonly Heap[]): number =>
  heaps
    .filter(({ name }) => new RegExp(`\\b(?:from|join|update)\\s+"?${name}\\b`, 'i').test(text))
    .reduce((most, { pages }) => Math.max(most, pages), 0)

export type BudgetedWork<Made> = {
  /** Before anything is stored. */
  readonly prepare?: (sql: Client) => Promise<void>
  /** What the work is given while the tables are empty. */
  readonly absent: Made
  /** Fills the tables, and returns what the work is then given. */
  readonly store: (sql: Client) => Promise<Made>
  /** Runs each statement as the product does; it may be repeated. */
  readonly work: (sql: Client, made: Made) => Promise<void>
  readonly isTooDear: (cost: StatementCost) => boolean
  /** The server analyzes all its tables by itself soon after they grow: none of them is partitioned. */
  readonly isAnalyzed?: boolean
  /** Whose budget may be as large as the table that it reads, since it walks that row by row; absent: nobody's. */
  readonly walks?: (text: string) => boolean
}

/** Holds statements to their budgets on every engine at hand, whatever their plans were made of. */
export const holdPageBudgets = <Made>(budgeted: BudgetedWork<Made>): void => {
  describe.each(engines.map((engine) => [engine.name, engine] as const))('%s', (_, engine) => {
    let server: RunningEngine
    let database: ReturnType<RunningEngine['open']>
    let made: Made

    beforeAll(async () => {
      server = await startEngine(engine)
      database = server.open()
      const { sql } = database
      await budgeted.prepare?.(sql)
      for (let turn = 0; turn < executionsUntilKept + 2; turn++) {
        await budgeted.work(sql, budgeted.absent)
      }
      made = await budgeted.store(sql)
    }, storeTimeoutMs)

    afterAll(async () => {
      await database.close()
      await server[Symbol.asyncDispose]()
    })

    const costsMade = async (sql: Client): Promise<readonly StatementCost[]> => {
      const costs = await costsOf(sql, () => budgeted.work(sql, made))
      expect(costs).not.toEqual([])
      return costs
    }

    /** Statements whose whole table would not be too dear: their budget holds nothing. */
    const unheld = async (sql: Client): Promise<readonly string[]> => {
      const heaps = await heapsOf(sql)
      const costs = await costsMade(sql)
      return costs.flatMap((cost) => {
        const pages = heapRead(cost.text, heaps)
        const isHeld =
          pages < heapPagesMin ||
          budgeted.walks?.(cost.text) === true ||
          budgeted.isTooDear({ ...cost, pagesPerCall: pages })
        return isHeld ? [] : [`${pages} pages: ${cost.text}`]
      })
    }

    const tooDear = async (sql: Client): Promise<readonly StatementCost[]> =>
      (await costsMade(sql)).filter(budgeted.isTooDear)

    const inTest = (name: string, run: (sql: Client) => Promise<unknown>): void =>
      test(
        name,
        async () => {
          const fresh = server.open()
          try {
            await run(fresh.sql)
          } finally {
            await fresh.close()
          }
        },
        workTimeoutMs,
      )

    test(
      'by plans made while the tables were empty',
      async () => expect(await tooDear(database.sql)).toEqual([]),
      workTimeoutMs,
    )
    if (budgeted.isAnalyzed !== true) {
      inTest('by new plans, of tables that nobody has analyzed', async (sql) =>
        expect(await tooDear(sql)).toEqual([]),
      )
    }
    inTest('by new plans, of tables that are analyzed', async (sql) => {
      await sql`analyze`
      expect(await tooDear(sql)).toEqual([])
    })
    inTest('by budgets that a scan of the whole table breaks', async (sql) => {
      await sql`analyze`
      expect(await unheld(sql)).toEqual([])
    })
  })
}
