/** What the statements of charges read, on every engine at hand, whatever the plans were made of. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { ChargeTerms } from '../../src/pix/charges/domain.ts'
import { makeCharges } from '../../src/pix/charges/making.ts'
import { type ChargeFilter, findCharge, listCharges } from '../../src/pix/charges/store.ts'
import {
  attemptsAmong,
  findCollection,
  hasTooMany,
  listCollections,
  lockCollection,
  lockCollectionsOf,
} from '../../src/pix/collections/store.ts'
import { listLocations, locationsOf } from '../../src/pix/locations/store.ts'
import { itemsMax } from '../../src/pix/pages.ts'
import { presentedAt } from '../../src/pix/payloads/store.ts'
import { openWithin, pendingWithin } from '../../src/pix/received/pending.ts'
import {
  endReceived,
  listPix,
  lockNamed,
  lockReceived,
  pixOfCharges,
} from '../../src/pix/received/store.ts'
import { receiversOf } from '../../src/pix/receivers/store.ts'
import { findRecurrence, listRecurrences, lockRecurrence } from '../../src/pix/recurrences/store.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 20_000
/** How the txids begin of which there are few: some dozens. */
const few = isLong ? '0000' : '00'
/** Rows of a list that a statement is given. */
const listed = 20
/** Pages that a statement may read, whatever is stored: forty for each row of its list, which may be a new row. */
const pagesMax = 40 * listed
/** One that reads alone. */
const readPagesMax = 10 * listed
/** One stores a charge with its location, which have seventeen indexes. */
const storePagesMax = 70 * listed
/** A list counts so many charges, and may look at the row of each: of few, many lie in one page. */
const countPagesMax = isLong ? 1.5 * itemsMax : 600
/** Of the Pix of one payer, more lie between. */
const payerPagesMax = isLong ? countPagesMax : 1_000
/** Locations are shorter. */
const locationPagesMax = isLong ? countPagesMax : 450

type Made = {
  readonly txids: readonly string[]
  readonly ids: readonly string[]
  readonly tokens: readonly string[]
}

const taxId = '12345678000195'
const terms: ChargeTerms = {
  key: 'ana',
  originalCents: 100n,
  isOpen: false,
  expiresSeconds: 60,
  withdrawal: undefined,
  debtor: undefined,
  question: undefined,
  infos: undefined,
  due: undefined,
}
const everything = { from: new Date(0), to: new Date('9999-01-01T00:00:00Z'), perPage: listed }
const lists: readonly Omit<ChargeFilter, 'from' | 'to' | 'perPage' | 'page'>[] = (
  ['cob', 'cobv'] as const
).flatMap((kind) => {
  const any = {
    kind,
    status: undefined,
    debtorTaxId: undefined,
    isShown: undefined,
    batchId: undefined,
  }
  return [
    any,
    { ...any, status: 'ATIVA' },
    { ...any, status: 'CONCLUIDA' },
    { ...any, status: 'REMOVIDA_PELO_PSP' },
    { ...any, debtorTaxId: '12345678909' },
    { ...any, isShown: false },
    { ...any, batchId: 1 },
    // Many are as the one says, and few as both say.
    { ...any, status: 'ATIVA', debtorTaxId: '12345678909' },
  ]
})

const received = { payerTaxId: undefined, txid: undefined, hasTxid: undefined }
/**
 * Lists of few. Nearly all of what ana has received was given back, and nothing of bia's; of what eva has, nearly
 * either everything that names a charge was kept, or of leo's given back.
 */
const receivedLists = [
  { account: 'ana', ...received, hasReturns: false },
  { account: 'bia', ...received, hasReturns: true },
  { account: 'ana', ...received, hasReturns: false, payerTaxId: '12345678909' },
  ...[true, false].flatMap((hasTxid) => [
    { account: 'eva', ...received, hasTxid, hasReturns: hasTxid },
    { account: 'leo', ...received, hasTxid, hasReturns: !hasTxid },
  ]),
]
const ofAny = { recurrenceId: undefined, status: undefined, agreement: undefined }

class Undone extends Error {}

