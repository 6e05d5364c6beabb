/*
 * Each rail, and the reading of lists, at twice its capacity: how many requests are answered or refused, and how soon.
 *
 *   bun bench/e2e/overload.ts --seconds 8 --clients 64 --rounds 3 --rail spi --rail cards --rail drex --rail reads
 *
 * With `--curves` it also measures latencies at rates below and above capacity, and keeps them for the page of the next
 * `bun run bench`.
 *
 * The gateway runs as `trilho dev`; a program of Go's standard library makes the load (`go` must be found). First,
 * clients that wait for their answers find the sustained rate; then twice as many requests come, at even times, whether
 * there are answers or not. Fails if less than nine tenths of that rate is done, if any answer is neither done nor a
 * 503 with Retry-After, or if done requests take much longer than at the rate itself. Only these ratios count, each by
 * the median of its rounds.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { transfer } from '../../test/support/participant.ts'
import { type RunningDev, startDev } from '../../test/support/running-dev.ts'
import { writeCurve } from '../curves.ts'
import { median } from '../harness.ts'
import { notAmong, notCounts, refuse } from './options.ts'
import { buildOutsideLoad, type OutsideResult } from './outside-load.ts'

const railNames = ['spi', 'cards', 'drex', 'reads'] as const
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    clients: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '3' },
    rail: { type: 'string', multiple: true, default: [...railNames] },
    curves: { type: 'boolean', default: false },
  },
})
refuse([
  ...notCounts(values, ['seconds', 'clients', 'rounds']),
  ...notAmong('rail', values.rail, railNames),
])

const overloadTimes = 2
const answeredMin = 0.9
/** The largest ratio of the times of done requests at twice the rate to those at the rate itself. */
const slowerMax = 3

/** The shares of the sustained rate at which we measure latencies for the report's curves. */
const shares = [0.25, 0.5, 0.75, 0.9, 1, 1.5, overloadTimes]

type Rail = {
  readonly path: string
  readonly bodies: readonly unknown[]
  readonly method?: 'GET' | 'POST'
}

const railsOf = ({ ispb, wallets }: RunningDev): Readonly<Record<string, Rail>> => ({
  spi: {
    path: '/v1/spi/send',
    bodies: [
      {
        message_type: 'PACS008',
        params: { local_instrument: 'MANU', transactions: [transfer(ispb, '87654321', 100)] },
      },
    ],
  },
  cards: {
    path: '/v1/transactions/authorize',
    bodies: [
      {
        card_token: 'tok_visa_approved',
        amount: 10_000,
        currency: 'BRL',
        merchant_id: 'MERCHANT000001',
      },
    ],
  },
  drex: {
    path: '/v1/drex/transfers',
    bodies: wallets.map((from, at) => ({
      from_wallet: from,
      to_wallet: wallets[(at + 1) % wallets.length],
      amount: '0.01',
    })),
  },
  // The warm-up and the examples of `dev` left these.
  reads: { path: '/v1/messages?limit=50', bodies: [], method: 'GET' },
})

const generate = buildOutsideLoad()

type How = { readonly clients: string; readonly seconds?: string } | { readonly rate: number }

const load = (
  { url, key }: RunningDev,
  { path, bodies, method = 'POST' }: Rail,
  how: How,
): Promise<OutsideResult> =>
  generate({ url, key, method, paths: [path], bodies, seconds: values.seconds, ...how })

type Round = {
  readonly at: OutsideResult
  readonly over: OutsideResult
  readonly sustained: number
}

/** Measures one right after the other, so that both meet the same machine. */
const roundOf = async (dev: RunningDev, rail: Rail): Promise<Round> => {
  const at = await load(dev, rail, { clients: values.clients })
  const sustained = at.done.count / at.seconds
  const over = await load(dev, rail, { rate: sustained * overloadTimes })
  return { at, over, sustained }
}

/** How long done requests take, by the offered rate. */
const latencyCurve = async (
  dev: RunningDev,
  name: string,
  rail: Rail,
  sustained: number,
): Promise<void> => {
  const lines = { p50: [], p99: [], 'p99.9': [] } as Record<string, [number, number][]>
  for (const share of shares) {
    const rate = Math.ceil(sustained * share)
    const { done } = await load(dev, rail, { rate })
    if (done.count === 0) continue
    lines['p50']?.push([rate, done.p50_ms])
    lines['p99']?.push([rate, done.p99_ms])
    lines['p99.9']?.push([rate, done.p999_ms])
  }
  writeCurve(`latency-${name}`, {
    title: `Latency of ${name} by load; ${sustained.toFixed(0)} a second are sustained`,
    x: 'requests a second',
    y: 'ms',
    lines: Object.entries(lines).map(([line, points]) => ({ name: line, points })),
  })
}

const answeredOf = ({ over, sustained }: Round): number =>
  over.done.count / over.seconds / sustained
const slowerOf = ({ over, at }: Round): number => over.done.p99_ms / at.done.p99_ms

const show = (name: string, round: Round): void => {
  const { at, over, sustained } = round
  const times = ({ p50_ms, p99_ms }: OutsideResult['done']) =>
    `p50 ${p50_ms.toFixed(0)} ms, p99 ${p99_ms.toFixed(0)} ms`
  console.log(
    `${name}: ${sustained.toFixed(0)}/s, ${times(at.done)}; at ${overloadTimes}×: ` +
      `${(answeredOf(round) * 100).toFixed(0)} % of it done, ${times(over.done)}; ` +
      `${over.refused.count} refused, ${times(over.refused)}; ` +
      `other ${JSON.stringify(over.other)}; load ${loadavg()[0]?.toFixed(1)}`,
  )
}

const misses: string[] = []
for (const name of values.rail) {
  await using dev = await startDev()
  const rail = railsOf(dev)[name]
  if (rail === undefined) throw new Error(`no rail ${name}`)
  // Warms up.
  await load(dev, rail, { clients: values.clients, seconds: '3' })
  const rounds: Round[] = []
  for (let at = 0; at < Number(values.rounds); at++) {
    const round = await roundOf(dev, rail)
    show(name, round)
    rounds.push(round)
  }
  if (values.curves) {
    await latencyCurve(dev, name, rail, median(rounds.map(({ sustained }) => sustained)))
  }
  const answered = median(rounds.map(answeredOf))
  const slower = median(rounds.map(slowerOf))
  if (answered < answeredMin) misses.push(`${name}: only ${(answered * 100).toFixed(0)} % is done`)
  if (slower > slowerMax) misses.push(`${name}: ${slower.toFixed(1)} times as slow`)
  const other = rounds.flatMap(({ over }) => Object.entries(over.other))
  if (other.length > 0) misses.push(`${name}: answered otherwise: ${JSON.stringify(other)}`)
}
for (const miss of misses) console.error(`missed: ${miss}`)
process.exit(misses.length === 0 ? 0 : 1)
