/** What every statement of the product reads, behind many finished rows of every table that a run of all features fills. */
import { expect, test } from 'bun:test'
import { tryAll } from '../clients/try-out.ts'
import { costsOf, engines, type StatementCost, startEngine } from '../support/engines.ts'
import { multiplyRows } from '../support/multiply.ts'
import { isLong } from '../support/page-budgets.ts'
import { startDev } from '../support/running-dev.ts'
import { startReceiver } from '../webhooks/support.ts'

/** TEST_STORED_ROWS=1000000 takes the better part of an hour, and 40 GB of disk. */
const copies = Number(process.env['TEST_STORED_ROWS'] ?? 20_000)
/** A list may show fifty rows, each on pages of its own. */
const pagesMax = 1_200
/** Whatever is done at intervals has been done. */
const restMs = 20_000
/** Rows come faster where indexes stay in memory and checkpoints are rare; what a statement reads is the same. */
const filling = { shared_buffers: '2GB', max_wal_size: '8GB', checkpoint_timeout: '30min' }
/** Statements that look at a bounded number of rows, whatever is stored, and what each row may take. */
const bounded: readonly { readonly text: RegExp; readonly pages: number }[] = [
  // The newest five thousand, with the outcome of each.
  { text: /^with recent as materialized/, pages: 5_001 * 5 },
  // Counts end at ten thousand, each row of which may stand on a page of the table and one of the index.
  { text: /^select \$1 as status, clock_timestamp\(\)/, pages: 4 * 10_001 },
  { text: /^select count\(\*\)::int as total/, pages: 2 * 10_001 },
  // Two thousand transactions of a day at a time.
  { text: /^select wanted\.reference|^select e\.place/, pages: 2_000 * 8 },
  // Five hundred of them, looked for among copies whose messages are copies of another type.
  { text: /^select message_id as "messageId"/, pages: 8 * copies },
  // Nearly all transfers end confirmed, so a list of those walks the account's.
  { text: /from drex_transfers f .* t\.status = /, pages: 4 * copies },
  // Two thousand entries at a time, each looked for in the partitions of two months.
  { text: /from audit_log where id = any/, pages: 2_000 * 8 },
  // One step for each endpoint that was ever delivered to, which each copy has of its own.
  { text: /^with recursive delivered_to/, pages: 6 * copies },
  // The account's are walked until the page is full; copies stand together by their status.
  { text: /from card_transactions t where account = .* status = /, pages: copies / 10 },
]

const budgetOf = (text: string): number => {
  const line = text.replace(/\s+/g, ' ').trim()
  return bounded.find((one) => one.text.test(line))?.pages ?? pagesMax
}

test.skipIf(!isLong).each(engines)(
  'no statement walks a table ($name)',
  async (engine) => {
    await using server = await startEngine(engine, filling)
    const { sql, close } = server.open()
    const receiver = startReceiver()
    const env = {
      DATABASE_DSN: server.dsn,
      CARDGW_DATABASE_URL: server.dsn,
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
      CARDGW_REVERSAL_ATTEMPTS_MAX: '1',
    }
    const first = await startDev(env)
    // With a database of our own, dev makes no keys of RSFN.
    const refused = await tryAll(first, receiver.url)
    expect(refused.filter((fault) => !/^\w+Rsfn/.test(fault))).toEqual([])
    // What was asked for last is done, or its copies are work that nobody has.
    await Bun.sleep(restMs)
    await first[Symbol.asyncDispose]()

    const grown = await multiplyRows(sql, copies)
    expect([...grown.values()].filter((count) => count >= copies / 2).length).toBeGreaterThan(25)
    await sql`set statement_timeout = 0`
    await sql`analyze`
    const again = await startDev(env, first.state)
    let faults: readonly string[] = []
    const costs = await costsOf(sql, async () => {
      faults = await tryAll(again, receiver.url)
      await Bun.sleep(restMs)
    })
    // What took too long ended without a figure.
    const failed = faults.filter((fault) => /: 50[0-9] /.test(fault) && !/^\w+Rsfn/.test(fault))
    const tooDear = ({ text, pagesPerCall }: StatementCost): boolean =>
      pagesPerCall > budgetOf(text)
    expect({ failed, dear: costs.filter(tooDear) }).toEqual({ failed: [], dear: [] })
    await again[Symbol.asyncDispose]()
    await receiver.stop()
    await close()
  },
  1_200_000 + 5 * copies,
)