const work = async (sql: Client, { txids, ids, tokens }: Made): Promise<void> => {
  // The first has the more charges of one kind, the second of the other.
  for (const account of ['ana', 'bia']) {
    for (const filter of lists) {
      for (const page of [0, itemsMax / listed - 1]) {
        await listCharges(sql, account, { ...filter, ...everything, page })
      }
    }
    const locations = { ...everything, page: 0, kind: undefined }
    for (const isUsed of [undefined, true, false]) {
      await listLocations(sql, account, { ...locations, isUsed })
      // To count those of a kind is to read most of a small table.
      if (isLong) await listLocations(sql, account, { ...locations, isUsed, kind: 'cobv' })
    }
    const mandates = { ...everything, page: 0, status: 'CRIADA', isShown: undefined } as const
    const debtor = { debtorTaxId: '15231470190', agreement: 'none' }
    await listRecurrences(sql, account, { ...mandates, ...debtor })
    for (const debtorTaxId of ['45164632481', '15231470190']) {
      const filter = { ...everything, page: 0, debtorTaxId, ...ofAny }
      await hasTooMany(sql, account, filter)
      if (debtorTaxId === '45164632481') await listCollections(sql, account, filter)
    }
  }
  for (const { account, ...filter } of receivedLists) {
    await listPix(sql, account, { ...everything, page: 0, ...filter })
  }
  const [txid = ''] = txids
  await findCharge(sql, 'ana', txid)
  await findCollection(sql, 'ana', txid)
  await findRecurrence(sql, 'ana', `R${txid}`)
  await attemptsAmong(
    sql,
    txids.map((one) => `E${one}`),
  )
  await presentedAt(sql, tokens)
  await locationsOf(sql, ids)
  await pixOfCharges(sql, ids)
  await receiversOf(sql, 'ana', ['ana', 'bia'])
  await sql
    .begin((tx) => change(tx, txids))
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
}

const change = async (tx: Transaction, txids: readonly string[]): Promise<never> => {
  const at = new Date()
  const [first = ''] = txids
  await lockRecurrence(tx, 'ana', `R${first}`)
  await lockCollection(tx, 'ana', first)
  const fresh = txids.map((txid) => `new${txid}`.slice(0, 35))
  await makeCharges(
    tx,
    fresh.map((txid) => ({ account: 'ana', txid, terms, at })),
  )
  const payments = txids.map((txid) => ({
    endToEndId: `E${txid}`,
    txid,
    amountCents: 100n,
    localInstrument: 'QRDN',
    creditorDocument: taxId,
    creditorKey: 'ana',
    debtorDocument: '15231470190',
    text: null,
    withdrawal: null,
  }))
  await lockNamed(tx, payments)
  const ends = txids.map((txid) => ({
    endToEndId: `E${txid}`,
    returnId: null,
    isSettled: true,
    reason: null,
  }))
  await pendingWithin(tx, new Date(at.getTime() - 86_400_000), new Date(at.getTime() + 86_400_000))
  await openWithin(tx, { at: new Date(0), id: '' }, at, listed)
  await lockReceived(
    tx,
    ends.map(({ endToEndId }) => endToEndId),
  )
  await lockCollectionsOf(
    tx,
    ends.map(({ endToEndId }) => endToEndId),
  )
  await endReceived(tx, ends, at)
  throw new Undone()
}

