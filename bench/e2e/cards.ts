/*
 * Card authorizations from an outside load generator to their answers, and what each costs the gateway, its PostgreSQL,
 * and the simulated network with its vault. Each is a process of its own.
 *
 *   bun bench/e2e/cards.ts --seconds 6 --clients 64 --rounds 3 --base ../before
 *
 * The gateway runs as `trilho serve`; a program of Go's standard library makes the load (`go` must be found), as in
 * overload.ts. Under the same load a bare server takes turns with it, which parses the same body and answers as many
 * bytes; with `--base`, so does the gateway of another checkout. Only values measured in turns compare. `--work list`
 * measures the shared way of a request alone, by empty lists. `--profile` also writes the profile of the gateway.
 * `--over` offers twice the rate done before, whether there are answers or not, and tells the outcomes. `--statements`
 * tells PostgreSQL's work for a request, by statement; counting costs it a little.
 */
import { existsSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { apiKeyFile } from '../../test/support/api-key.ts'
import { startProgram, untilExit, variants } from '../../test/support/program.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { median } from '../harness.ts'
import { familyUs } from '../processes.ts'
import { notAmong, notCounts, refuse } from './options.ts'
import { buildOutsideLoad } from './outside-load.ts'

type Work = { readonly method: string; readonly path: string }
const works: Readonly<Record<string, Work>> = {
  authorization: { method: 'POST', path: '/v1/transactions/authorize' },
  list: { method: 'GET', path: '/v1/transactions?reference=none' },
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    clients: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '3' },
    warm: { type: 'string', default: '8' },
    work: { type: 'string', multiple: true, default: Object.keys(works) },
    base: { type: 'string' },
    profile: { type: 'boolean', default: false },
    statements: { type: 'boolean', default: false },
    over: { type: 'boolean', default: false },
  },
})
const checkouts = [resolve(import.meta.dir, '../..')]
if (values.base !== undefined) checkouts.push(resolve(values.base))
refuse([
  ...notCounts(values, ['seconds', 'clients', 'rounds', 'warm']),
  ...notAmong('work', values.work, Object.keys(works)),
  ...checkouts
    .filter((checkout) => !existsSync(join(checkout, 'src/main.ts')))
    .map((checkout) => `--base: ${checkout} is no checkout`),
])

const authorization = {
  card_token: 'tok_visa_approved',
  amount: 10_000,
  currency: 'BRL',
  merchant_id: 'MERCHANT000001',
  terminal_id: 'TERM01',
}

const directory = temporaryDirectory()
const generate = buildOutsideLoad()

const sources = variants[0]
if (sources === undefined) throw new Error('no program')
const counting = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
  'pg_stat_statements.track_planning': 'on',
}
const postgres = await startEmbeddedPostgres({
  directory: join(directory, 'postgres'),
  ...(values.statements ? { settings: counting } : {}),
})
const admin = new Bun.SQL(postgres.url)
if (values.statements) await admin`create extension pg_stat_statements`
const simulator = startProgram(sources, [
  ...['sim', 'card-network', '--json', '--port', '0', '--vault-port', '0'],
])
const { card_network: network, vault } = JSON.parse(
  await simulator.line((line) => line.includes('card_network')),
) as {
  readonly card_network: { readonly port: number }
  readonly vault: { readonly url: string; readonly key: string }
}
const { file: keysFile, key } = await apiKeyFile('cards:*')

const serve = async (name: string, checkout: string) => {
  await admin.unsafe(`create database ${name}`)
  const profiling = [
    '--cpu-prof',
    '--cpu-prof-interval',
    '250',
    '--cpu-prof-name',
    `${name}.cpuprofile`,
    '--cpu-prof-dir',
    '.',
  ]
  const command = [
    process.execPath,
    ...(values.profile ? profiling : []),
    join(checkout, 'src/main.ts'),
  ]
  const program = startProgram({ name: 'sources', command: () => command }, ['serve'], {
    cwd: process.cwd(),
    env: {
      DATABASE_DSN: postgres.url.replace(/\/[^/]*$/, `/${name}`),
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: keysFile,
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: String(network.port),
      CARDGW_VAULT_URL: vault.url,
      CARDGW_VAULT_TOKEN: vault.key,
      HOME: directory,
    },
  })
  const line = await program.line((text) => text.includes('"msg":"listening"'))
  const { cards_url: url } = JSON.parse(line) as { readonly cards_url: string }
  return { name, url, program }
}

