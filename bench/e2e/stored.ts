/*
 * The cost of a payment for PostgreSQL behind few and many stored messages, from its request to its answer.
 *
 *   bun bench/e2e/stored.ts --stored 1000,1000000 --payments 100 --rounds 7
 *   bun bench/e2e/stored.ts --postgres 'PostgreSQL) 15'
 *
 * `--postgres` chooses one of the machine's servers by a part of its name. Each size has a server of its own; they take
 * turns, so that a disturbance hits all. It prints pages, CPU time and statement time of a payment, keeps the two times
 * for the page of the next `bun run bench`, and compares all with the first size: CPU time may grow by a tenth; pages
 * grow with the height of the indexes.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { storeMany } from '../../test/spi/messages/stored.ts'
import { engines } from '../../test/support/engines.ts'
import { startRoundTrip } from '../../test/support/round-trip.ts'
import { writeCurve } from '../curves.ts'
import { median, ratioOf } from '../harness.ts'
import { familyUs } from '../processes.ts'
import { notCounts, refuse } from './options.ts'

const { values } = parseArgs({
  options: {
    stored: { type: 'string', default: '1000,1000000' },
    payments: { type: 'string', default: '100' },
    together: { type: 'string', default: '1' },
    postgres: { type: 'string', default: '' },
    rounds: { type: 'string', default: '7' },
  },
})
refuse(notCounts(values, ['stored', 'payments', 'together', 'rounds']))

const days = 40
const payments = Number(values.payments)
const together = Number(values.together)

const engine = engines.find(({ name }) => name.includes(values.postgres))
if (engine === undefined) throw new Error(`no PostgreSQL whose name has ${values.postgres}`)

const start = async (stored: number) => {
  const trip = await startRoundTrip(engine)
  await storeMany(trip.sql, stored, days)
  await trip.sql`analyze`
  await trip.pay(payments, together)
  return { stored, trip, cpuUs: [] as number[], pages: [] as number[], ms: [] as number[] }
}

const sizes: Awaited<ReturnType<typeof start>>[] = []
for (const stored of values.stored.split(',').map(Number)) sizes.push(await start(stored))

for (let round = 0; round < Number(values.rounds); round++) {
  for (const size of round % 2 === 0 ? sizes : sizes.toReversed()) {
    const { trip } = size
    const beforeUs = familyUs(trip.pid)
    const costs = await trip.pay(payments, together)
    size.cpuUs.push((familyUs(trip.pid) - beforeUs) / payments)
    const of = (figure: 'pagesPerCall' | 'msPerCall') =>
      costs.reduce((sum, cost) => sum + cost.calls * cost[figure], 0) / payments
    size.pages.push(of('pagesPerCall'))
    size.ms.push(of('msPerCall'))
  }
}

const [few] = sizes
for (const { stored, cpuUs, pages, ms } of sizes) {
  const against = (own: readonly number[], first: readonly number[] = own) =>
    `×${ratioOf(own, first).toFixed(2)}`
  console.log(
    `${stored} stored: ${median(cpuUs).toFixed(0)} µs of CPU (${against(cpuUs, few?.cpuUs)}), ` +
      `${median(pages).toFixed(0)} pages (${against(pages, few?.pages)}), ` +
      `${median(ms).toFixed(2)} ms in statements (${against(ms, few?.ms)})`,
  )
}
writeCurve(`stored-${engine.name.replaceAll(/\W+/g, '-')}`, {
  title: `Cost of a payment to ${engine.name} by what is stored`,
  x: 'stored messages',
  y: 'µs a payment',
  lines: [
    { name: 'CPU', points: sizes.map(({ stored, cpuUs }) => [stored, median(cpuUs)]) },
    { name: 'in statements', points: sizes.map(({ stored, ms }) => [stored, median(ms) * 1_000]) },
  ],
})
console.log(
  `load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`,
)
for (const { trip } of sizes) await trip[Symbol.asyncDispose]()
