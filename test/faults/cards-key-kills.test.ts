import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { insertReversals } from '../../src/cards/reversals/index.ts'
import { createAbandonedSweep } from '../../src/cards/use-cases/abandoned.ts'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { createCardGateway } from '../support/card-gateway.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { differences } from '../support/cards-walk.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { seed } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

/*
 * Two gateways of which one is killed, again and again, just when a network hands out another key of codes: one network
 * by DE 70 101, the other by 161 with a confirmation. Whatever the killed one had answered, both gateways and both
 * networks go on with keys that each of them knows, and the books are equal.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const kills = isLong ? 40 : 4
const clients = 8
const waitMs = 60_000
const macKey = '0123456789ABCDEFFEDCBA9876543210'
const zoneKey = '5D6B2A0E4C8F91A237C4D0E09B5826FE'

const directory = temporaryDirectory()
const fileOf = (name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const messagesOf = (confirmationCode: string | undefined): string => {
  const security = {
    zone_key_path: fileOf('zone.key', zoneKey),
    mac: { algorithm: 'x9.19', key_path: fileOf('mac.key', macKey) },
    key_exchange: {
      ...(confirmationCode === undefined
        ? {}
        : { network_code: '161', confirmation_code: confirmationCode }),
      keys: [{ key: 'mac', field: 48 }],
    },
  }
  return fileOf(`messages-${confirmationCode ?? 'none'}.json`, JSON.stringify({ security }))
}

const createNetwork = (confirms: boolean): CardNetwork => {
  const dialect = findDialect('ascii')
  const framing = findFraming('binary-2')
  if (dialect === undefined || framing === undefined) throw new Error('no such dialect or framing')
  const network = createCardNetwork({
    dialect,
    framing,
    port: freePort(),
    latencyMs: { min: 0, max: 4 },
    security: { algorithm: 'x9.19', macKey, zoneKey, confirms },
  })
  network.start()
  return network
}

/** Hands out keys until one more than before is in use, never two at a time. */
const changed = (network: CardNetwork, before: number): Promise<void> =>
  until(() => {
    const isDone = network.statistics().keysExchanged > before
    if (!isDone && !network.isChangingKey) network.changeKey()
    return isDone
  }, waitMs)

/** What a killed gateway had begun is taken back, as any other process does once its time is over; it looks every ten seconds. */
const takeBackAbandoned = async ({ sql }: TestDatabase): Promise<void> => {
  await sql`
    update card_transactions set touched_at = touched_at - interval '1 minute'
    where status = 'pending' or operation is not null`
  const networks = [{ name: 'neta', timeoutMs: 1_000 }]
  const options = { sql, networks, insertReversals, emission: undefined, logger: quietLogger }
  await createAbandonedSweep({ ...options, now: () => new Date() }).sweep()
}

test(
  `${kills} kills while keys are exchanged, by two networks: codes stay right, and the books agree (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(2)
    const { sql } = database
    const [neta, netb] = [createNetwork(false), createNetwork(true)]
    const vault = createTestVault({ key: testVaultKey })
    const options = {
      database,
      networks: [neta, netb] as const,
      vaultUrl: vault.url,
      timeoutSeconds: 1,
      environment: {
        CARDGW_NETA_MESSAGES_FILE: messagesOf(undefined),
        CARDGW_NETB_MESSAGES_FILE: messagesOf('162'),
        CARDGW_SECURITY_MODULE: 'software',
        TRILHO_MASTER_KEY: randomBytes(32).toString('base64'),
      },
    }
    const gateways = [await createCardGateway(options), await createCardGateway(options)] as const
    const states = new Map<string, number>()
    let number = 0
    let isOver = false
    const pay = async (gateway: (typeof gateways)[number], brand: string) => {
      const body = authorizationBody(`tok_${brand}_approved`)
      const answer = await gateway.post('/authorize', body, `pay-${number++}`)
      const state = answer === undefined ? 'no answer' : `${answer.status} ${answer.state}`
      states.set(state, (states.get(state) ?? 0) + 1)
      return state
    }
    try {
      await Promise.all(gateways.map((gateway) => gateway.start()))
      const load = Promise.all(
        Array.from({ length: clients }, async (_, at) => {
          while (!isOver) {
            await pay(gateways[at % 2] ?? gateways[0], at % 4 < 2 ? 'visa' : 'mastercard')
            await Bun.sleep(5)
          }
        }),
      )
      for (let at = 0; at < kills; at++) {
        const exchanged = [neta, netb].map((network) => network.statistics().keysExchanged)
        for (const network of [neta, netb]) network.changeKey()
        await Bun.sleep(pick(12))
        // The one that was there all the time takes the next at the latest, while the other starts.
        await Promise.all([
          gateways[at % 2]?.kill(),
          ...[neta, netb].map((network, side) => changed(network, exchanged[side] ?? 0)),
        ])
      }
      isOver = true
      await load
      // Each gateway over each network, with the keys that are in use now.
      for (const gateway of gateways) {
        for (const brand of ['visa', 'mastercard']) {
          for (let count = 0; count < 20; count++) {
            expect(await pay(gateway, brand)).toBe('201 authorized')
          }
        }
      }
      await takeBackAbandoned(database)
      await until(async () => {
        const open = await sql`
          select from card_transactions where status = 'pending' or operation is not null
          union all select from card_reversals where status = 'pending'`
        return open.length === 0
      }, waitMs)
      expect(await differences(database, { neta, netb })).toEqual([])
      expect(states.get('201 authorized')).toBeGreaterThan(80 + kills)
      // Nothing but what a kill left without an answer.
      const told = [...states.keys()].filter(
        (state) => !['201 authorized', 'no answer'].includes(state),
      )
      expect(told.filter((state) => !/^50[234] /.test(state))).toEqual([])
      const [kept] = await sql`select count(*)::int as count from card_link_keys`
      expect(kept?.['count']).toBeGreaterThanOrEqual(2)
    } finally {
      isOver = true
      await Promise.all(gateways.map((gateway) => gateway.end()))
      for (const network of [neta, netb]) network.stop()
      await vault.stop()
      await database.close()
    }
  },
  120_000 + kills * 30_000,
)
