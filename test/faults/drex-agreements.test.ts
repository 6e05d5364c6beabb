/**
 * Deliveries against payment and liens on anvil, behind a node that lies now and then, amid kills of the gateway and
 * reorganisations deeper than the confirmations. At the end each status, and what was told last, is what the contracts say.
 */
import { expect, test } from 'bun:test'
import { id as hashOf, Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import lienArtifact from '../../src/drex/templates/lien/generated/Lien.json'
import directoryArtifact from '../../src/simulators/chain/contracts/generated/SandboxDirectory.json'
import { bondAbi, deliveryAbi, deployBond, deployDelivery, ltn } from '../drex/bond-delivery.ts'
import { createLyingNode, lieAtRandom } from '../drex/lying-node.ts'
import { type Admin, adminAddress, createAdmin, currencyAbi } from '../drex/support.ts'
import { type Anvil, findAnvil, startAnvil } from '../support/anvil.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createRig, type Rig } from '../support/drex-rig.ts'
import { seed } from '../support/seed.ts'
import { until } from '../support/until.ts'

const path = findAnvil()
/** The long lane kills many times. */
const kills = process.env['TRILHO_LONG'] === '1' ? 40 : 2
const heldCents = 100_000_000n
const deliveriesPerKill = 3
const reorganisedMax = 4
const blockTimeMs = 80
const killWithinMs = 2_500
const settleMs = 90_000

type Pick = (below: number) => number
type Ask = { readonly key: string; readonly path: string; readonly body: object }

test.skipIf(path === undefined)(
  `${kills} kills and reorganisations amid deliveries and liens: what is told is what the contracts say (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const drill = await begin(pick)
    try {
      for (let kill = 0; kill < kills; kill++) await killAmid(drill, kill, pick)
      drill.node.lie(undefined)
      drill.node.refuse(undefined)
      await settled(drill)
      await expectDeliveries(drill)
      await expectMoney(drill, await pledged(drill))
      await expectTold(drill)
    } finally {
      await drill.stop()
    }
  },
  60_000 + kills * 20_000 + settleMs,
)

type Drill = Awaited<ReturnType<typeof begin>>

const begin = async (pick: Pick) => {
  const anvil = await startAnvil(String(path))
  const admin = await createAdmin(anvil)
  const node = createLyingNode(anvil)
  const database = await createTestDatabase(2)
  await keepTold(database)
  const rig = await createRig(database.dsn, { chain: { mining: 'manual' } })
  const directory = await deployDirectory(anvil, admin)
  const start = () =>
    rig.start({
      DREX_TESTNET_RPC_URLS: node.url,
      DREX_TESTNET_TOKEN: admin.token,
      DREX_TESTNET_DIRECTORY: directory,
      DREX_TESTNET_CONFIRMATIONS: '2',
      DREX_TESTNET_BLOCK_TIME_MS: String(blockTimeMs),
      DREX_RESEND_MS: '300',
      WEBHOOK_ALLOWED_TARGETS: '127.0.0.1',
    })
  await start()
  // What nobody takes is not written.
  const endpoint = { url: 'http://127.0.0.1:1/', events: ['drex.*'] }
  expect((await rig.call('POST', '/v1/webhooks', endpoint)).status).toBe(201)
  const [seller, buyer] = [await walletOf(rig, admin), await walletOf(rig, admin)]
  const bond = await deployBond(admin, [seller, buyer])
  const contract = await deployDelivery(admin, admin.token, bond)
  const miner = createMiner(anvil)
  // No reorganisation takes back what was set up.
  for (let i = 0; i <= reorganisedMax; i++) await demand(anvil, 'evm_mine')
  miner.begin()
  lieAtRandom(node, pick)
  return {
    admin,
    anvil,
    bond,
    contract,
    database,
    miner,
    node,
    rig,
    seller,
    buyer,
    start,
    /** Cents of the price of each operation, which are ten times its bonds. */
    prices: new Map<bigint, bigint>(),
    async stop() {
      await miner.stop()
      await rig.stop()
      await node.stop()
      await anvil.stop()
      await database.close()
    },
  }
}

/** Asks for deliveries and a lien, kills the gateway meanwhile, and asks again by the same keys. */
const killAmid = async (drill: Drill, kill: number, pick: Pick): Promise<void> => {
  const { rig, miner, start } = drill
  const asks = asksOf(drill, kill, pick)
  const answers = Promise.all(asks.map((each) => attempt(rig, each)))
  await Bun.sleep(pick(killWithinMs))
  if (pick(2) === 0) miner.reorganise(1 + pick(reorganisedMax))
  await rig.kill()
  await answers
  await start()
  // Lies make refusals, too.
  for (const each of asks) await until(() => attempt(rig, each), settleMs, each.key)
  await actSomewhere(rig, pick)
  if (pick(2) === 0) miner.reorganise(1 + pick(reorganisedMax))
}

const asksOf = ({ contract, seller, buyer, prices }: Drill, kill: number, pick: Pick) => {
  const asks: Ask[] = []
  for (let i = 0; i < deliveriesPerKill; i++) {
    const number = BigInt(1 + kill * deliveriesPerKill + i)
    const bonds = 1 + pick(50)
    prices.set(number, BigInt(bonds) * 1_000n)
    const terms = {
      contract,
      operation_id: String(number),
      bond: ltn,
      unit_price: '1000.00000000',
      amount: `0.${String(bonds).padStart(2, '0')}`,
    }
    const sides = [
      { ...terms, part: 'seller', wallet: seller, counterparty: buyer },
      { ...terms, part: 'buyer', wallet: buyer, counterparty: seller },
    ]
    // Half of the operations are commanded by one side alone.
    const only = pick(4)
    for (const body of only < 2 ? [sides[only]!] : sides) {
      asks.push({ key: `d-${number}-${body.part}`, path: '/v1/drex/deliveries', body })
    }
  }
  const [owner_wallet, beneficiary] = pick(2) === 0 ? [seller, buyer] : [buyer, seller]
  const amount = `${1 + pick(500)}.00`
  const body = { owner_wallet, beneficiary, amount, expiry: '2099-01-01T00:00:00Z' }
  return [...asks, { key: `l-${kill}`, path: '/v1/drex/liens', body }]
}

/** @returns whether it is taken */
const attempt = async (rig: Rig, { key, path: at, body }: Ask): Promise<boolean> => {
  try {
    return (await rig.call('POST', at, body, { 'Idempotency-Key': key })).status === 202
  } catch {
    return false
  }
}

/** Pledges more to a lien, or takes back a command that waits; a refusal is an answer. */
const actSomewhere = async (rig: Rig, pick: Pick): Promise<void> => {
  const listed = async (kind: string, status: string) => {
    const { json } = await rig.call('GET', `/v1/drex/${kind}?status=${status}`)
    return ((json as Record<string, unknown>)[kind] ?? []) as readonly Record<string, string>[]
  }
  for (const { lien_id } of await listed('liens', 'active')) {
    const body = { act: 'pledge', amount: `${1 + pick(20)}.00` }
    if (pick(2) === 0) await rig.call('POST', `/v1/drex/liens/${lien_id}/acts`, body)
  }
  for (const { delivery_id } of await listed('deliveries', 'commanded')) {
    const body = { reason: 'no more' }
    if (pick(3) === 0) await rig.call('POST', `/v1/drex/deliveries/${delivery_id}/cancel`, body)
  }
}

/** Keeps the statuses that are told, in their order. */
const keepTold = async ({ sql }: TestDatabase): Promise<void> => {
  await sql`create table told (subject text, sequence bigint, status text)`
  await sql`
    create function keep_told() returns trigger language plpgsql as $$
      begin
        insert into told values (new.subject, new.sequence, new.data::jsonb->>'status');
        return new;
      end $$`
  await sql`
    create trigger keep_told before insert on webhook_events
      for each row execute function keep_told()`
}

const walletOf = async (rig: Rig, admin: Admin): Promise<Hex> => {
  const { json } = await rig.call('POST', '/v1/wallets', { type: 'managed', label: 'party' })
  const address = (json as { readonly address: string }).address.toLowerCase() as Hex
  await admin.currency('enableAccount', address)
  await admin.currency('mint', address, heldCents)
  return address
}

/** Has what admits the contracts of liens to the currency. */
const deployDirectory = async (anvil: Anvil, admin: Admin): Promise<Hex> => {
  const abi = new Interface(directoryArtifact.abi)
  const terms = abi.encodeDeploy([admin.token, adminAddress, 100_000n])
  const directory = (await admin.send(undefined, directoryArtifact.bytecode + terms.slice(2)))!
  const data = abi.encodeFunctionData('addressDiscovery', [hashOf('RealDigitalEnableAccount')])
  const found = String(await demand(anvil, 'eth_call', { to: directory, data }, 'latest'))
  await admin.currency('grantRole', hashOf('ACCESS_ROLE'), `0x${found.slice(26)}`)
  return directory
}

const demand = async (anvil: Anvil, method: string, ...params: readonly unknown[]) => {
  const outcome = await anvil.request(method, params)
  if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
  return outcome.result
}

/** Makes blocks, and takes some back when it is told to: one after the other, since anvil does not do both at once. */
const createMiner = (anvil: Anvil) => {
  let depth = 0
  let isStopped = false
  let running = Promise.resolve()
  const run = async (): Promise<void> => {
    while (!isStopped) {
      const blocks = depth
      depth = 0
      if (blocks > 0) await demand(anvil, 'anvil_reorg', blocks, [])
      await demand(anvil, 'evm_mine')
      await Bun.sleep(blockTimeMs)
    }
  }
  return {
    begin() {
      running = run()
    },
    reorganise(blocks: number) {
      depth = blocks
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}

/** Every transaction has ended, and what contracts told until then was read, which others do. */
const settled = async ({ anvil, database: { sql } }: Drill): Promise<void> => {
  await until(
    async () => {
      const [open] = await sql<{ count: number }[]>`
        select (select count(*) from drex_agreements where status = 'pending')::int
          + (select count(*) from drex_transactions
             where status not in ('confirmed', 'reverted', 'failed', 'cancelled'))::int as count`
      return open?.count === 0
    },
    settleMs,
    'every step ended',
  )
  const head = Number(await demand(anvil, 'eth_blockNumber'))
  await until(
    async () => {
      const [read] = await sql<{ last: string | null }[]>`
        select max(block_number) as last from drex_agreement_positions`
      return Number(read?.last ?? 0) >= head
    },
    settleMs,
    'what contracts told was read',
  )
}

const view = async (
  { anvil }: Drill,
  to: Hex,
  abi: Interface,
  name: string,
  ...args: readonly unknown[]
) => {
  const data = abi.encodeFunctionData(name, args)
  return abi.decodeFunctionResult(
    name,
    String(await demand(anvil, 'eth_call', { to, data }, 'latest')),
  )
}

const numberOf = async (...of: Parameters<typeof view>): Promise<bigint> => (await view(...of))[0]

/** In the order of the contract. */
const statuses = ['failed', 'commanded', 'settled', 'cancelled']

const operationOf = (drill: Drill, number: bigint) =>
  view(drill, drill.contract, deliveryAbi, 'operations', number)

const expectDeliveries = async (drill: Drill): Promise<void> => {
  const rows = await drill.database.sql<{ number: string; wallet: Hex; status: string }[]>`
    select terms->>'number' as number, wallet, status from drex_agreements
    where kind = 'delivery' order by id`
  for (const { number, wallet, status } of rows) {
    const operation = await operationOf(drill, BigInt(number))
    const isFirst = String(operation['first']).toLowerCase() === wallet
    const there = statuses[Number(operation['status'])]!
    // After a withdrawal the contract refuses the other side.
    const wanted = there === 'cancelled' && !isFirst ? 'failed' : there
    expect([number, wallet, status]).toEqual([number, wallet, wanted])
  }
}

/** @returns what each wallet has in liens, which tell it and have it */
const pledged = async (drill: Drill): Promise<ReadonlyMap<Hex, bigint>> => {
  const liens = await drill.database.sql<
    { contract: Hex; wallet: Hex; status: string; pledged: string }[]
  >`
    select contract, wallet, status, state->>'pledged' as pledged from drex_agreements
    where kind = 'lien'`
  expect(liens.length).toBe(kills)
  const sums = new Map<Hex, bigint>()
  const abi = new Interface(lienArtifact.abi)
  for (const { contract, wallet, status, pledged: told } of liens) {
    const sum = BigInt(told)
    expect([
      status,
      await numberOf(drill, contract, abi, 'pledged'),
      await numberOf(drill, drill.admin.token, currencyAbi, 'balanceOf', contract),
    ]).toEqual(['active', sum, sum])
    sums.set(wallet, (sums.get(wallet) ?? 0n) + sum)
  }
  return sums
}

/** Bonds and money have changed hands together, at the price; allowances are those of purchases that wait. */
const expectMoney = async (drill: Drill, inLiens: ReadonlyMap<Hex, bigint>): Promise<void> => {
  const { admin, bond, buyer, contract, prices, seller, database } = drill
  let paid = 0n
  let allowed = 0n
  for (const [number, cents] of prices) {
    const there = statuses[Number((await operationOf(drill, number))['status'])]
    if (there === 'settled') paid += cents
    const [waiting] = await database.sql`
      select from drex_agreements where kind = 'delivery' and part = 'buyer'
        and terms->>'number' = ${String(number)} and status = 'commanded'`
    if (waiting !== undefined) allowed += cents
  }
  const money = (name: string, ...args: readonly Hex[]) =>
    numberOf(drill, admin.token, currencyAbi, name, ...args)
  expect({
    seller: await money('balanceOf', seller),
    buyer: await money('balanceOf', buyer),
    allowed: await money('allowance', buyer, contract),
    bonds: await numberOf(drill, bond, bondAbi, 'balanceOf', buyer, 1n),
  }).toEqual({
    seller: heldCents + paid - (inLiens.get(seller) ?? 0n),
    buyer: heldCents - paid - (inLiens.get(buyer) ?? 0n),
    allowed,
    bonds: paid / 1_000n,
  })
}

const expectTold = async ({ database: { sql } }: Drill): Promise<void> => {
  const rows = await sql<{ id: string; status: string; told: string | null }[]>`
    select id, status, (
      select told.status from told where subject = a.id order by sequence desc limit 1
    ) as told from drex_agreements a order by id`
  for (const { id, status, told } of rows) expect([id, told]).toEqual([id, status])
}
