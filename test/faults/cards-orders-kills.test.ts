import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import {
  cardSettings,
  createCardNetworks,
  networkASettings,
  networkBSettings,
} from '../../src/cards/index.ts'
import { createTestVault, testVaultKey } from '../../src/simulators/card-network/index.ts'
import { type Answer, createCardGateway, handOver } from '../support/card-gateway.ts'
import { createOrders, ordersEnvironment } from '../support/cards-orders.ts'
import { anyRound } from '../support/cards-rounds.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { createScriptedNetwork } from '../support/scripted-network.ts'
import { seed } from '../support/seed.ts'

/*
 * Operations in any order over a network that lies, while the gateway is killed where it is, again and again. A caller
 * who learnt nothing asks once more by the same key, until he is told. In the end the payment is what he was told, and
 * the network's ledger is ours to the cent.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const runs = isLong ? 60 : 1
const killsOfRound = isLong ? 8 : 3
/** So that a round lasts for some kills. */
const paymentsMin = 24
/** What the network says to a process that is no more, no other learns. */
const untellable = 'refused, then done'
/** Requests from one kill to the next, at most. */
const betweenMax = 60
const timeoutSeconds = 1
const timing = { answerMs: 1_060, arriveMs: 1_120 }
const toldMs = 120_000
const settledMs = 60_000

type Told = Answer | undefined
/** The key waits for what its first request came to. */
const isRunning = ({ record }: Answer): boolean =>
  (record['error'] as { code?: string } | undefined)?.code === 'IDEMPOTENCY_IN_PROGRESS'

/** @throws Error when it was not so in time */
const until = async (ms: number, ask: () => Promise<Told>, isSo: (answer: Answer) => boolean) => {
  const endMs = performance.now() + ms
  for (let answer: Told; ; await Bun.sleep(50)) {
    answer = await ask()
    if (answer !== undefined && isSo(answer)) return answer
    if (performance.now() > endMs) throw new Error(`still ${JSON.stringify(answer)}`)
  }
}

/** What the files and settings of the networks say, without their connections. */
const networksOf = (environment: Readonly<Record<string, string>>) => {
  const { values, problems } = loadSettings(
    { settings: cardSettings, networkA: networkASettings, networkB: networkBSettings },
    { CARDGW_NETA_HOST: '127.0.0.1', CARDGW_NETB_HOST: '127.0.0.1', ...environment },
  )
  expect(problems).toEqual([])
  const metrics = createMetrics({ version: 'test', withProcess: false })
  return createCardNetworks({ ...values, logger: quietLogger, metrics })
}

test(
  `${runs} times payments in any order of operations through a gateway killed ${killsOfRound} times are what was told, here and at the network (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(2)
    const vault = createTestVault({ key: testVaultKey })
    const environment = await ordersEnvironment()
    const orders = createOrders(timing, timeoutSeconds * 1_000)
    const other = createScriptedNetwork()
    const gateway = await createCardGateway({
      database,
      networks: [orders.network, other],
      vaultUrl: vault.url,
      timeoutSeconds,
      environment: { ...environment, CARDGW_REVERSAL_WINDOW_SECONDS: '2' },
    })
    let keys = 0
    let asked = 0
    let killed = 0
    const shown = (id: string, isSo: (answer: Answer) => boolean) =>
      until(
        settledMs,
        () => gateway.get(`/${id}`),
        (answer) => answer.status === 200 && isSo(answer),
      )
    const recordOf = async (id: string) => (await shown(id, () => true)).record
    orders.through({
      sql: database.sql,
      networks: networksOf(environment),
      recordOf,
      settled: (id) =>
        shown(id, ({ record, state }) => record['operation'] === undefined && state !== 'pending'),
      post: async (path, body) => {
        const key = `order-${++keys}`
        const ask = () => {
          asked++
          return gateway.post(path, body, key)
        }
        return until(toldMs, ask, (answer) => !isRunning(answer))
      },
    })
    const kill = async (): Promise<void> => {
      await gateway.end()
      await handOver(database)
      await gateway.start()
    }
    /** Somewhere among the requests of a round; a short one is over before the last. */
    const killAmong = async (isOver: () => boolean): Promise<void> => {
      for (let left = killsOfRound; left > 0; left--) {
        const next = asked + 1 + pick(betweenMax)
        while (asked < next && !isOver()) await Bun.sleep(pick(5))
        if (isOver()) return
        await kill()
        killed++
      }
    }
    try {
      await gateway.start()
      await fc.assert(
        fc.asyncProperty(anyRound(paymentsMin, untellable), (round) =>
          orders.play(round, killAmong),
        ),
        {
          numRuns: runs,
          seed,
          endOnFailure: true,
        },
      )
      expect(killed).toBeGreaterThan(0)
      // Some learnt nothing at first.
      expect(asked).toBeGreaterThan(keys)
    } finally {
      await gateway.end()
      for (const one of [orders.network, other]) one.stop()
      await vault.stop()
      await database.close()
    }
  },
  240_000 + runs * 60_000,
)