const floor = untilExit(
  Bun.spawn([process.execPath, join(import.meta.dir, '../servers/echo.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
)
const floorUrl = new TextDecoder().decode((await floor.stdout.values().next()).value).trim()

const postgresUs = (): number => familyUs(postgres.pid)
const simulatorUs = (): number => familyUs(simulator.pid)

const overTimes = 2

/** @throws Error if any answer is neither a success nor a refusal */
const load = async (
  url: string,
  { method, path }: Work,
  how: { readonly seconds: string; readonly clients: string } | { readonly rate: number },
) => {
  const bodies = method === 'GET' ? [] : [authorization]
  const told = await generate({
    url,
    method,
    paths: [path],
    bodies,
    key,
    seconds: values.seconds,
    ...how,
  })
  if (Object.keys(told.other).length > 0) throw new Error(JSON.stringify(told))
  return told
}

/** @throws Error if any answer is not a success */
const measure = async (url: string, pid: number, work: Work, seconds: string) => {
  const before = [familyUs(pid), postgresUs(), simulatorUs()]
  const told = await load(url, work, { seconds, clients: values.clients })
  if (told.refused.count > 0) throw new Error(JSON.stringify(told))
  const { count, p50_ms: p50Ms, p99_ms: p99Ms } = told.done
  const after = [familyUs(pid), postgresUs(), simulatorUs()]
  const [own = 0, database = 0, counterparties = 0] = after.map(
    (us, at) => (us - (before[at] ?? 0)) / count,
  )
  return { own, database, counterparties, rate: count / told.seconds, p50Ms, p99Ms, count }
}

type Measured = Awaited<ReturnType<typeof measure>>

/** @param rate the requests a second done just before */
const showOver = async (name: string, url: string, work: Work, rate: number): Promise<void> => {
  const { done, refused, seconds } = await load(url, work, { rate: rate * overTimes })
  console.log(
    `${name} at ${overTimes}×: ${((done.count / seconds / rate) * 100).toFixed(0)} % of the rate done, ` +
      `p50 ${done.p50_ms.toFixed(0)} ms, p99 ${done.p99_ms.toFixed(0)}; ` +
      `${refused.count} refused, p99 ${refused.p99_ms.toFixed(0)} ms`,
  )
}

/** PostgreSQL's work for a request since we last reset the counts of its statements. */
const showStatements = async (database: string, count: number): Promise<void> => {
  const rows: { us: number; planUs: number; calls: number; wal: number; query: string }[] =
    await admin`
      select total_exec_time * 1000 / ${count} as us, total_plan_time * 1000 / ${count} as "planUs",
        calls::float8 / ${count} as calls, wal_bytes::float8 / ${count} as wal,
        regexp_replace(left(query, 4000), '\\s+', ' ', 'g') as query
      from pg_stat_statements s join pg_database d on d.oid = s.dbid
      where datname = ${database} order by total_exec_time desc limit 12`
  for (const { us, planUs, calls, wal, query } of rows) {
    console.log(
      `  ${us.toFixed(1)} µs, planned ${planUs.toFixed(1)} µs, ${calls.toFixed(3)} calls, ` +
        `${wal.toFixed(0)} B WAL: ${query.slice(0, 150)}`,
    )
  }
}

const show = (name: string, { own, database, counterparties, rate, p50Ms, p99Ms }: Measured) =>
  console.log(
    `${name}: ${own.toFixed(1)} µs, PostgreSQL ${database.toFixed(1)}, simulator ${counterparties.toFixed(1)}; ` +
      `${rate.toFixed(0)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)}; load ${loadavg()[0]?.toFixed(1)}`,
  )

const gateways = [await serve('ours', resolve(import.meta.dir, '../..'))]
if (values.base !== undefined) gateways.push(await serve('base', resolve(values.base)))

for (const name of values.work) {
  const work = works[name]
  if (work === undefined) throw new Error(`no work ${name}`)
  const costs = new Map<string, Measured[]>()
  const turn = async (of: string, url: string, pid: number) => {
    if (values.statements) await admin`select pg_stat_statements_reset()`
    const measured = await measure(url, pid, work, values.seconds)
    show(`${name}, ${of}`, measured)
    if (values.statements) await showStatements(of, measured.count)
    costs.set(of, [...(costs.get(of) ?? []), measured])
    return measured
  }
  for (const { url, program } of gateways) await measure(url, program.pid, work, values.warm)
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const { name: of, url, program } of gateways) {
      const { rate } = await turn(of, url, program.pid)
      if (values.over) await showOver(`${name}, ${of}`, url, work, rate)
    }
    await turn('bare', floorUrl, floor.pid)
  }
  const bare = median((costs.get('bare') ?? []).map(({ own }) => own))
  for (const [of, all] of costs) {
    const own = median(all.map((one) => one.own))
    const rate = median(all.map((one) => one.rate))
    console.log(
      `${name}, ${of}: median ${own.toFixed(1)} µs, ${(own / bare).toFixed(2)} bare; ` +
        `PostgreSQL ${median(all.map((one) => one.database)).toFixed(1)} µs; ${rate.toFixed(0)}/s`,
    )
  }
}

for (const { program } of gateways) {
  program.signal('SIGTERM')
  await program.end()
}
simulator.signal('SIGTERM')
await simulator.end()
floor.kill()
await floor.exited
await admin.close()
await postgres.stop()
