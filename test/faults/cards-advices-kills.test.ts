import { expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { type CardGateway, createCardGateway } from '../support/card-gateway.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * What was decided while the network was away is with nobody else. The gateway is killed while it waits, and again and
 * again while it is told: each advice reaches the network and counts there once, and both books have the same totals.
 * Then it is killed while it uploads the day: each transaction counts once there too. Each kill costs a start, so the
 * ordinary run has one of each.
 */

const kills = process.env['TRILHO_LONG'] === '1' ? 8 : 1
const rounds = 6
const settleMs = 60_000 + kills * 15_000

const rules = {
  advices: {
    operations: ['authorization', 'capture', 'refund', 'void'],
    floor_limits: { BRL: 90_000 },
  },
  reconciliation: { cut_over: 'network', wait_seconds: 0, batch_upload: 'always' },
}

const createNetwork = () => {
  const [dialect, framing] = [findDialect('ascii'), findFraming('binary-2')]
  if (dialect === undefined || framing === undefined) throw new Error('no such dialect or framing')
  return createCardNetwork({ dialect, framing, port: freePort(), latencyMs: { min: 0, max: 20 } })
}

const demanded = async (
  gateway: CardGateway,
  status: number,
  path: string,
  body: unknown,
  key: string,
): Promise<string> => {
  const answer = await gateway.post(path, body, key)
  expect([key, answer?.status]).toEqual([key, status])
  return answer?.id ?? ''
}

/** One of each while the network is there, so that it can be gone on with. */
const begin = async (gateway: CardGateway, round: number) => {
  const authorize = (what: string, capture: boolean) =>
    demanded(
      ...([gateway, 201, '/authorize'] as const),
      authorizationBody('tok_visa_approved', { amount: 10_000 + round, capture }),
      `${what}-${round}`,
    )
  return {
    captured: await authorize('captured', false),
    inPart: await authorize('part', false),
    refunded: await authorize('refunded', true),
    voided: await authorize('voided', true),
    released: await authorize('released', false),
  }
}

/** The network is away: all of it is stored here, and nowhere else. */
const goOn = async (
  gateway: CardGateway,
  round: number,
  ids: Awaited<ReturnType<typeof begin>>,
): Promise<void> => {
  const ask = (id: string, path: string, body?: unknown) =>
    demanded(gateway, 202, `/${id}/${path}`, body, `away-${path}-${id}`)
  // Refused unsent until the gateway has failed to connect again.
  const isTaken = async () =>
    (await gateway.post(`/${ids.captured}/capture`, undefined, crypto.randomUUID()))?.status === 202
  await until(isTaken, 'a network that is away')
  await ask(ids.inPart, 'capture', { amount: 3_000, final: false })
  await ask(ids.refunded, 'refund', { amount: 4_000 })
  await ask(ids.voided, 'void')
  await ask(ids.released, 'void')
  for (const capture of [false, true]) {
    const body = authorizationBody('tok_visa_approved', { amount: 20_000 + round, capture })
    await demanded(gateway, 201, '/authorize', body, `stand-in-${capture}-${round}`)
  }
}

const waiting = async ({ sql }: TestDatabase): Promise<number> => {
  const [row] = await sql`
    select (select count(*) from card_reversals where status = 'pending')
      + (select count(*) from card_transactions where status = 'pending' or operation is not null)
      as count`
  return Number(row?.['count'])
}

/** @throws Error that says what it waited for */
const until = async (isSo: () => Promise<boolean> | boolean, what: string): Promise<void> => {
  const endMs = performance.now() + settleMs
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited for ${what}`)
    await Bun.sleep(20)
  }
}

type Row = {
  readonly rrn: string
  readonly status: string
  readonly amount: number
  readonly captured: number
  readonly refunded: number
}

const compareBooks = async (
  { sql }: TestDatabase,
  network: ReturnType<typeof createNetwork>,
): Promise<void> => {
  const rows = await sql<Row[]>`
    select rrn, status, amount_cents::int as amount, coalesce(captured_cents, 0)::int as captured,
      coalesce(refunded_cents, 0)::int as refunded from card_transactions order by id`
  const book = new Map(network.book().map((entry) => [entry.rrn, entry]))
  expect(book.size).toBe(rows.length)
  for (const { rrn, status, ...sums } of rows) {
    const entry = book.get(rrn)
    const isVoided = status === 'voided'
    expect([rrn, entry]).toMatchObject([
      rrn,
      {
        authorizedAmount: sums.amount,
        capturedAmount: isVoided ? 0 : sums.captured,
        refundedAmount: sums.refunded,
        reversedAmount: isVoided ? sums.amount : 0,
      },
    ])
  }
  expect(rows.length).toBe(rounds * 7)
}

/** Kills the gateway, and gives what it had in hand to the next one without the rest of its lease. */
const kill = async (gateway: CardGateway, { sql }: TestDatabase): Promise<void> => {
  await gateway.end()
  await sql`update card_reversals set lease_until = now() where lease_until is not null`
  await sql`update card_reconciliations set lease_until = now() where lease_until is not null`
  await gateway.start()
}

/** Sales of that day which our book has and the network's has not: what is uploaded books them there. */
const lackingCents = 700

/** The network ends the day, and its totals are ours, also where each message of the upload may be cut off. */
const reconcile = async (
  database: TestDatabase,
  network: ReturnType<typeof createNetwork>,
  gateway: CardGateway,
): Promise<void> => {
  const { sql } = database
  const lacking = await sql`
    insert into card_movements
      (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
    select network, day, currency, kind, ${lackingCents}, transaction_id, '9' || right(stan, 5), transmission
    from card_movements where kind = 'debit'`
  expect(lacking.count).toBe(rounds * 5)
  const [open] =
    await sql`select to_char(day, 'MMDD') as day, to_char(day + 1, 'MMDD') as next from card_business_days`
  network.endDay(String(open?.['day']), String(open?.['next']))
  const heardOf = (mti: string): number => network.statistics().received[mti] ?? 0
  const heard = (): number =>
    ['0500', '0501', '0320', '0321'].reduce((sum, mti) => sum + heardOf(mti), 0)
  // The first message of the day, several of the upload, and with many kills the totals after it.
  for (let at = 0; at < kills; at++) {
    const before = heard()
    const step = at === 0 && kills > 1 ? 0 : 7
    await until(() => heard() > before + step, 'the upload')
    // It is booked there, and nobody here has heard so.
    network.setFaults({ no_answer: 1 })
    const silent = heard()
    await until(() => heard() > silent, 'a message without an answer')
    await kill(gateway, database)
    network.setFaults({})
  }
  const days = () => sql`
    select status, ours, theirs, upload, uploaded, uploads_refused as refused
    from card_reconciliations where ended_at is not null`
  await until(async () => (await days()).length > 0, 'the end of the day')
  const [day] = await days()
  const standing = await sql`
    select from card_movements m where kind in ('debit', 'credit') and not exists (
      select from card_movements r where r.transaction_id = m.transaction_id
        and r.kind = m.kind || '_reversal' and r.stan = m.stan)`
  expect(day).toMatchObject({
    status: 'balanced',
    upload: 'done',
    uploaded: standing.length,
    refused: 0,
  })
  expect(day?.['ours']).toEqual(day?.['theirs'])
  expect(day?.['ours']['debit']['count']).toBe(rounds * 5 * 2)
  expect(heardOf('0320')).toBeLessThanOrEqual(standing.length)
  expect(heardOf('0321') + heardOf('0501')).toBeGreaterThanOrEqual(kills)
}

test(
  `advices outlive a kill while they wait, and ${kills} while they are told: each counts once, and so does what is uploaded`,
  async () => {
    const database = await createTestDatabase(2)
    const network = createNetwork()
    network.start()
    const vault = createTestVault({ key: testVaultKey })
    const file = join(temporaryDirectory(), 'messages.json')
    await Bun.write(file, JSON.stringify(rules))
    const gateway = await createCardGateway({
      database,
      networks: [network, network],
      vaultUrl: vault.url,
      timeoutSeconds: 1,
      environment: { CARDGW_NETA_MESSAGES_FILE: file, CARDGW_NETA_CONNECT_WAIT_MS: '0' },
    })
    try {
      await gateway.start()
      const opened = async () => (await database.sql`select from card_business_days`).length > 0
      await until(opened, 'the business day')
      const begun = await Promise.all(
        Array.from({ length: rounds }, (_, round) => begin(gateway, round)),
      )
      network.stop()
      await Promise.all(begun.map((ids, round) => goOn(gateway, round, ids)))
      const stored = await waiting(database)
      await gateway.kill()
      expect(await waiting(database)).toBe(stored)
      network.setFaults({ no_answer: 0.3, drop_after: 0.05, drop_before: 0.05, duplicate: 0.1 })
      network.start()
      const told = (): number =>
        Object.values(network.statistics().received).reduce((sum, one) => sum + one, 0)
      for (let at = 0; at < kills; at++) {
        const before = told()
        await until(() => told() > before + 4, 'advices on their way')
        await kill(gateway, database)
      }
      network.setFaults({})
      await until(async () => (await waiting(database)) === 0, 'all being told')
      const { received } = network.statistics()
      expect(received['0220']).toBeGreaterThanOrEqual(1)
      expect((received['0221'] ?? 0) + (received['0121'] ?? 0)).toBeGreaterThanOrEqual(1)
      await compareBooks(database, network)
      await reconcile(database, network, gateway)
    } finally {
      await gateway.end()
      network.stop()
      await vault.stop()
      await database.close()
    }
  },
  120_000 + kills * 30_000,
)
