/** Rows of everything that the console shows. Each free text in them does harm unless a page shows it as text. */
import { expect } from 'bun:test'
import { deadLetterHeaders } from '#src/platform/broker/index.ts'
import { insertMessages } from '#src/spi/messages/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { message } from '../spi/messages/support.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import type { TestDatabase } from '../support/database.ts'
import { pacs008 } from '../support/messages.ts'
import { issueCertificate } from '../support/pki.ts'
import { until } from '../support/until.ts'
import { apiOf, seedAgreements, seedCharges, seedDirectory } from './seeds.ts'
import { hostile, type SeenConsole } from './visit.ts'

/** With a sign that turns the order of the text after it, and a word too long for a line. */
export const harmful = `${hostile}\u202e${'W'.repeat(600)}`

/** The texts of people, counterparties and nodes by table: every page has to show them as text. */
const freeTexts: Readonly<Record<string, readonly string[]>> = {
  api_keys: ['name'],
  audit_log: ['action', 'actor', 'object', 'outcome'],
  broker_dead_letters: ['key'],
  card_transactions: [
    ...['merchant_id', 'terminal_id', 'reference', 'auth_code', 'response_code', 'rrn'],
  ],
  card_unmatched_advices: ['rrn'],
  dict_claims: ['refusal', 'counterparty', 'cancel_reason'],
  dict_disputes: ['refusal', 'other', 'reason'],
  drex_agreements: ['reference'],
  drex_agreement_events: ['mismatch'],
  drex_contracts: ['label', 'template', 'deployer'],
  drex_operations: ['reference', 'created_by'],
  drex_transactions: ['error', 'subject', 'created_by'],
  drex_transfers: ['reference', 'created_by', 'approved_by'],
  drex_wallets: ['label', 'key_name', 'created_by'],
  drex_watches: ['label', 'created_by'],
  pix_received: ['info', 'refusal'],
  pix_returns: ['description', 'reason'],
  spi_history: ['detail'],
  spi_messages: ['biz_msg_idr', 'error_code', 'resource_id'],
  spi_transactions: ['reason', 'refusal'],
  webhook_attempts: ['answer', 'error_class'],
  webhook_endpoints: ['url', 'disabled_reason'],
  webhook_events: ['type', 'subject'],
}

/** JSON with such texts, by table. */
const documents: Readonly<Record<string, string>> = {
  dict_claims: 'content',
  dict_disputes: 'content',
  dict_entries: 'content',
  drex_agreements: 'terms',
  drex_contracts: 'abi',
  pix_charges: 'content',
  pix_collections: 'content',
  pix_recurrences: 'terms',
  pix_recurrence_requests: 'recipient',
}

/** Whether the program chose the text (a time, an amount, an identifier, a name): it has to stay. */
const isChosen = (text: string): boolean =>
  /^[\d.:TZ+-]*$|^[A-Z_0-9]+$|^0x[0-9a-f]*$|^u?int\d*$|^address$|^bool$|^string$|^bytes\d*$|^function$|^event$|^view$|^nonpayable$|^pure$/.test(
    text,
  )

const harmed = (value: unknown): unknown => {
  if (typeof value === 'string') return isChosen(value) ? value : harmful
  if (Array.isArray(value)) return value.map(harmed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, harmed(one)]))
}

/** Puts the harmful text into every free text that is stored. */
export const harmEverything = async (sql: TestDatabase['sql']): Promise<void> => {
  for (const [table, column] of Object.entries(documents)) {
    const rows = await sql<{ place: string; content: unknown }[]>`
      select ctid::text as place, ${sql(column)} as content from ${sql(table)}`
    expect([table, rows.length > 0]).toEqual([table, true])
    for (const { place, content } of rows) {
      const isText = typeof content === 'string'
      const json = harmed(isText ? JSON.parse(content) : content)
      const after = isText ? JSON.stringify(json) : sql.json(json as never)
      await sql`update ${sql(table)} set ${sql(column)} = ${after} where ctid = ${place}::tid`
    }
  }
  for (const [table, columns] of Object.entries(freeTexts)) {
    for (const column of columns) {
      const { count } = await sql`update ${sql(table)} set ${sql(column)} = ${harmful}`
      expect([table, column, count > 0]).toEqual([table, column, true])
    }
  }
}