/** By statements of the test's own: of each thousand one is paid, one removed, and one is nowhere shown. */
const store = async (sql: Client): Promise<Made> => {
  await sql.begin((tx) =>
    tx.unsafe(`
    set local statement_timeout = 0;
    insert into pix_receivers (key, account, tax_id, name, city) values
      ('ana', 'ana', '${taxId}', 'Ana', 'Recife'), ('bia', 'bia', '98765432000198', 'Bia', 'Recife');
    insert into pix_charges (id, account, kind, tax_id, txid, key, original_cents, expires_seconds,
      debtor_tax_id, content, status, is_shown, created_at)
    select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, account,
      case when (account = 'ana') = (n % 1000 <> 3) then 'cob' else 'cobv' end,
      case account when 'ana' then '${taxId}' else '98765432000198' end,
      md5(n::text), account, 100, 60, case when n % 1000 = 5 then '12345678909' end, '{}',
      case n % 1000 when 1 then 'CONCLUIDA' when 2 then 'REMOVIDA_PELO_PSP' else 'ATIVA' end,
      n % 1000 <> 4, now() - interval '1 day' + make_interval(secs => n * 0.05)
    from (
      select n, case n % 2 when 0 then 'ana' else 'bia' end as account from (
        select generate_series(1, ${2 * stored}) as n
      ) numbers
    ) made;
    insert into pix_batch_items (account, txid, batch_id, position, status)
    select account, txid, 1 + n / ${listed}, n, 'CRIADA' from (
      select account, txid, row_number() over (partition by account order by created_at) as n
      from pix_charges where kind = 'cobv'
    ) asked;
    insert into pix_locations (account, token, kind, charge_id, created_at)
    select account, md5('token' || txid), kind, case when is_shown then id end, created_at
    from pix_charges order by created_at;
    insert into pix_recurrences (id, account, tax_id, receiver_name, debtor_tax_id, terms, history,
      created_at)
    select 'R' || txid, account, tax_id, 'Ana',
      case when txid like '${few}%' then '45164632481' else '15231470190' end, '{}', '[]', created_at
    from pix_charges;
    insert into pix_collections (account, txid, recurrence_id, tax_id, status, due_on, cycle,
      amount_cents, content, history, created_at)
    select account, txid, 'R' || txid, tax_id, 'CRIADA', '2026-03-20', 0, 100, '{}', '[]', created_at
    from pix_charges;
    insert into pix_collection_attempts (end_to_end_id, account, txid, position, kind, settles_on,
      status, history)
    select 'E' || txid, account, txid, 0, 'AGND', '2026-03-20', 'AGENDADA', '[]' from pix_charges;
    insert into pix_received (end_to_end_id, account, key, txid, charge_id, amount_cents,
      payer_tax_id, status, received_at)
    select 'E' || txid, account, key, txid, id, 100, '12345678909', 'PENDENTE', created_at
    from pix_charges;
    insert into pix_received (end_to_end_id, account, key, amount_cents, payer_tax_id, status,
      received_at, settled_at, has_returns)
    select 'S' || txid, account, key, 100, '12345678909', 'LIQUIDADO', now(), created_at,
      (account = 'ana') = (txid not like '${few}%')
    from pix_charges;
    insert into pix_received (end_to_end_id, account, txid, amount_cents, payer_tax_id, status,
      received_at, settled_at, has_returns)
    select 'B' || txid, case account when 'ana' then 'eva' else 'leo' end,
      case when is_named then txid end, 100, '12345678909', 'LIQUIDADO', now(), created_at,
      (account = 'ana') = (is_named = (txid like '${few}%'))
    from pix_charges cross join lateral (select right(txid, 1) < '8' as is_named) named;`),
  )
  const rows = await sql<{ id: string; txid: string; token: string }[]>`
    select c.id, c.txid, l.token from pix_charges c join pix_locations l on l.charge_id = c.id
    where c.account = 'ana' and c.kind = 'cob' and c.status = 'ATIVA' order by c.txid limit ${listed}`
  return {
    txids: rows.map(({ txid }) => txid),
    ids: rows.map(({ id }) => id),
    tokens: rows.map(({ token }) => token),
  }
}

const budgetOf = (text: string): number => {
  if (text.includes('count(*)') && text.includes('payer_tax_id between')) return payerPagesMax
  // These lists are asked for few rows only.
  if (text.includes('from pix_received p where')) return readPagesMax
  if (text.includes('select id, agreement from pix_recurrences')) {
    return text.includes('from pix_collections') ? pagesMax : readPagesMax
  }
  if (/offset \(select|counted/.test(text)) {
    return text.includes('from pix_locations') ? locationPagesMax : countPagesMax
  }
  if (text.includes('insert into pix_charges')) return storePagesMax
  return text.startsWith('select') ? readPagesMax : pagesMax
}

const absent = Array.from({ length: listed }, (_, n) => String(n).padStart(32, '0'))

holdPageBudgets<Made>({
  absent: { txids: absent, ids: absent, tokens: absent },
  store,
  work,
  // What is stored here is less than what these may read.
  walks: (text) => text.includes('insert into pix_charges'),
  isTooDear: ({ text, pagesPerCall }) => pagesPerCall > budgetOf(text),
})
