/** What many ask for again and again: the server plans it for the first few, and keeps that plan for the session. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listTransactions } from '#src/cards/transactions/store.ts'
import { listClaims } from '#src/dict/claims/store.ts'
import { listDisputes } from '#src/dict/disputes/store.ts'
import { listAgreements } from '#src/drex/agreements/store.ts'
import { listContracts } from '#src/drex/contracts/store.ts'
import { listTransfers } from '#src/drex/transfers/store.ts'
import { listWallets } from '#src/drex/wallets/store.ts'
import { listAudit } from '#src/platform/http/audit/store.ts'
import { findMessage, listMessages } from '#src/spi/messages/queries.ts'
import { listEntries, listReports } from '#src/spi/reports/store.ts'
import { createEndpointStore } from '#src/webhooks/store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { anyAudit, anyTransaction, anyTransfer } from '../../support/list-filters.ts'

/** The server compares so many plans for known values with one for any. */
const plannedAnew = 5
const asked = 2 * plannedAnew
const stored = 2_000
const { account, limit } = anyTransaction

let database: TestDatabase

beforeAll(async () => {
  // One session, whose statements the server tells of.
  database = await createTestDatabase(1)
  // A page of an empty table costs the same however many rows it has.
  const { sql } = database
  await sql`
    insert into audit_log (id, actor, action, object, outcome)
    select (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, 'a', 'b', 'c', 'd'
    from generate_series(1, ${stored}) n`
  await sql`
    insert into spi_messages (id, type, direction, status, transaction_count, signature, xml)
    select (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, 'pacs.008', 'INBOUND',
      'PROCESSED', 1, 'VALID', ''
    from generate_series(1, ${stored}) n`
  await sql`
    insert into card_transactions (id, status, network, brand, card_token, amount_cents, currency,
      merchant_id, installments, stan, rrn, transmission, account, created_by, created_at, updated_at)
    select 'txn_' || n, 'captured', 'visa', 'visa', 't', n, 'BRL', 'm', 1, n, n, n, ${account}, 'k',
      now(), now()
    from generate_series(1, ${stored}) n`
  await sql`analyze audit_log, spi_messages, card_transactions`
})

afterAll(() => database.close())

const disputes = {
  role: undefined,
  status: undefined,
  transactionId: undefined,
  needsPerson: false,
  limit,
  after: undefined,
} as const
const claims = { ...disputes, key: undefined }
const agreements = {
  kind: 'lien',
  status: undefined,
  part: undefined,
  beforeId: undefined,
  limit,
} as const
const visible = { account, networks: ['drex_mainnet'] as const, wallets: undefined }
const page = { limit, offset: 0, before: undefined }

const kept: Readonly<Record<string, (sql: TestDatabase['sql']) => Promise<unknown>>> = {
  messages: (sql) => listMessages(sql, {}, page),
  'messages of a type': (sql) => listMessages(sql, { type: 'pacs.008' }, page),
  'a message': (sql) => findMessage(sql, Bun.randomUUIDv7()),
  reports: (sql) => listReports(sql, limit),
  entries: (sql) => listEntries(sql, {}, limit),
  transactions: (sql) => listTransactions(sql, anyTransaction),
  'transactions of merchants': (sql) =>
    listTransactions(sql, { ...anyTransaction, merchantIds: ['m', 'n'] }),
  transfers: (sql) => listTransfers(sql, anyTransfer, visible),
  wallets: (sql) => listWallets(sql, account, '', limit),
  contracts: (sql) => listContracts(sql, account, undefined, limit),
  agreements: (sql) => listAgreements(sql, agreements, visible),
  claims: (sql) => listClaims(sql, claims),
  refunds: (sql) => listDisputes(sql, 'refund', disputes),
  'failures of an endpoint': (sql) => createEndpointStore(sql).healthOf(['whe_1'], 10_000),
  'the audit log': (sql) => listAudit(sql, anyAudit, { limit, before: undefined }),
}

test.each(Object.keys(kept))('%s', async (name) => {
  const { sql } = database
  await sql`deallocate all`.simple()
  for (let at = 0; at < asked; at++) await kept[name]?.(sql)
  const plans = await sql<{ statement: string; custom: bigint; generic: bigint }[]>`
    select statement, custom_plans as custom, generic_plans as generic
    from pg_prepared_statements where statement not like '%pg_prepared_statements%'`
  expect(plans.length).toBeGreaterThan(0)
  for (const { statement, custom, generic } of plans) {
    expect({ statement, custom }).toEqual({ statement, custom: BigInt(plannedAnew) })
    expect(Number(generic)).toBe(asked - plannedAnew)
  }
})
