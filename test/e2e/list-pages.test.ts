/** What lists of cards, transfers, charges, recurrences, Pix received and the audit log read, behind many rows of each. */
import { listTransactions } from '#src/cards/transactions/store.ts'
import { listTransfers } from '#src/drex/transfers/store.ts'
import { listCharges } from '#src/pix/charges/store.ts'
import { fillAgreements, listCollections } from '#src/pix/collections/store.ts'
import { listLocations } from '#src/pix/locations/store.ts'
import { listPix } from '#src/pix/received/store.ts'
import { listRecurrenceLocations, listRecurrences } from '#src/pix/recurrences/store.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { AuditFilter } from '#src/platform/http/audit/domain.ts'
import { listAudit } from '#src/platform/http/audit/store.ts'
import { anyAudit, anyTransaction, anyTransfer, listed } from '../support/list-filters.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 25_000
/** Each row of a list may lie on pages of its own; the few of the short run lie close together. */
const pagesMax = isLong ? 16 * listed : 150
/** As many as a page holds are read of each merchant that is asked for, in each status. */
const merchantPagesMax = isLong ? 16 * listed : 400
/** A transfer lies beside its transaction. */
const transferPagesMax = isLong ? 16 * listed : 600
/** A list that counts looks at up to ten thousand and one rows. */
const countPagesMax = isLong ? 16_000 : 200

const budgetOf = (text: string): number => {
  if (text.startsWith('select count(*)')) return countPagesMax
  // Whatever the time that is asked for, the charges of each recurrence of the debtor are looked for.
  if (/from pix_recurrences\s+where account.*from pix_collections/s.test(text)) {
    return countPagesMax
  }
  if (text.includes('card_transactions') && text.includes('lateral')) return merchantPagesMax
  return text.includes('drex_transfers') ? transferPagesMax : pagesMax
}
/** There are this many rows of a rare kind, spread over all. */
const rare = 20

const start = '2026-01-01T00:00:00Z'
const hour = {
  from: new Date(start),
  to: new Date('2026-01-01T01:00:00Z'),
  page: 0,
  perPage: listed,
}
/** What is looked up one by one. */
const minutes = { ...hour, to: new Date('2026-01-01T00:10:00Z') }
const ever = { ...hour, to: new Date('2027-01-01T00:00:00Z') }

const seen = { account: 'a', networks: ['drex_testnet'] } as const
const charges = {
  kind: 'cob',
  status: undefined,
  debtorTaxId: undefined,
  isShown: undefined,
  batchId: undefined,
} as const
const recurrences = {
  status: undefined,
  debtorTaxId: undefined,
  isShown: undefined,
  agreement: undefined,
}
const collections = {
  recurrenceId: undefined,
  debtorTaxId: undefined,
  status: undefined,
  agreement: undefined,
}
const noLocation = { isUsed: undefined, agreement: undefined }
const received = {
  txid: undefined,
  hasTxid: undefined,
  hasReturns: undefined,
  payerTaxId: undefined,
}

const work = async (sql: Client): Promise<void> => {
  for (const more of [
    {},
    { merchantId: 'm7' },
    { merchantIds: ['m7', 'm8'] },
    { reference: 'r700' },
    { rrn: '700' },
    { needsAttention: true },
    { status: 'captured' },
    { status: 'authorized' },
    { status: 'authorized', needsAttention: true },
    { status: 'authorized', needsAttention: true, beforeId: 'txn_z' },
    { status: 'declined' },
    { status: 'voided' },
    { status: 'pending' },
    { merchantId: 'large' },
    { merchantId: 'foreign' },
    { merchantIds: ['foreign', 'foreign2'] },
    ...(['authorized', 'declined', 'voided'] as const).flatMap((status) => [
      { status, merchantId: 'm7' },
      { status, merchantId: 'large' },
      { status, merchantId: 'foreign' },
      { status, merchantIds: ['m7', 'm8', 'large', 'foreign'] },
    ]),
    { account: 'nobody' },
    { account: 'nobody', merchantId: 'large' },
    { account: 'nobody', status: 'authorized' },
    { status: 'authorized', reference: 'r700' },
    { status: 'authorized', rrn: '700' },
    { from: hour.from, to: hour.to, amountFrom: 700n, amountTo: 700n },
  ] as const) {
    await listTransactions(sql, { ...anyTransaction, ...more })
  }
  for (const more of [
    {},
    { wallet: '0xrare' },
    { wallet: '0xall' },
    { reference: 'r700' },
    { batch: 'b7' },
    { hash: '0x700' },
    { status: 'confirmed' },
    { wallet: '0xrare', status: 'confirmed' },
    { status: 'failed' },
    { status: 'pending' },
    { status: 'failed', beforeId: 'trf_1' },
    { from: hour.from, to: hour.to, amountFrom: '7', amountTo: '7' },
  ] as const) {
    await listTransfers(sql, { ...anyTransfer, ...more }, seen)
  }
  for (const time of [hour, ever]) {
    for (const more of [
      {},
      { status: 'CONCLUIDA' },
      { debtorTaxId: '7' },
      { isShown: true },
      { batchId: 7 },
    ] as const) {
      await listCharges(sql, 'a', { ...charges, ...time, ...more })
    }
    for (const more of [
      {},
      { status: 'CANCELADA' },
      { debtorTaxId: '7' },
      { debtorTaxId: '7', status: 'CANCELADA' },
      { agreement: 'c7' },
      { isShown: true },
    ] as const) {
      await listRecurrences(sql, 'a', { ...recurrences, ...time, ...more })
    }
    for (const more of [
      {},
      { status: 'CONCLUIDA' },
      { recurrenceId: 'R700' },
      { recurrenceId: 'R700', status: 'CONCLUIDA' },
      { debtorTaxId: '7' },
      { debtorTaxId: '7', agreement: 'c7' },
      { agreement: 'c7' },
    ] as const) {
      await listCollections(sql, 'a', { ...collections, ...time, ...more })
    }
    await fillAgreements(sql, listed)
    for (const more of [
      {},
      { txid: 't700' },
      { hasTxid: true },
      { hasTxid: false },
      { hasReturns: true },
      { payerTaxId: '7' },
    ]) {
      await listPix(sql, 'a', { ...received, ...time, ...more })
    }
  }
  for (const time of [hour, ever]) {
    for (const more of [{}, { kind: 'cobv' as const }, { isUsed: true }]) {
      await listLocations(sql, 'a', { kind: undefined, isUsed: undefined, ...time, ...more })
    }
  }
  for (const time of [minutes, ever]) {
    for (const more of [{ isUsed: true }, { isUsed: false }, { agreement: 'c7' }]) {
      await listRecurrenceLocations(sql, 'a', { ...noLocation, ...time, ...more })
    }
  }
  const asked: readonly AuditFilter[] = [
    anyAudit,
    { ...anyAudit, actor: 'k7' },
    { ...anyAudit, object: 'o700' },
    { ...anyAudit, action: 'cards.resolve' },
  ]
  for (const filter of asked) {
    await listAudit(sql, filter, { limit: listed, before: undefined })
  }
}

