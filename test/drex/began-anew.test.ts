/** A network that began anew: nothing of the old one is taken for the new one's, whatever table it is in. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { gatewayAccount } from '../../src/drex/contracts/store.ts'
import { resetNetwork } from '../../src/drex/engine/ending-store.ts'
import { createTestDatabase } from '../support/database.ts'

const { sql, close } = await createTestDatabase(2)
afterAll(close)

const network = 'drex_testnet'
const oldName = `${network}@0xold`
const genesis = `0x${'ab'.repeat(32)}` as const

/** What is compared with the chain before it counts, or is nobody's network in particular. */
const kept = new Map([
  ['drex_network_state', 'tells which network it is now'],
  ['drex_tokens', 'replaced as soon as the token is asked'],
  ['drex_low_balances', 'compared with the balances at every look'],
])

type Column = { readonly table: string; readonly name: string; readonly type: string }

/** The columns that need a value, of all tables that tell of a network. */
const columns = await sql<Column[]>`
  select table_name as "table", column_name as name, data_type as type
  from information_schema.columns c
  where table_schema = 'public' and table_name like 'drex\\_%' and is_nullable = 'NO' and column_default is null
    and exists (select from information_schema.columns n
      where n.table_schema = 'public' and n.table_name = c.table_name and n.column_name = 'network')`
const tables = [...Map.groupBy(columns, ({ table }) => table)]

const filling = ({ name, type }: Column) => {
  if (name === 'network') return network
  if (name === 'status') return 'broadcast'
  if (name === 'genesis_hash') return '0xold'
  if (type === 'jsonb') return {}
  if (type === 'timestamp with time zone') return new Date()
  return type === 'text' ? 'x' : 1
}

const fill = async (): Promise<void> => {
  for (const [table, own] of tables) {
    const row = Object.fromEntries(own.map((column) => [column.name, filling(column)]))
    await sql`insert into ${sql(table)} ${sql(row)}`
  }
  await sql`update drex_transactions set nonce = 1, hash = ${genesis}`
}

const reset = (): Promise<unknown> =>
  sql.begin((tx) => resetNetwork(tx, network, genesis, { code: 'NETWORK_RESET', message: 'x' }))

beforeEach(async () => {
  for (const [table] of tables) await sql`truncate ${sql(table)}`
  await sql`truncate drex_stream_events`
})

test('no table keeps what was on the old network under the name of the new one', async () => {
  await fill()
  await reset()
  const left: string[] = []
  for (const [table] of tables) {
    const rows = await sql`select 1 from ${sql(table)} where network = ${network}`
    if (rows.length > 0) left.push(table)
  }
  expect(left.toSorted()).toEqual([...kept.keys()].toSorted())
  for (const table of ['drex_transactions', 'drex_transfers', 'drex_operations']) {
    expect([...(await sql`select network from ${sql(table)}`)]).toEqual([{ network: oldName }])
  }
})

test('what was never on the old network goes on', async () => {
  await fill()
  await sql`update drex_transactions set status = 'pending', nonce = null, hash = null`
  await reset()
  for (const table of ['drex_transactions', 'drex_transfers', 'drex_operations']) {
    expect([...(await sql`select network from ${sql(table)}`)]).toEqual([{ network }])
  }
})

test('a stream of a currency of the settings tells of the new network from its first block', async () => {
  await fill()
  await sql`update drex_contracts set account = ${gatewayAccount}`
  await sql`update drex_streams set block_number = 900, block_hash = '0x9', anchors = '[{"number":800,"hash":"0x8"}]'`
  await sql`
    insert into drex_stream_events (stream_id, block_number, block_hash, log_index, data)
    values ('x', 900, '0x9', 0, '{}')`
  await reset()
  const streams = await sql`
    select network, block_number::int as block, block_hash as hash, anchors from drex_streams`
  expect([...streams]).toEqual([{ network, block: 0, hash: null, anchors: [] }])
  expect(await sql`select from drex_stream_events`).toHaveLength(0)
})
