/*
 * Two institutions and the simulated central bank, each a process, on one PostgreSQL: payments from their HTTP request
 * until their sender has them settled. Everything is signed and every signature is verified.
 *
 *   bun bench/e2e/round-trip.ts --payments 4000 --clients 32 --rounds 3
 *
 * It prints the CPU time that a payment costs each process, also in bare RSA-2048 signatures made in the same run.
 * `--profile sender` (or receiver, or bank; repeated for more) writes the profile of that process here; `--statements`
 * tells PostgreSQL's work for a payment, by statement: its time, calls, pages and WAL.
 */
import { createPrivateKey, createSign } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { apiKeyFile } from '../../test/support/api-key.ts'
import { transfer } from '../../test/support/participant.ts'
import { issueCertificate } from '../../test/support/pki.ts'
import { startProgram, variants } from '../../test/support/program.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { until } from '../../test/support/until.ts'
import { familyUs, percentile } from '../processes.ts'
import type { Load, LoadResult } from './load.ts'
import { notAmong, notCounts, refuse } from './options.ts'

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '4000' },
    clients: { type: 'string', default: '32' },
    warm: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '3' },
    profile: { type: 'string', multiple: true, default: [] },
    statements: { type: 'boolean', default: false },
  },
})
refuse([
  ...notCounts(values, ['payments', 'clients', 'warm', 'rounds']),
  ...notAmong('profile', values.profile, ['bank', 'sender', 'receiver']),
])

const [sender, receiver] = ['12345678', '87654321']
const sources = variants[0]
if (sources === undefined) throw new Error('no program')

