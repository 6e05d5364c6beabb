import { expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import {
  type Answer,
  type CardGateway,
  createCardGateway,
  handOver,
} from '../support/card-gateway.ts'
import {
  type Ask,
  differences,
  floorCents,
  historyOf,
  openingOf,
  stepsOf,
} from '../support/cards-walk.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { seed } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * All operations of cards through gateways of which one is frozen and another killed, again and again, over networks
 * that lie and go away. In the end both books are equal to the cent, no hold is without an owner, nothing was
 * done twice, and the business day is balanced.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const payments = isLong ? 100_000 : 128
const clients = isLong ? 100 : 32
/** With a third one the work goes on while one stands still and another starts. */
const processes = isLong ? 3 : 2
/** One of the gateways is killed and started again, while another is frozen where it is; after so many, in turn. */
const kills = isLong ? 40 : 3
const killsOfOne = isLong ? 5 : 3
const outages = isLong ? 30 : 2
const outageMs = 300
const timeoutSeconds = 1
const lateMs = 1_200
const settleMs = isLong ? 600_000 : 60_000
const pollMs = isLong ? 1_000 : 20
/** How often a caller comes again that is told that it is too much. */
const retriesMax = 100
/** Longer each time up to this: callers who ask without a pause keep an overloaded gateway overloaded. */
const busyMsMax = 5_000

/** Beside what the cards of every fourth payment ask for. */
const faults = {
  no_answer: 0.01,
  late: 0.01,
  arrive_late: 0.01,
  lost: 0.01,
  garbage: 0.01,
  delay: 0.02,
  duplicate: 0.03,
  contradict: 0.02,
  decline: 0.03,
  partial: 0.03,
  wrong_amount: 0.01,
  wrong_rrn: 0.01,
  wrong_terminal: 0.01,
  wrong_card: 0.01,
  drop_before: 0.001,
  drop_after: 0.001,
  half_open: 0.001,
}

const rules = {
  advices: {
    operations: ['authorization', 'capture', 'refund', 'void'],
    floor_limits: { BRL: floorCents },
  },
  reconciliation: { cut_over: 'network', wait_seconds: 0 },
}

const createNetwork = (seed: number): CardNetwork => {
  const dialect = findDialect('ascii')
  const framing = findFraming('binary-2')
  if (dialect === undefined || framing === undefined) throw new Error('no such dialect or framing')
  const network = createCardNetwork({
    dialect,
    framing,
    port: freePort(),
    seed,
    lateMs,
    faults,
    latencyMs: { min: 0, max: 4 },
  })
  network.start()
  return network
}

/** What a caller may be told: done, stored, not possible now, refused by the network, unknown, away. */
const expected: ReadonlySet<number> = new Set([...[200, 201, 202, 400, 409, 422, 502, 503, 504]])

const isOver = (answer: Answer | undefined): boolean =>
  answer !== undefined && ['declined', 'verified', 'voided'].includes(answer.state)

/** @throws Error that says what it waited for */
const until = async (isSo: () => Promise<boolean>, what: string): Promise<void> => {
  const endMs = performance.now() + settleMs
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited for ${what}`)
    await Bun.sleep(pollMs)
  }
}

/** Nothing is under way, and nobody is needed but where a merchant was told yes and the network says no. */
const settled = async ({ sql }: TestDatabase): Promise<void> => {
  const endMs = performance.now() + settleMs
  for (;;) {
    const open = await sql`
      select id, status, operation, reason, needs_attention, touched_at from card_transactions
      where status = 'pending' or operation is not null
        or needs_attention and reason is distinct from 'advice_refused'
      union all
      select transaction_id, status, reverses, response_code, false, created_at from card_reversals
      where status in ('pending', 'expired') limit 5`
    if (open.length === 0) return
    if (performance.now() > endMs) throw new Error(`still open: ${JSON.stringify(open)}`)
    await Bun.sleep(pollMs)
  }
}

/** A process that stands still has its transactions ended, as by a limit on idle ones, and then what it held is another's. */
const letTimePass = async (database: TestDatabase): Promise<void> => {
  await database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`
  await handOver(database)
}

/** Each network ends its day, and its totals are ours. */
const reconcile = async (
  { sql }: TestDatabase,
  networks: Readonly<Record<string, CardNetwork>>,
): Promise<void> => {
  for (const { network, day, next } of await sql`
    select network, to_char(day, 'MMDD') as day, to_char(day + 1, 'MMDD') as next
    from card_business_days`) {
    networks[network]?.endDay(day, next)
  }
  const days = () => sql`
    select network, status, ours, theirs from card_reconciliations where ended_at is not null`
  await until(async () => (await days()).length === 2, 'the end of both days')
  for (const { status, ours, theirs } of await days()) {
    expect([status, ours]).toEqual(['balanced', theirs])
  }
}

/** All of it took place; what comes by chance is certain only among many. */
const expectAll = async (
  { sql }: TestDatabase,
  networks: Readonly<Record<string, CardNetwork>>,
): Promise<void> => {
  const events = await sql`select distinct type from card_events`
  const done = Object.values(networks).map((network) => network.statistics())
  const met = [
    ...events.map(({ type }) => type),
    ...done.flatMap(({ received, behaviours }) => Object.keys({ ...received, ...behaviours })),
  ]
  expect(met).toEqual(
    expect.arrayContaining([
      ...['authorized', 'captured', 'voided', '0100', '0200', '0400', '0401', '0500'],
    ]),
  )
  if (!isLong) return
  expect(met).toEqual(
    expect.arrayContaining([
      ...[
        'declined',
        'expired',
        'partially_captured',
        'advice_confirmed',
        'verified',
        'incremented',
      ],
      ...['partially_voided', 'refunded'],
      '0120',
      '0121',
      '0220',
      '0221',
      ...Object.keys(faults),
    ]),
  )
}

test(
  `${payments} payments of all operations through ${processes} gateways of which one is frozen and another killed, ${kills} times, over networks that lie: the books agree to the cent (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(2)
    const { sql } = database
    const [neta, netb] = [createNetwork(seed), createNetwork(seed + 1)]
    const networks = { neta, netb }
    const vault = createTestVault({ key: testVaultKey })
    const file = join(temporaryDirectory(), 'messages.json')
    await Bun.write(file, JSON.stringify(rules))
    const ofEach = (name: string) => ({
      [`CARDGW_${name}_MESSAGES_FILE`]: file,
      [`CARDGW_${name}_CONNECT_WAIT_MS`]: '0',
      [`CARDGW_${name}_ECHO_SECONDS`]: '1',
      [`CARDGW_${name}_AUTHORIZATION_HOURS`]: '24',
    })
    const options = {
      database,
      networks: [neta, netb] as const,
      vaultUrl: vault.url,
      timeoutSeconds,
      environment: { ...ofEach('NETA'), ...ofEach('NETB'), CARDGW_REVERSAL_WINDOW_SECONDS: '3' },
    }
    const gateways = await Promise.all(
      Array.from({ length: processes }, () => createCardGateway(options)),
    )
    try {
      await Promise.all(gateways.map((gateway) => gateway.start()))
      const days = async () => (await sql`select from card_business_days`).length === 2
      await until(days, 'the business days')
      const away = new Set<CardGateway>()
      let frozen: CardGateway | undefined
      const oneOf = async (): Promise<CardGateway> => {
        for (;;) {
          const there = gateways.filter((gateway) => !away.has(gateway))
          const one = there[pick(there.length)]
          if (one !== undefined) return one
          await Bun.sleep(10)
        }
      }
      const inDoubt: Ask[] = []
      /** @returns undefined: nobody knows */
      const ask = async (one: Ask): Promise<Answer | undefined> => {
        for (let tries = 0; ; tries++) {
          const answer = await (await oneOf()).post(one.path, one.body, one.key)
          if (answer !== undefined) expect(expected).toContain(answer.status)
          if (answer?.status === 503 && tries < retriesMax) {
            await Bun.sleep(pick(Math.min(100 * 2 ** tries, busyMsMax)))
            continue
          }
          if (answer === undefined || answer.status === 503) inDoubt.push(one)
          return answer
        }
      }
      /** What nobody goes on with expires; it waits for none that holds it, as they may wait for one another. */
      const forget = (id: string) => sql`
        update card_transactions set created_at = created_at - interval '25 hours'
        where id = (
          select id from card_transactions where id = ${id} and status = 'authorized'
          for update skip locked)`
      let next = 0
      const client = async (): Promise<void> => {
        while (next < payments) {
          const number = next++
          let answer = await ask(openingOf(number, pick))
          const id = answer?.id
          if (id === undefined) continue
          for (const step of stepsOf(id, number, pick)) {
            // Little comes of asking more of what is over: some do.
            if (isOver(answer) && pick(8) > 0) break
            answer = (await ask(step)) ?? answer
          }
          if (pick(8) === 0) await forget(id)
        }
      }
      /** Does something each time another share of the payments has been asked for. */
      const at = async (times: number, action: (index: number) => Promise<void>) => {
        for (let index = 0; index < times; index++) {
          const share = ((index + 0.5) / times) * payments
          while (next < share) await Bun.sleep(pick(20))
          await action(index)
        }
      }
      const kill = async (gateway: CardGateway): Promise<void> => {
        away.add(gateway)
        await gateway.kill()
        away.delete(gateway)
      }
      /** All but the frozen one, another one first each time. */
      const running = (turn: number): readonly CardGateway[] => {
        const others = gateways.filter((gateway) => gateway !== frozen)
        return others.map((_, at) => others[(at + turn) % others.length] as CardGateway)
      }
      const freezeOther = async (turn: number): Promise<void> => {
        const [other] = running(turn)
        frozen?.signal('SIGCONT')
        await frozen?.untilUp()
        if (frozen !== undefined) away.delete(frozen)
        frozen = other
        if (other !== undefined) away.add(other)
        other?.signal('SIGSTOP')
      }
      await Promise.all([
        ...Array.from({ length: clients }, client),
        at(kills, async (index) => {
          if (index % killsOfOne === 0) await freezeOther(index / killsOfOne)
          for (const gateway of running(index).slice(0, 1)) await kill(gateway)
        }),
        at(outages, async (index) => {
          const network = index % 2 === 0 ? neta : netb
          network.stop()
          await Bun.sleep(outageMs)
          network.start()
        }),
      ])
      for (const network of [neta, netb]) network.setFaults({})
      const others = running(0)
      await Promise.all(others.map((gateway) => gateway.end()))
      await letTimePass(database)
      await others[0]?.start()
      // Asked for again by its key, as a caller would who never learnt the outcome.
      const askAgain = async (): Promise<void> => {
        for (let one = inDoubt.pop(); one !== undefined; one = inDoubt.pop()) await ask(one)
      }
      await Promise.all(Array.from({ length: clients }, askAgain))
      // All of it is ended by one gateway; then the other goes on where it was, and must not change anything.
      await settled(database)
      frozen?.signal('SIGCONT')
      await frozen?.untilUp()
      // What it has sent of late is taken back.
      const agree = async () => (await differences(database, networks)).length === 0
      await until(agree, 'equal books').catch(() => undefined)
      await settled(database)
      const wrong = (await differences(database, networks)).slice(0, 5)
      expect([wrong, await historyOf(database, wrong)]).toEqual([[], []])
      await reconcile(database, networks)
      await expectAll(database, networks)
      // A key that led to nothing sent is free again; beside that each had one effect.
      const [row] = await sql`
        select count(*)::int as count, count(distinct claim_key)::int as keys
        from card_transactions where reason is distinct from 'not_sent'`
      expect(row?.['count']).toBe(row?.['keys'])
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.end()))
      for (const network of [neta, netb]) network.stop()
      await vault.stop()
      await database.close()
    }
  },
  // A machine that others use takes three times as long.
  300_000 + payments * 60,
)