/** Lists and forms, which exist whatever is stored. */
const screens = {
  payments: [
    ...['', '/payments?rail=spi', '/payments?rail=cards', '/payments?rail=drex', '/cards'],
    '/attention',
  ],
  operation: [
    ...['/webhooks', '/certificates', '/keys', '/audit'],
    ...['explain', 'qr', 'message', 'samples'].map((tool) => `/tools?tool=${tool}`),
  ],
  'digital currency': [
    ...['wallets', 'contracts', 'deliveries', 'liens', 'operations', 'networks', 'lanes'].map(
      (list) => `/currency?show=${list}`,
    ),
    ...['transfer', 'contract', 'operation', 'delivery', 'lien'].map(
      (thing) => `/currency/new/${thing}`,
    ),
  ],
  charges: ['cob', 'cobv', 'pix', 'rec', 'cobr', 'solicrec', 'locrec'].map(
    (kind) => `/charges?show=${kind}&to=2099-12-31`,
  ),
  directory: [
    '/pix-keys',
    ...['claims', 'infraction-reports', 'refunds'].map((list) => `/pix-keys?show=${list}`),
  ],
} as const

export type Area = keyof typeof screens
export const areas = Object.keys(screens) as Area[]

/** Stores one of everything. @returns the addresses of all pages in the console */
export const seedEverything = async (
  seen: SeenConsole,
  key: string,
): Promise<Readonly<Record<Area, readonly string[]>>> => {
  const api = apiOf(seen.url, key)
  const { issuer, database } = seen.gateway
  const { sql } = database
  const events = ['card.*', 'drex.*']
  const endpoint = await api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/', events })
  const card = await api(
    'POST',
    '/v1/transactions/authorize',
    authorizationBody('tok_visa_approved'),
  )
  await sql`update card_transactions set needs_attention = true`
  await sql`
    insert into card_unmatched_advices (network, mti, stan, transmission, rrn, amount_cents)
    values ('neta', '0220', '000123', '0130120000', 'x', 990)`
  const wallet = () => api('POST', '/v1/wallets', { type: 'managed', label: 'browser' })
  const [from, to] = [await wallet(), await wallet()]
  await issuer.fund(from.address as Hex, 100n)
  const transfer = await api('POST', '/v1/drex/transfers', {
    from_wallet: from.address,
    to_wallet: to.address,
    amount: '1.00',
  })
  const { cert: content } = issueCertificate(hostile, {
    notAfter: new Date(Date.now() + 5 * 86_400_000),
  })
  await api('POST', '/v1/certificates', {
    ispb: '12345678',
    type: 'PIC',
    format: 'pem',
    content,
  })
  const xml = pacs008().replace('Pedido 42', hostile.replaceAll('<', '&lt;'))
  const stored = message({ xml: Buffer.from(xml) })
  await insertMessages(sql, [stored])
  const headers = {
    [deadLetterHeaders.errorCode]: hostile,
    [deadLetterHeaders.topic]: 'spi.outbound',
  }
  await sql`insert into broker_dead_letters (key, headers, value) values ('k', ${sql.json(headers)}, 'x')`
  const attempts = () => sql<{ id: string }[]>`select delivery_id as id from webhook_attempts`
  await until(async () => (await attempts()).length > 0)
  const [attempt] = await attempts()
  const [contract] = await sql`select address from drex_contracts limit 1`
  const agreements = await seedAgreements(sql)
  const charges = await seedCharges(seen.gateway, key)
  const directory = await seedDirectory(seen, key)
  return {
    payments: [
      ...screens.payments,
      `/payments/cards/${card.id}`,
      ...[`/payments/spi/${stored.id}`, `/payments/drex/${transfer.transfer_id}`],
    ],
    operation: [
      ...screens.operation,
      `/webhooks/${endpoint.id}`,
      `/webhooks/${endpoint.id}/${attempt?.id}`,
    ],
    'digital currency': [
      ...screens['digital currency'],
      `/currency/wallets/${from.wallet_id}`,
      `/currency/contracts/${contract?.['address']}`,
      ...agreements,
    ],
    charges: [...screens.charges, ...charges],
    directory: [...screens.directory, ...directory],
  }
}