const directory = temporaryDirectory()
const fileOf = (name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const pairs = {
  sender: issueCertificate('SPI'),
  receiver: issueCertificate('SPI'),
  bank: issueCertificate('BACEN'),
}
const signers = join(directory, 'signers')
mkdirSync(signers)
writeFileSync(join(signers, `${sender}.pem`), pairs.sender.cert)
writeFileSync(join(signers, `${receiver}.pem`), pairs.receiver.cert)
const trusted = fileOf('bank.pem', pairs.bank.cert)

const server = await startEmbeddedPostgres({
  directory: join(directory, 'postgres'),
  settings: { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' },
})
const admin = postgres(server.url, { max: 1, onnotice: () => {} })
await admin`create extension if not exists pg_stat_statements`
for (const name of ['sender', 'receiver']) await admin.unsafe(`create database ${name}`)
const dsnOf = (name: string): string => server.url.replace(/\/[^/]*$/, `/${name}`)

const profiled = (name: string): typeof sources => {
  const [runtime = '', ...program] = sources.command()
  const profiling = [
    '--cpu-prof-md',
    '--cpu-prof-name',
    `${name}.cpu.md`,
    '--cpu-prof-dir',
    process.cwd(),
  ]
  const command = [runtime, ...(values.profile.includes(name) ? profiling : []), ...program]
  return { name: 'sources', command: () => command }
}

const bank = startProgram(profiled('bank'), [
  ...['sim', 'central-bank', '--json', '--port', '0', '--secondary-port', '0'],
  '--signers',
  signers,
  '--sign-cert',
  trusted,
  '--sign-key',
  fileOf('bank.key', pairs.bank.key),
])
const { central_bank: bankUrls } = JSON.parse(
  await bank.line((line) => line.includes('primary_url')),
) as { readonly central_bank: { readonly primary_url: string; readonly secondary_url: string } }

const { file: keysFile, key } = await apiKeyFile('spi:send', 'messages:read', 'ops:read')

const serve = async (ispb: string, name: 'sender' | 'receiver') => {
  const started = startProgram(profiled(name), ['serve'], {
    cwd: process.cwd(),
    env: {
      ISPB: ispb,
      DATABASE_DSN: dsnOf(name),
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      API_KEYS_FILE: keysFile,
      SPI_PRIMARY_URL: bankUrls.primary_url,
      SPI_SECONDARY_URL: bankUrls.secondary_url,
      SPI_ROLES: 'INBOUND_PULL,WORKER,OUTBOUND_SEND',
      SPI_PACING_ENABLED: 'false',
      SPI_SIGN_ENABLED: 'true',
      SPI_SIGN_CERT_PATH: fileOf(`${name}.pem`, pairs[name].cert),
      SPI_SIGN_KEY_PATH: fileOf(`${name}.key`, pairs[name].key),
      SPI_TRUSTED_CERTS_PATH: trusted,
      SPI_AUTO_ACCEPT: String(name === 'receiver'),
      HOME: directory,
    },
  })
  const line = await started.line((text) => text.includes('"msg":"listening"'))
  const { http_url: url } = JSON.parse(line) as { readonly http_url: string }
  return { program: started, url, sql: postgres(dsnOf(name), { max: 1, onnotice: () => {} }) }
}

const a = await serve(sender, 'sender')
const b = await serve(receiver, 'receiver')

let openId: string | undefined

/**
 * Asks for one open payment, and for another once it is no longer open. A search for any open one, among index entries
 * that payments left on their way, would cost the server a tenth of a payment.
 */
const isSettled = async (): Promise<boolean> => {
  const [known] = await a.sql`
    select from spi_messages where id = ${openId ?? null}::uuid and status in ('QUEUED', 'SENT')`
  if (known !== undefined) return false
  const [found] = await a.sql<{ id: string }[]>`
    select id from unnest('{QUEUED,SENT}'::text[]) as open(status) cross join lateral (
      select id from spi_messages where status = open.status and direction = 'OUTBOUND'
      order by status desc, id desc limit 1
    ) newest order by id desc limit 1`
  openId = found?.id
  return found === undefined
}

const accepted = async (): Promise<number> => {
  const [row] = await a.sql<{ count: number }[]>`
    select count(*)::int as count from spi_messages
    where status = 'ACCEPTED' and direction = 'OUTBOUND'`
  return row?.count ?? 0
}

const payment = {
  message_type: 'PACS008',
  params: { local_instrument: 'MANU', transactions: [transfer(sender, receiver, 100)] },
}

const run = async (count: number): Promise<LoadResult> => {
  const before = await accepted()
  const load: Load = {
    url: `${a.url}/v1/spi/send`,
    key,
    bodies: [payment],
    count,
    clients: Number(values.clients),
  }
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(load)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const result = JSON.parse(await new Response(child.stdout).text()) as LoadResult
  await until(async () => {
    await Bun.sleep(200)
    return isSettled()
  }, 600_000)
  const ended = (await accepted()) - before
  if (ended !== count - result.refused) throw new Error(`${ended} of ${count} are accepted`)
  return result
}

/** CPU time of one signature of a message's size, without other work, in µs. */
const bareSignatureUs = (): number => {
  const data = new Uint8Array(1_500)
  const count = 400
  const privateKey = createPrivateKey(pairs.sender.key)
  const before = process.cpuUsage()
  for (let index = 0; index < count; index++) {
    createSign('RSA-SHA256').update(data).sign(privateKey)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

/** Prints PostgreSQL's work for a payment, by statement. */
const printStatements = async (count: number): Promise<void> => {
  const rows = await admin<
    { us: number; calls: number; pages: number; wal: number; datname: string; query: string }[]
  >`
    select datname, total_exec_time * 1000 / ${count} as us, calls / ${count}::float8 as calls,
      (shared_blks_hit + shared_blks_read) / ${count}::float8 as pages,
      wal_bytes::float8 / ${count} as wal, regexp_replace(left(query, 4000), '\\s+', ' ', 'g') as query
    from pg_stat_statements s join pg_database d on d.oid = s.dbid
    where datname in ('sender', 'receiver') order by total_exec_time desc limit 40`
  for (const { datname, us, calls, pages, wal, query } of rows) {
    console.log(
      `${datname} ${us.toFixed(0)} µs ${calls.toFixed(3)} calls ${pages.toFixed(1)} pages ` +
        `${wal.toFixed(0)} B WAL: ${query.slice(0, 150)}`,
    )
  }
}

const processes = {
  sender: a.program.pid,
  receiver: b.program.pid,
  'central bank': bank.pid,
  PostgreSQL: server.pid,
}

await run(Number(values.warm))
for (let round = 0; round < Number(values.rounds); round++) {
  const count = Number(values.payments)
  const signatureUs = bareSignatureUs()
  await admin`select pg_stat_statements_reset()`
  const before = Object.values(processes).map(familyUs)
  const startMs = performance.now()
  const { latenciesMs, refused } = await run(count)
  const seconds = (performance.now() - startMs) / 1_000
  const after = Object.values(processes).map(familyUs)
  const costs = Object.keys(processes).map((name, index) => {
    const us = ((after[index] ?? 0) - (before[index] ?? 0)) / count
    return `${name} ${us.toFixed(0)} µs (${(us / signatureUs).toFixed(2)})`
  })
  const [{ calls } = { calls: 0 }] = await admin<{ calls: number }[]>`
    select sum(calls)::int as calls from pg_stat_statements s join pg_database d on d.oid = s.dbid
    where datname in ('sender', 'receiver')`
  console.log(
    `${(count / seconds).toFixed(0)} payments/s, signature ${signatureUs.toFixed(0)} µs; ${costs.join(', ')}; ` +
      `${(calls / count).toFixed(1)} statements; POST p50 ${percentile(latenciesMs, 0.5).toFixed(0)} ms, ` +
      `p99 ${percentile(latenciesMs, 0.99).toFixed(0)} ms; refused ${refused}; checksum ${await accepted()}`,
  )
  if (values.statements) await printStatements(count)
}
for (const { program, sql } of [a, b]) {
  await sql.end()
  program.signal('SIGTERM')
  await program.end()
}
bank.signal('SIGTERM')
await bank.end()
await admin.end()
await server.stop()
