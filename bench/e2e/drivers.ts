/*
 * Compares our driver, postgres.js as patched here, with the runtime's own, Bun.SQL: CPU time of this process and of
 * PostgreSQL for the product's kinds of statement, and what each does when its connection is cut.
 *
 *   bun bench/e2e/drivers.ts --rounds 7 --times 300
 *
 * The drivers take turns on one server, eight callers at once over four connections. Each round prints its checksum,
 * which is the same for both. The ratio is the median of the rounds: above one, Bun.SQL costs more.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { openDatabase, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { quietLogger } from '../../test/support/database.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { median } from '../harness.ts'
import { familyUs } from '../processes.ts'
import { notCounts, refuse } from './options.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    times: { type: 'string', default: '300' },
  },
})
refuse(notCounts(values, ['rounds', 'times']))

const rounds = Number(values.rounds)
const times = Number(values.times)
const callers = 8
const connectionsMax = 4
const rowsTogether = 50
const cutTimeoutMs = 10_000

/** Both drivers have a tagged template and a transaction. */
type Statement = (texts: TemplateStringsArray, ...given: unknown[]) => Promise<readonly unknown[]>
type Driver = {
  readonly name: string
  readonly sql: Statement & {
    readonly begin: <T>(run: (tx: Statement) => Promise<T>) => Promise<T>
  }
  readonly close: () => Promise<void>
}

const server = await startEmbeddedPostgres({ directory: join(temporaryDirectory(), 'postgres') })
const admin = postgres(server.url, { max: 1, onnotice: () => {} })
await admin`create table payments (id text primary key, amount bigint not null, body text not null)`
const body = 'x'.repeat(400)
await admin`
  insert into payments select 'kept-' || n, n, ${body} from generate_series(1, 1000) n`

const open = (): readonly Driver[] => {
  const ours = openDatabase({
    dsn: server.url,
    connectionsMax,
    statementTimeoutMs: 30_000,
    logger: quietLogger,
  })
  const runtimes = new Bun.SQL(server.url, { max: connectionsMax, bigint: true })
  return [
    { name: 'postgres.js', sql: ours.sql as unknown as Driver['sql'], close: ours.close },
    { name: 'Bun.SQL', sql: runtimes as unknown as Driver['sql'], close: () => runtimes.close() },
  ]
}

let written = 0
const rowsJson = (): string =>
  JSON.stringify(
    Array.from({ length: rowsTogether }, (_, at) => ({ id: `w-${written++}`, amount: at, body })),
  )

/** Each returns what its answer adds to the checksum. */
const works: Readonly<Record<string, (driver: Driver) => Promise<number>>> = {
  'one row by its key': async ({ sql }) => {
    const rows = await sql`select id, amount, body from payments where id = ${'kept-500'}`
    return Number((rows[0] as { amount: bigint }).amount)
  },
  'fifty rows of a list': async ({ sql }) => {
    const rows = await sql`
      select id, amount, body from payments where id like 'kept-%' order by amount limit ${rowsTogether}`
    return rows.length
  },
  'fifty rows written by one statement': async ({ sql }) => {
    const rows = await sql`
      with added as (
        insert into payments select id, amount, body
        from json_to_recordset(${rowsJson()}::text::json) as r(id text, amount bigint, body text)
        returning amount
      ) select string_agg(amount::text, ' ') as told from added`
    return (rows[0] as { told: string }).told.split(' ').length
  },
  'a transaction of two statements': async ({ sql }) =>
    sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${7})`
      const rows =
        await tx`update payments set amount = amount where id = ${'kept-7'} returning amount`
      return Number((rows[0] as { amount: bigint }).amount)
    }),
}

type Cost = { readonly ownUs: number; readonly databaseUs: number; readonly checksum: number }

const costOf = async (driver: Driver, work: (driver: Driver) => Promise<number>): Promise<Cost> => {
  let left = times
  let checksum = 0
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const told = await work(driver)
      checksum += told
    }
  }
  const before = { ...process.cpuUsage(), database: familyUs(server.pid) }
  await Promise.all(Array.from({ length: callers }, caller))
  const { user, system } = process.cpuUsage(before)
  const databaseUs = (familyUs(server.pid) - before.database) / times
  return { ownUs: (user + system) / times, databaseUs, checksum }
}

const compare = async (name: string, work: (driver: Driver) => Promise<number>): Promise<void> => {
  const drivers = open()
  for (const driver of drivers) await costOf(driver, work)
  const costs: Cost[][] = []
  for (let round = 0; round < rounds; round++) {
    const ofRound: Cost[] = []
    for (const driver of drivers) ofRound.push(await costOf(driver, work))
    if (new Set(ofRound.map(({ checksum }) => checksum)).size > 1) throw new Error('other work')
    costs.push(ofRound)
  }
  const [ours, theirs] = [0, 1].map((at) => ({
    ownUs: median(costs.map((round) => round[at]?.ownUs ?? 0)),
    databaseUs: median(costs.map((round) => round[at]?.databaseUs ?? 0)),
  }))
  const ratio = (of: (cost: Cost) => number): string =>
    median(costs.map(([one, other]) => of(other!) / of(one!))).toFixed(2)
  console.log(
    `${name}: postgres.js ${ours?.ownUs.toFixed(0)} µs, PostgreSQL ${ours?.databaseUs.toFixed(0)} µs; ` +
      `Bun.SQL ${theirs?.ownUs.toFixed(0)} µs, PostgreSQL ${theirs?.databaseUs.toFixed(0)} µs; ` +
      `ratios ${ratio(({ ownUs }) => ownUs)}, ${ratio(({ databaseUs }) => databaseUs)}; ` +
      `checksum ${costs[0]?.[0]?.checksum}`,
  )
  for (const driver of drivers) await driver.close()
}

/** Ends the connection of a transaction from outside, between two of its statements. */
const cut = async (driver: Driver): Promise<string> => {
  const tellOf = (error: unknown): string => String((error as { code?: unknown }).code ?? error)
  const during = await driver.sql
    .begin(async (tx) => {
      const [row] = (await tx`select pg_backend_pid() as pid`) as [{ readonly pid: number }]
      await admin`select pg_terminate_backend(${row.pid}, 5000)`
      await tx`update payments set amount = 0 where id = ${'kept-9'}`
      return 'went on'
    })
    .catch(tellOf)
  const after = await driver.sql`select 1 as one`.then(() => 'serves the next', tellOf)
  return `${during}; ${after}`
}

for (const [name, work] of Object.entries(works)) await compare(name, work)
for (const driver of open()) {
  const outcome = await Promise.race([
    cut(driver),
    Bun.sleep(cutTimeoutMs).then(() => `nothing for ${cutTimeoutMs} ms`),
  ])
  console.log(`cut within a transaction, ${driver.name}: ${outcome}`)
  await Promise.race([driver.close(), Bun.sleep(1_000)])
}
const [kept] = await admin<{ amount: string }[]>`select amount from payments where id = 'kept-9'`
console.log(`of what was cut ${kept?.amount === '9' ? 'nothing' : 'something'} was kept`)
await admin.end()
await server.stop()
process.exit()