const at = `timestamptz '${start}' + n * interval '20 seconds'`
const idOf = `lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0')`
const isRare = `n % ${stored / rare} = 0`
const numbers = `generate_series(1, ${stored}) n`

holdPageBudgets<undefined>({
  absent: undefined,
  isAnalyzed: true,
  store: async (sql) => {
    await sql.unsafe(`
      set local statement_timeout = 0;
      insert into card_transactions (id, status, network, brand, card_token, amount_cents, currency, merchant_id,
        reference, installments, stan, rrn, transmission, needs_attention, account, created_by, created_at, updated_at)
      select 'txn_' || ${idOf}, case when ${isRare} then 'declined' when n % 2 = 0 then 'authorized' else 'captured' end, 'neta', 'visa', 't', n % 1000, 'BRL',
        case n % 3 when 0 then 'large' when 1 then 'foreign' else 'm' || n % 1000 end, 'r' || n, 1,
        lpad((n % 999999)::text, 6, '0'), n, n, ${isRare}, case when n % 3 = 1 then 'b' else 'a' end, 'k', ${at}, ${at}
      from ${numbers};
      insert into card_stan_blocks (network, next) values ('neta', 1);
      insert into drex_transactions (id, network, sender, kind, subject, status, data, hash, nonce, created_by, created_at, expires_at)
      select 'txn_' || ${idOf}, 'drex_testnet', 's', 'transfer', 'trf_' || ${idOf},
        case when ${isRare} then 'failed' else 'confirmed' end, '0x', '0x' || n, n, 'k', ${at}, ${at} from ${numbers};
      insert into drex_transfers (id, transaction_id, network, token, from_wallet, to_wallet, amount, metadata, reference,
        batch, account, created_by, created_at)
      select 'trf_' || ${idOf}, 'txn_' || ${idOf}, 'drex_testnet', '0x', case when ${isRare} then '0xrare' else '0xall' end,
        '0xother', n % 1000 * 100, '{}', 'r' || n, 'b' || n / 100, 'a', 'k', ${at} from ${numbers};
      insert into pix_charges (id, account, tax_id, txid, status, key, original_cents, expires_seconds, debtor_tax_id,
        content, is_shown, created_at)
      select (${idOf})::uuid, 'a', '1', 't' || n, case when ${isRare} then 'CONCLUIDA' else 'ATIVA' end, 'k', 1, 1,
        (n % 1000)::text, '{}', ${isRare}, ${at} from ${numbers};
      insert into pix_locations (account, token, kind, charge_id, created_at)
      select 'a', md5(n::text), case when ${isRare} then 'cobv' else 'cob' end, case when ${isRare} then (${idOf})::uuid end, ${at}
      from ${numbers};
      insert into pix_recurrence_locations (id, account, token, created_at) select n, 'a', md5(n::text), ${at} from ${numbers};
      insert into pix_recurrences (id, account, tax_id, receiver_name, agreement, status, debtor_tax_id, terms, history,
        location_id, created_at)
      select 'R' || n, 'a', '1', 'A', 'c' || n % 1000, case when ${isRare} then 'CANCELADA' else 'APROVADA' end,
        (n % 1000)::text, '{}', '[]', case when ${isRare} then n end, ${at} from ${numbers};
      insert into pix_collections (account, txid, recurrence_id, agreement, tax_id, status, due_on, cycle, amount_cents, content, history, created_at)
      select 'a', 't' || n, 'R' || n, 'c' || n % 1000, '1', case when ${isRare} then 'CONCLUIDA' else 'ATIVA' end, '2026-03-20', 0, 1,
        '{}', '[]', ${at} from ${numbers};
      insert into pix_received (end_to_end_id, account, txid, amount_cents, payer_tax_id, status, received_at, settled_at, has_returns)
      select 'E' || n, 'a', case when not (${isRare}) then 't' || n end, 1, (n % 1000)::text, 'LIQUIDADO', ${at}, ${at}, ${isRare} from ${numbers};
      insert into audit_log (id, actor, action, object, outcome)
      select (${idOf})::uuid, 'k' || n % 1000, case when ${isRare} then 'cards.resolve' else 'spi.send' end, 'o' || n, 'x' from ${numbers};`)
    return undefined
  },
  work,
  isTooDear: ({ text, pagesPerCall }) => pagesPerCall > budgetOf(text),
})
