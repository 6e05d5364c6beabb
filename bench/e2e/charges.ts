/*
 * The API Pix: making charges, reading payloads, and the time from a charge to the webhook of its payment.
 *
 *   bun bench/e2e/charges.ts --seconds 6 --clients 64 --rounds 3
 *
 * The gateway runs as `trilho dev`; a program of Go's standard library makes the load (`go` must be found), as in
 * overload.ts. Under the same load a bare server takes turns with it, which stores a row for a charge and signs what it
 * reads: only the ratio to that floor tells of the gateway, all other figures tell of the machine too. CPU time is that
 * of all processes of a server, for the gateway with PostgreSQL and the simulators. We read payloads at few locations,
 * which share signatures within a second, and at many, where each read needs its own.
 */
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { untilExit } from '../../test/support/program.ts'
import { startDev } from '../../test/support/running-dev.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { until } from '../../test/support/until.ts'
import { median } from '../harness.ts'
import { familyUs, percentile } from '../processes.ts'
import { notCounts, refuse } from './options.ts'
import { buildOutsideLoad } from './outside-load.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    clients: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '3' },
  },
})
refuse(notCounts(values, ['seconds', 'clients', 'rounds']))

const paidPerSecond = 50
const fewLocations = 500
const manyLocations = 2_500
const lone = 30
const chave = '0b1c9d7e-3a52-4f0e-9d0c-5f2f5d1c7a11'
const taxId = '12345678000195'
const charge = {
  calendario: { expiracao: 3_600 },
  devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
  valor: { original: '37.00' },
  chave,
  solicitacaoPagador: 'Serviço realizado.',
}

const generate = buildOutsideLoad()

type Work = {
  readonly url: string
  readonly method: string
  readonly paths: readonly string[]
  /** Processes whose CPU time counts, with all their children. */
  readonly pids: readonly number[]
}

const usedUs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + familyUs(pid), 0)

/** @returns answers a second, and the CPU time of one. @throws Error for any other answer */
const rateOf = async (
  { url, method, paths, pids }: Work,
  key: string,
  seconds = values.seconds,
) => {
  const beforeUs = usedUs(pids)
  const bodies = method === 'GET' ? [] : [charge]
  const told = await generate({ url, method, paths, bodies, key, seconds, clients: values.clients })
  const { done, refused, other } = told
  if (Object.keys(other).length > 0 || refused.count > 0) throw new Error(JSON.stringify(told))
  const cpuUs = (usedUs(pids) - beforeUs) / done.count
  return { rate: done.count / told.seconds, p99Ms: done.p99_ms, cpuUs }
}

const server = await startEmbeddedPostgres({ directory: join(temporaryDirectory(), 'floor') })
const floor = untilExit(
  Bun.spawn([process.execPath, join(import.meta.dir, '../servers/charge-floor.ts'), server.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
)
const floorUrl = await floor.stdout
  .values()
  .next()
  .then(({ value }) =>
    Buffer.from(value ?? new Uint8Array())
      .toString()
      .trim(),
  )

await using dev = await startDev({ WEBHOOK_ALLOWED_TARGETS: '127.0.0.1' })
const receiver = { key: chave, account: 'default', tax_id: taxId, name: 'Padaria', city: 'Recife' }
const put = await dev.call('PUT', '/v1/pix/receivers', receiver)
if (put.status !== 200) throw new Error(await put.text())

/** Makes `count` charges and returns the paths of their locations. */
const locations = async (url: string, path: string, count: number): Promise<readonly string[]> => {
  const one = async (): Promise<string> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${dev.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(charge),
    })
    const { location } = (await answer.json()) as { readonly location: string }
    return `/${location.split('/').slice(1).join('/') || location}`
  }
  const all: string[] = []
  while (all.length < count) all.push(...(await Promise.all(Array.from({ length: 50 }, one))))
  return all
}

