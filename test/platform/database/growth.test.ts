/** Every table that grows is kept at its size by somebody, or is named here with the reason why not. */
import { afterAll, expect, setSystemTime, test } from 'bun:test'
import { createRetention } from '#src/cards/transactions/retention.ts'
import { forgetDrex } from '#src/drex/retention.ts'
import { forgetAudit } from '#src/platform/http/audit/feature.ts'
import { createIdempotencySweep } from '#src/platform/http/index.ts'
import { applyCrossed } from '#src/spi/messages/index.ts'
import { forgetMessages } from '#src/spi/messages/retention.ts'
import { forgetComparisons, forgetLookups } from '../../../src/dict/retention.ts'
import { forgetTokens } from '../../../src/pix/oauth/tokens.ts'
import { forgetEvents, forgetSequences } from '../../../src/webhooks/retention.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const reasons: Readonly<Record<string, string>> = {
  api_keys: 'people make them',
  card_business_days: 'a row for each network',
  card_link_keys: 'two or three of each network and use',
  card_stan_blocks: 'a row for each network',
  certificates: 'people import them',
  removed_certificates: 'people remove them; their numbers are given to no other',
  audit_links: 'the chain goes on from the hash of each, which is all that is kept of an old one',
  dict_claims: 'owners of keys ask about them for good',
  dict_claim_lists: 'a row for each role, of former versions',
  dict_disputes: 'they are why money went back',
  dict_lists: 'a row for each list that is polled',
  dict_entries: 'their check with the directory takes all that it has',
  drex_agreement_positions: 'a row for each network',
  drex_contracts: 'what was deployed stands on its chain for good',
  drex_holdings: 'a row for each wallet and token',
  drex_lanes: 'a row for each wallet',
  drex_low_balances: 'a row for each wallet, network and asset',
  drex_network_state: 'a row for each network',
  drex_positions: 'a row for each network',
  drex_streams: 'people make them',
  drex_stream_events: 'each look deletes what no reorganisation reaches',
  drex_tokens: 'a row for each token contract',
  drex_wallets: 'their keys hold money',
  drex_watches: 'people make them',
  pix_receivers: 'people make them',
  pix_charges: 'merchants look up what they charged; payments name them by their txid for good',
  pix_batches: 'merchants look up what they asked for',
  pix_batch_items: 'part of their batches',
  pix_charge_revisions: 'part of their charges',
  pix_locations: 'printed in QR codes, which nobody calls back',
  pix_recurrence_locations: 'printed in QR codes, which nobody calls back',
  pix_recurrences: 'merchants look up what payers agreed to',
  pix_recurrence_requests: 'part of their recurrences',
  pix_collections: 'merchants look up what they charged; payments name them for good',
  pix_collection_attempts: 'part of what was charged',
  pix_received: 'merchants look up what they were paid',
  pix_returns: 'part of what was received',
  job_leases: 'a row for each job',
  reference_lists: 'a row for each list',
  schema_migrations: 'a row for each migration',
  webhook_endpoints: 'people make them',
  spi_resends: 'the watch takes each within seconds',
  write_probes: 'its rows are never committed',
}
/** The broker keeps its own tables by its own retention. */
const ofBroker = /^(broker_|dlq)/

const old = new Date(Date.now() - 1_000 * 86_400_000)
const deps = { sql, days: 365, archiveDirectory: undefined, logger: quietLogger }
const uuid = Bun.randomUUIDv7('hex', old)
const hex = uuid.replaceAll('-', '')

