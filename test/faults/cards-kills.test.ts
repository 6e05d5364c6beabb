import { expect, test } from 'bun:test'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { type Answer, type CardGateway, createCardGateway } from '../support/card-gateway.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'

const isLong = process.env['TRILHO_LONG'] === '1'
const authorizations = isLong ? 100_000 : 2_000
/** Each time one of the two gateways is stopped where it is, and then the other is killed and started again. */
const gatewayFaults = isLong ? 8 : 1
const networkKills = isLong ? 30 : 4
/** In the test's name, so that a failure can be repeated with TRILHO_SEED. */
const seed = Number(process.env['TRILHO_SEED'] ?? Date.now() % 2 ** 31)
const clients = 100
const timeoutSeconds = 1
const lateMs = 1_200
const networkOutageMs = 100
const settleMs = 120_000

const faults = {
  ...{ no_answer: 0.002, late: 0.002, delay: 0.01, duplicate: 0.005 },
  ...{ drop_before: 0.0005, drop_after: 0.0005, garbage: 0.0005 },
  ...{ wrong_amount: 0.002, wrong_rrn: 0.002, wrong_terminal: 0.002 },
}

const createNetwork = (seed: number): CardNetwork => {
  const dialect = findDialect('ascii')
  const framing = findFraming('binary-2')
  if (dialect === undefined || framing === undefined) throw new Error('no such dialect or framing')
  const network = createCardNetwork({
    ...{ dialect, framing, port: freePort(), seed, lateMs: lateMs, faults: faults },
    latencyMs: { min: 0, max: 4 },
  })
  network.start()
  return network
}

type Payment = { readonly key: string; readonly amount: number; readonly token: string }

const paymentOf = (number: number, pick: (below: number) => number): Payment => {
  const brand = number % 2 === 0 ? 'visa' : 'mastercard'
  const outcome = pick(10) === 0 ? 'declined_51' : 'approved'
  return { key: `a-${number}`, amount: 100 + pick(80_000), token: `tok_${brand}_${outcome}` }
}

/** Undefined where nothing is known yet: no answer, or (503, 409) one that says so. */
const authorize = async (
  gateway: CardGateway,
  { key, amount, token }: Payment,
): Promise<Answer | undefined> => {
  const answer = await gateway.post('/authorize', authorizationBody(token, { amount }), key)
  if (answer === undefined || answer.status === 503 || answer.status === 409) return undefined
  expect([201, 502, 504]).toContain(answer.status)
  return answer
}

/** Some are captured, in part or whole, some voided, some both; nobody asks again what became of it. */
const goOn = async (
  gateway: CardGateway,
  { key, amount }: Payment,
  { id, state }: Answer,
  pick: (below: number) => number,
): Promise<void> => {
  if (id === undefined || state !== 'authorized') return
  const fate = pick(10)
  if (fate < 2) {
    const part = pick(2) === 0 ? undefined : { amount: Math.floor(amount / 2) }
    await gateway.post(`/${id}/capture`, part, `${key}-capture`)
  }
  if (fate === 1 || fate === 2) await gateway.post(`/${id}/void`, undefined, `${key}-void`)
}

type Row = {
  readonly network: string
  readonly stan: string
  readonly rrn: string
  readonly day: string
  readonly status: string
  readonly amount: number
  readonly captured: number
}

/** The state of each transaction in words, with its cents: equal in both books or something is wrong. */
const oursOf = (row: Row): string => {
  const { status, amount, captured } = row
  if (status === 'authorized') return `stands ${amount} captured 0`
  if (status === 'captured') return `stands ${amount} captured ${captured}`
  return 'nothing'
}

const theirsOf = (entry: ReturnType<CardNetwork['book']>[number] | undefined): string => {
  if (entry === undefined || entry.authorizedAmount === entry.reversedAmount) return 'nothing'
  return `stands ${entry.authorizedAmount} captured ${entry.capturedAmount}`
}

const settle = async ({ sql }: TestDatabase): Promise<void> => {
  const endMs = performance.now() + settleMs
  for (;;) {
    const open = await sql`
      select status, operation, needs_attention, updated_at from card_transactions
      where status = 'pending' or operation is not null or needs_attention limit 5`
    if (open.length === 0) return
    if (performance.now() > endMs) throw new Error(`still open: ${JSON.stringify(open)}`)
    await Bun.sleep(100)
  }
}