const own = { url: dev.url, pids: [dev.pid] }
const least = { url: floorUrl, pids: [floor.pid, server.pid] }
const [ourLocations, leastLocations] = [
  await locations(dev.url, '/pix/v2/cob', manyLocations),
  await locations(floorUrl, '/', manyLocations),
]
const reading = (count: number) => ({
  ours: { ...own, method: 'GET', paths: ourLocations.slice(0, count) },
  bare: { ...least, method: 'GET', paths: leastLocations.slice(0, count) },
})
const pairs: Readonly<Record<string, { readonly ours: Work; readonly bare: Work }>> = {
  'charges made': {
    ours: { ...own, method: 'PUT', paths: ['/pix/v2/cob/{id}'] },
    bare: { ...least, method: 'POST', paths: ['/'] },
  },
  [`payloads of ${fewLocations} read`]: reading(fewLocations),
  [`payloads of ${manyLocations} read`]: reading(manyLocations),
}

for (const [name, { ours, bare }] of Object.entries(pairs)) {
  for (const work of [ours, bare]) await rateOf(work, dev.key, '2')
  const ratios: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const [gateway, bareServer] = [await rateOf(ours, dev.key), await rateOf(bare, dev.key)]
    ratios.push(bareServer.cpuUs / gateway.cpuUs)
    const told = [gateway, bareServer].map(
      ({ rate, p99Ms, cpuUs }) =>
        `${rate.toFixed(0)}/s, p99 ${p99Ms.toFixed(0)} ms, CPU ${cpuUs.toFixed(0)} µs each`,
    )
    console.log(`${name}: ${told.join('; bare ')}; load ${loadavg()[0]?.toFixed(1)}`)
  }
  console.log(`${name}: CPU of the floor is ${median(ratios).toFixed(2)} of ours`)
}
floor.kill()
await floor.exited
await server.stop()

/** When the shop learnt of the payment of a charge, by txid. */
const told = new Map<string, number>()
const shop = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const { pix } = (await request.json()) as { readonly pix: readonly { readonly txid: string }[] }
    for (const { txid } of pix) told.set(txid, performance.now())
    return new Response()
  },
})
const hook = await dev.call('PUT', `/pix/v2/webhook/${chave}`, { webhookUrl: `${shop.url}hook` })

if (hook.status !== 200) throw new Error(await hook.text())

const begun = new Map<string, number>()
const sell = async (txid: string): Promise<void> => {
  begun.set(txid, performance.now())
  await dev.call('PUT', `/pix/v2/cob/${txid}`, charge)
  const paid = { txid, tax_id: taxId, key: chave }
  await fetch(`${dev.centralBankUrl}/simulator/pay-in`, {
    method: 'POST',
    body: JSON.stringify({ to: dev.ispb, amount_cents: 3_700, charge: paid }),
  })
}
const tookMs = (): readonly number[] =>
  [...begun].map(([txid, sinceMs]) => (told.get(txid) ?? Number.NaN) - sinceMs)

for (let n = 0; n < lone; n++) {
  await sell(`alone${String(n).padStart(27, '0')}`)
  await until(() => told.size > n, 60_000, 'the webhook of a lone payment')
}
const aloneMs = percentile(tookMs(), 0.5)
begun.clear()
told.clear()
const count = paidPerSecond * Number(values.seconds)
const startMs = performance.now()
const sales: Promise<void>[] = []
for (let n = 0; n < count; n++) {
  await Bun.sleep(Math.max(0, startMs + (n * 1_000) / paidPerSecond - performance.now()))
  sales.push(sell(`sold${String(n).padStart(28, '0')}`))
}
await Promise.all(sales)
await until(() => told.size === count, 60_000, 'the webhook of every payment')
const [p50Ms, p99Ms] = [percentile(tookMs(), 0.5), percentile(tookMs(), 0.99)]
console.log(
  `charge, payment, webhook at ${paidPerSecond}/s: p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms ` +
    `of ${count}, ${(p99Ms / aloneMs).toFixed(1)} times one alone (${aloneMs.toFixed(0)} ms); load ${loadavg()[0]?.toFixed(1)}`,
)
await shop.stop(true)