/** An old row of each, and what deletes it. */
const rows: Readonly<Record<string, string>> = {
  audit_log: `insert into audit_log (id, actor, action, object, outcome) values ('${uuid}', 'k', 'spi.send', 'x', 'queued')`,
  card_transactions: `insert into card_transactions (id, status, network, brand, card_token, amount_cents, currency, merchant_id, installments, stan, rrn, transmission, created_by, created_at, updated_at)
    values ('txn_${hex}', 'declined', 'a', 'a', 't', 1, 'BRL', 'm', 1, '1', '1', '1', 'k', $1, $1)`,
  card_events: `insert into card_events (transaction_id, type, data, at) values ('txn_${hex}', 'x', '{}', $1)`,
  card_reversals: `insert into card_reversals (transaction_id, network, reverses, card_token, amount_cents, currency, original_mti, original_stan, original_transmission, rrn, merchant_id, status)
    values ('txn_${hex}', 'a', 'void', 't', 1, 'BRL', '0100', '1', '1', '1', 'm', 'confirmed')`,
  card_movements: `insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
    values ('a', '2020-01-01', 'BRL', 'debit', 1, 'txn_${hex}', '1', '1')`,
  card_reconciliations: `insert into card_reconciliations (network, day, currency, status, next_attempt_at, ended_at)
    values ('a', '2020-01-01', 'BRL', 'balanced', $1, $1)`,
  card_unmatched_advices: `insert into card_unmatched_advices (network, mti, stan, transmission, rrn, resolved_at) values ('a', '0620', '1', '1', '1', $1)`,
  drex_transfers: `insert into drex_transfers (id, transaction_id, network, token, from_wallet, to_wallet, amount, metadata, created_by, created_at)
    values ('trf_${hex}', 'txn_${hex}', 'n', '0x', 'a', 'b', 1, '{}', 'k', $1)`,
  drex_operations: `insert into drex_operations (id, kind, transaction_id, network, signer, params, account, created_by, created_at)
    values ('opr_${hex}', 'enable_account', 'txo_${hex}', 'n', 's', '{}', 'default', 'k', $1)`,
  drex_transactions: `insert into drex_transactions (id, network, sender, kind, subject, status, data, created_by, created_at, expires_at, settled_at)
    values ('txn_${hex}', 'n', 's', 'transfer', 'trf_${hex}', 'confirmed', '0x', 'k', $1, $1, $1),
      ('txo_${hex}', 'n', 's', 'call', 'opr_${hex}', 'confirmed', '0x', 'k', $1, $1, $1),
      ('gap_${hex}', 'n', 's', 'gap_fill', '', 'confirmed', '0x', 'k', $1, $1, $1),
      ('txd_${hex}', 'n', 's', 'command', 'dlv_${hex}', 'confirmed', '0x', 'k', $1, $1, $1)`,
  drex_agreements: `insert into drex_agreements (id, kind, status, network, wallet, part, terms, state, account, created_by, created_at, changed_at)
    values ('dlv_${hex}', 'delivery', 'settled', 'n', 's', 'seller', '{}', '{}', 'default', 'k', $1, $1)`,
  drex_agreement_events: `insert into drex_agreement_events (agreement_id, network, block_number, log_index, hash, name, args)
    values ('dlv_${hex}', 'n', 1, 0, '0x', 'TradeSettled', '{}')`,
  drex_attempts: `insert into drex_attempts (network, hash, transaction_id, kind, raw, max_fee, tip)
    values ('n', '0x1', 'txn_${hex}', 'bump', '0x', 1, 1), ('n', '0x2', 'gap_${hex}', 'bump', '0x', 1, 1)`,
  drex_corrections: `insert into drex_corrections (id, transaction_id, from_status, to_status, reason)
    values ('c1', 'txn_${hex}', 'confirmed', 'broadcast', '{}'), ('c2', 'gap_${hex}', 'confirmed', 'broadcast', '{}')`,
  drex_movements: `insert into drex_movements (id, network, token, wallet, side, counterparty, amount, total, block_number, block_hash, log_index, hash, booked_at)
    values ('mov_${hex}', 'n', '0x', 'w', 'in', 'c', 1, 1, 1, '0x', 0, '0x', $1)`,
  idempotency_keys: `insert into idempotency_keys (key, fingerprint, status, body, created_at) values ('k', 'f', 200, '', $1)`,
  dict_lookups: `insert into dict_lookups (end_to_end_id, account, salt, asked_digest, entry_digest, was_asked, created_at) values ('e', 'a', 's', 'd', 'd', true, $1)`,
  dict_comparisons: `insert into dict_comparisons (id, key_type, method, status, created_at, ended_at) values ('${uuid}', 'CPF', 'file', 'done', $1, $1)`,
  dict_differences: `insert into dict_differences (comparison_id, key) values ('${uuid}', 'ana@example.com')`,
  rate_buckets: `insert into rate_buckets (subject, tokens, at) values ('dict:x', 1, $1)`,
  pix_tokens: `insert into pix_tokens (hash, key_id, scopes, expires_at) values ('h', 'k', '{}', $1)`,
  spi_messages: `insert into spi_messages (id, type, direction, status, transaction_count, signature, xml, biz_msg_idr)
    values ('${uuid}', 'pacs.008', 'INBOUND', 'PROCESSED', 1, 'VALID', '', 'M1')`,
  spi_sendings: `insert into spi_sendings (message_id, xml) values ('${uuid}', '')`,
  spi_transactions: `insert into spi_transactions (message_id, position) values ('${uuid}', 0)`,
  spi_history: `insert into spi_history (message_id, position, status) values ('${uuid}', 0, 'PROCESSED')`,
  spi_message_keys: `insert into spi_message_keys (kind, key, message_id) values ('INBOUND:BizMsgIdr', 'M1', '${uuid}')`,
  spi_pending_answers: `insert into spi_pending_answers (message_id, reference, outcome, created_at) values ('${uuid}', 'R1', 'REJECTED', $1)`,
  spi_reports: `insert into spi_reports (id, request_id, report) values ('${uuid}', 'M1', 'balances')`,
  spi_entries: `insert into spi_entries (message_id, position, request_id, reference, outcome) values ('${uuid}', 0, 'M1', 'E1', 'matched')`,
  spi_recurrences: `insert into spi_recurrences (id, kind, key, state, created_by) values ('charge E1', 'charge', 'E1', 'scheduled', '${uuid}')`,
  spi_recurrence_steps: `insert into spi_recurrence_steps (recurrence_id, message_id, position, type, direction) values ('charge E1', '${uuid}', 0, 'pain.013', 'INBOUND')`,
  webhook_events: `insert into webhook_events (id, type, patterns, subject, sequence, data, created_at, published_at)
    values ('evt_${uuid}', 'pacs.008', '{}', 's', 1, '{}', $1, $1)`,
  webhook_deliveries: `insert into webhook_deliveries (id, event_id, endpoint_id, status) values ('d', 'evt_${uuid}', 'whk_1', 'delivered')`,
  webhook_attempts: `insert into webhook_attempts (delivery_id, at, duration_ms) values ('d', $1, 1)`,
  webhook_sequences: `insert into webhook_sequences (subject, last, updated_at) values ('s', 1, $1)`,
}