const compareBooks = async (
  { sql }: TestDatabase,
  networks: Readonly<Record<string, CardNetwork>>,
): Promise<Readonly<Record<string, number>>> => {
  const rows = await sql<Row[]>`
    select network, stan, rrn, left(transmission, 4) as day, status, amount_cents::int as amount,
      coalesce(captured_cents, 0)::int as captured
    from card_transactions`
  const keyOf = ({ day, stan, rrn }: { day: string; stan: string; rrn: string }): string =>
    `${day} ${stan} ${rrn}`
  const ours = new Map(rows.map((row) => [`${row.network} ${keyOf(row)}`, row]))
  expect(ours.size).toBe(rows.length)
  const wrong: string[] = []
  for (const [name, network] of Object.entries(networks)) {
    const book = new Map(network.book().map((entry) => [keyOf(entry), entry]))
    for (const row of rows.filter((one) => one.network === name)) {
      const theirs = theirsOf(book.get(keyOf(row)))
      if (oursOf(row) !== theirs) wrong.push(`${keyOf(row)}: ${row.status}, network ${theirs}`)
    }
    for (const [key, { requests }] of book) {
      if (!ours.has(`${name} ${key}`)) wrong.push(`${key}: unknown to us`)
      if (requests !== 1) wrong.push(`${key}: authorized ${requests} times`)
    }
  }
  expect(wrong.slice(0, 10)).toEqual([])
  const counts: Record<string, number> = {}
  for (const { status } of rows) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test(
  `${authorizations} authorizations through two gateways that stop and are killed in turn, ${networkKills} kills of networks: the books agree to the cent (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(2)
    const networks = [createNetwork(seed), createNetwork(seed + 1)] as const
    const vault = createTestVault({ key: testVaultKey })
    const options = { database, networks, vaultUrl: vault.url, timeoutSeconds }
    const gateways = [await createCardGateway(options), await createCardGateway(options)] as const
    try {
      await Promise.all(gateways.map((gateway) => gateway.start()))
      let stopped: CardGateway | undefined
      const oneOf = () => gateways[pick(2)] ?? gateways[0]
      const running = () => gateways.find((gateway) => gateway !== stopped) ?? gateways[0]
      let next = 0
      const inDoubt: Payment[] = []
      const client = async (): Promise<void> => {
        while (next < authorizations) {
          const payment = paymentOf(next++, pick)
          const gateway = oneOf()
          const answer = await authorize(gateway, payment)
          if (answer === undefined) inDoubt.push(payment)
          else await goOn(gateway, payment, answer, pick)
          // What is away refuses at once: one payment a moment is enough to see it.
          if (answer?.status !== 201) await Bun.sleep(100)
        }
      }
      /** Does something each time another share of the payments has been asked for. */
      const at = async (times: number, action: (index: number) => Promise<void>) => {
        for (let index = 0; index < times; index++) {
          const share = ((index + 0.5) / times) * authorizations
          while (next < share) await Bun.sleep(pick(50))
          await action(index)
        }
      }
      await Promise.all([
        ...Array.from({ length: clients }, client),
        at(2 * gatewayFaults, async (index) => {
          if (index % 2 === 1) return running().kill()
          stopped?.signal('SIGCONT')
          stopped = gateways[(index / 2) % 2 === 0 ? 1 : 0]
          stopped?.signal('SIGSTOP')
        }),
        at(networkKills, async (index) => {
          const network = networks[index % 2 === 0 ? 0 : 1]
          network.stop()
          await Bun.sleep(networkOutageMs)
          network.start()
        }),
      ])
      for (const network of networks) network.setFaults({})
      // Asked for again by its key, as a caller would who never learnt the outcome.
      const askAgain = async (): Promise<void> => {
        for (let payment = inDoubt.pop(); payment !== undefined; payment = inDoubt.pop()) {
          while ((await authorize(running(), payment)) === undefined) await Bun.sleep(100)
        }
      }
      await Promise.all(Array.from({ length: clients }, askAgain))
      // All of it is ended by one gateway; then the other goes on where it was, and must not change anything.
      await settle(database)
      stopped?.signal('SIGCONT')
      await stopped?.untilUp()
      await settle(database)
      const counts = await compareBooks(database, { neta: networks[0], netb: networks[1] })
      expect(Object.keys(counts).sort()).toEqual(['authorized', 'captured', 'declined', 'voided'])
      // A key that led to nothing sent is free again; beside that each had one effect.
      const [row] = await database.sql<{ count: number; keys: number }[]>`
        select count(*)::int as count, count(distinct claim_key)::int as keys
        from card_transactions where reason is distinct from 'not_sent'`
      expect(row?.count).toBe(row?.keys ?? 0)
      // While a network is away payments come to nothing at once; in the short run that is many of them.
      expect(row?.count ?? 0).toBeGreaterThan(authorizations * 0.5)
      const captured = networks.flatMap((network) => network.book()).map((e) => e.capturedAmount)
      const [sum] = await database.sql<{ cents: string }[]>`
        select coalesce(sum(captured_cents), 0)::text as cents from card_transactions
        where status = 'captured'`
      expect(sum?.cents).toBe(String(captured.reduce((total, cents) => total + cents, 0)))
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.end()))
      for (const network of networks) network.stop()
      await vault.stop()
      await database.close()
    }
  },
  300_000 + authorizations * 5,
)