const tables = async (): Promise<readonly string[]> =>
  (
    await sql<{ name: string }[]>`
      select relname as name from pg_class
      where relkind in ('r', 'p') and not relispartition
        and relnamespace = current_schema()::regnamespace
      order by relname`
  ).map(({ name }) => name)

test('every table has a retention or a reason', async () => {
  const unknown = (await tables()).filter(
    (name) => !(name in rows) && !(name in reasons) && !ofBroker.test(name),
  )
  expect(unknown).toEqual([])
})

/** What is in these is about no person. */
const impersonal = new Set([
  ...['audit_links', 'job_leases', 'reference_lists', 'schema_migrations', 'write_probes'],
  ...['api_keys', 'certificates', 'removed_certificates', 'pix_tokens'],
  ...['dict_claim_lists', 'dict_comparisons', 'dict_lists'],
  ...['pix_batches', 'pix_locations', 'pix_recurrence_locations', 'pix_collection_attempts'],
  ...['webhook_endpoints', 'webhook_deliveries', 'webhook_attempts', 'webhook_sequences'],
])

/** The rows of `What is held`: whether each is of a table, and how long it is kept. */
const heldRows = async () => {
  const text = await Bun.file(new URL('../../../docs/lgpd.md', import.meta.url)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('| '))
  return lines.map((line) => {
    const [, , where = '', , kept = ''] = line.split('|')
    const names = [...where.matchAll(/`([a-z_]+)(…?)`/g)].map(([, name = '', more = '']) => ({
      holds: (table: string) => (more === '' ? table === name : table.startsWith(name)),
    }))
    return { kept, holds: (table: string) => names.some((one) => one.holds(table)) }
  })
}

test('what is about persons is told with how long it is kept, table by table', async () => {
  const held = await heldRows()
  const untold: string[] = []
  for (const table of await tables()) {
    const row = held.find((one) => one.holds(table))
    if ((row === undefined) !== impersonal.has(table)) untold.push(table)
    const isKept = table in reasons && !/^(?:spi|card|drex)_/.test(table)
    if (row !== undefined && isKept && !row.kept.includes('for ever')) {
      untold.push(`${table} is kept for ever`)
    }
  }
  expect(untold).toEqual([])
})

test('no reason and no row is of a table that is gone', async () => {
  const known = new Set(await tables())
  const named = [...Object.keys(rows), ...Object.keys(reasons)]
  expect(named.filter((name) => !known.has(name))).toEqual([])
})

test('what is old goes from every table that has a retention, by the clock of the database', async () => {
  await sql`insert into webhook_endpoints (id, url, events) values ('whk_1', 'https://a.example', '{}')`
  for (const [name, insert] of Object.entries(rows)) {
    await sql.unsafe(insert, insert.includes('$1') ? [old] : [])
    expect([name, (await sql`select from ${sql(name)}`).length > 0]).toEqual([name, true])
  }
  // By that of the process nothing would be old.
  setSystemTime(new Date(old.getTime() - 86_400_000))
  await forgetMessages(deps)
  await forgetAudit(deps)
  await forgetDrex(sql, deps.days)
  await forgetEvents(sql, deps.days)
  await forgetSequences(sql, deps.days)
  await forgetTokens(sql)
  await forgetLookups(sql)
  await forgetComparisons(sql, deps.days)
  await createRetention(deps).sweep()
  await sql.begin((tx) => applyCrossed(tx, { emitEvents: async () => {} }))
  await createIdempotencySweep({ sql, retentionHours: 1, logger: quietLogger }).sweep()
  setSystemTime()
  const full: string[] = []
  for (const name of Object.keys(rows)) {
    if ((await sql`select from ${sql(name)} limit 1`).length > 0) full.push(name)
  }
  expect(full).toEqual([])
})
