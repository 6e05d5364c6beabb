/** What the statements of the directory read, on every engine at hand, whatever their plans were made of. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { OwnClaim } from '../../src/dict/claims/domain.ts'
import {
  addClaim,
  changeClaim,
  dueClaims,
  findClaim,
  findKnown,
  findOpening,
  listClaims,
  postponeClaim,
} from '../../src/dict/claims/store.ts'
import {
  addComparison,
  addDifferences,
  findComparison,
  hasOther,
  listDifferences,
  lockDifference,
  ownOf,
  runningComparisons,
} from '../../src/dict/comparisons/store.ts'
import type { Dispute } from '../../src/dict/disputes/domain.ts'
import {
  addDispute,
  changeDispute,
  findDispute,
  isDisputed,
  listDisputes,
  lockDispute,
  lockShown,
  noteTelling,
  openDisputes,
  touchDispute,
  undoTelling,
  wasToldBefore,
} from '../../src/dict/disputes/store.ts'
import type { OwnEntry } from '../../src/dict/entries/domain.ts'
import {
  addEntry,
  changeEntry,
  findEntry,
  listEntries,
  openEntries,
  releaseKey,
} from '../../src/dict/entries/store.ts'
import { forgetSomeComparisons } from '../../src/dict/retention.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 60_000
/** Rows of a page. */
const listed = 20
/** Pages that a statement may read, whatever is stored: thirty for each row of its page. */
const pagesMax = 30 * listed
/** A difference and its like are found by their keys. */
const differencePagesMax = 10 * listed
/** One that stores or changes a row writes to each of its indexes. */
const storePagesMax = 100
/** One that forgets takes a thousand rows out of their table and index. */
const forgetPagesMax = 6_000

type Made = {
  /** The id in all tables: they are made alike. */
  readonly id: string
  readonly key: string
  readonly transactionId: string
  /** Somewhere in the middle. */
  readonly place: readonly [createdAt: string, id: string]
}

const content = {
  owner: { taxIdNumber: '98765432100', name: 'Ana' },
  account: { participant: '12345678', accountNumber: '1', accountType: 'CACC' },
  openedAt: '2020-01-01T03:00:00Z',
} as const

const entryOf = (id: string, key: string): OwnEntry => ({
  id,
  key,
  keyType: 'EMAIL',
  createdBy: 'k',
  status: 'registered',
  content,
  wanted: null,
  cid: null,
  refusal: null,
  ownedSince: null,
  createdAt: new Date(),
  version: 0,
})
const claimOf = (id: string, key: string): OwnClaim => ({
  id,
  claimId: id,
  key,
  createdBy: null,
  role: 'claimer',
  type: 'PORTABILITY',
  keyType: 'EMAIL',
  counterparty: null,
  status: 'open',
  content: null,
  wanted: null,
  refusal: null,
  resolutionEndsAt: null,
  completionEndsAt: null,
  confirmReason: null,
  cancelReason: null,
  cancelledBy: null,
  modifiedAt: null,
  toldAt: null,
  version: 0,
  createdAt: new Date(),
})
const disputeOf = (id: string, transactionId: string): Dispute => ({
  id,
  directoryId: id,
  role: 'asking',
  status: 'open',
  transactionId,
  reason: 'FRAUD',
  other: '99999A04',
  content: {},
  wanted: null,
  refusal: null,
  returnId: null,
  returnedAt: null,
  createdBy: null,
  createdAt: new Date(),
  modifiedAt: new Date(),
})

class Undone extends Error {}

const work = async (sql: Client, made: Made): Promise<void> => {
  await read(sql, made)
  await readDisputes(sql, made)
  await sql
    .begin((tx) => change(tx, made))
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
}

const read = async (sql: Client, { id, key, place }: Made): Promise<void> => {
  const now = new Date()
  for (const after of [undefined, place]) {
    const page = { limit: listed, after }
    await listEntries(sql, { ...page, key: undefined })
    await listEntries(sql, { ...page, key })
    const any = { ...page, key: undefined, role: undefined, status: undefined, needsPerson: false }
    await listClaims(sql, any)
    await listClaims(sql, { ...any, key })
    await listClaims(sql, { ...any, needsPerson: true })
    // Some of both are few.
    for (const role of ['donor', 'claimer'] as const) {
      await listClaims(sql, { ...any, role })
      await listClaims(sql, { ...any, key, role, status: 'completed' })
      await listClaims(sql, { ...any, needsPerson: true, role })
      for (const status of ['completed', 'cancelled', 'open'] as const) {
        await listClaims(sql, { ...any, status })
        await listClaims(sql, { ...any, role, status })
      }
    }
    await listDifferences(sql, id, { limit: listed, after: after === undefined ? undefined : key })
  }
  await hasOther(sql, { key, entryId: id, theirs: { requestId: id } })
  await ownOf(sql, [{ requestId: id }])
  await findEntry(sql, id)
  await openEntries(sql, 1_000, listed)
  await findClaim(sql, id)
  await findKnown(sql, id, 'claimer')
  await findOpening(sql, key)
  await dueClaims(sql, now, listed)
  await findComparison(sql, id)
  await runningComparisons(sql)
}

const readDisputes = async (sql: Client, made: Made): Promise<void> => {
  const { id, transactionId, place } = made
  for (const kind of ['infraction', 'refund'] as const) {
    for (const after of [undefined, place]) {
      const any = {
        limit: listed,
        after,
        role: undefined,
        status: undefined,
        needsPerson: false,
        transactionId: undefined,
      }
      await listDisputes(sql, kind, any)
      await listDisputes(sql, kind, { ...any, transactionId })
      await listDisputes(sql, kind, { ...any, needsPerson: true })
      for (const role of ['asking', 'asked'] as const) {
        await listDisputes(sql, kind, { ...any, role })
        await listDisputes(sql, kind, { ...any, role, status: 'closed', transactionId })
        for (const status of ['closed', 'cancelled', 'refused'] as const) {
          await listDisputes(sql, kind, { ...any, status })
          await listDisputes(sql, kind, { ...any, role, status })
        }
      }
    }
    await findDispute(sql, kind, id)
    await openDisputes(sql, kind, 1_000, listed)
    await isDisputed(sql, kind, { id, transactionId }, ['closed'], ['asking'])
    await wasToldBefore(sql, id, 1_000)
  }
}

const change = async (tx: Transaction, { id, key, transactionId }: Made): Promise<never> => {
  const fresh = crypto.randomUUID()
  const entry = entryOf(fresh, `new${key}`)
  await addEntry(tx, entry)
  await changeEntry(tx, entry, { ...entry, refusal: 'x' })
  await releaseKey(tx, { key, claimId: null }, new Date())
  const claim = claimOf(fresh, `new${key}`)
  await addClaim(tx, claim, new Date())
  await changeClaim(tx, claim, claim, new Date())
  await postponeClaim(tx, claim, new Date())
  const dispute = disputeOf(fresh, `new${transactionId}`)
  await addDispute(tx, 'refund', dispute)
  await changeDispute(tx, dispute)
  await lockDispute(tx, 'refund', id)
  await touchDispute(tx, fresh)
  await noteTelling(tx, fresh)
  await undoTelling(tx, fresh, { at: new Date(), before: new Date(), isFirst: true })
  const seen = { transactionId, reason: 'FRAUD', role: 'asking', createdAt: new Date() } as const
  for (const directoryId of [id, crypto.randomUUID()]) {
    await lockShown(tx, 'refund', { ...seen, directoryId })
  }
  await addComparison(tx, {
    id: fresh,
    keyType: 'CPF',
    method: 'file',
    since: null,
    status: 'running',
    fileId: null,
    entries: null,
    onlyOurs: null,
    onlyTheirs: null,
    isComplete: null,
    failure: null,
    createdAt: new Date(),
    endedAt: null,
  })
  await addDifferences(tx, fresh, [{ key, entryId: null, theirs: null, kept: null }])
  await lockDifference(tx, id, key)
  await forgetSomeComparisons(tx, new Date(0))
  throw new Undone()
}

/** By statements of the test's own: of each thousand a few have a rare role or status, or wait for somebody. */
const store = async (sql: Client): Promise<Made> => {
  const id = (of: string) => `('00000000-0000-4000-8000-' || lpad(to_hex(${of}), 12, '0'))::uuid`
  const at = `now() - interval '10 days' + make_interval(secs => n * 0.5)`
  await sql.begin((tx) =>
    tx.unsafe(`
    set local statement_timeout = 0;
    insert into dict_entries (id, created_by, key_type, key, status, content, wanted, cid,
      created_at, changed_at)
    select ${id('n')}, 'k', 'EMAIL', 'k' || n || '@example.com',
      case n % 1000 when 1 then 'changing' when 2 then 'removed' else 'registered' end,
      '${JSON.stringify(content)}', null, md5(n::text), ${at}, ${at}
    from generate_series(1, ${stored}) as n;
    insert into dict_claims (id, claim_id, role, type, key_type, key, status, version, due_at,
      created_at)
    select ${id('n')}, ${id('n')}, case n % 1000 when 1 then 'donor' else 'claimer' end,
      'OWNERSHIP', 'PHONE', 'k' || n || '@example.com',
      case n % 1000 when 2 then 'cancelled' when 3 then 'confirmed' else 'completed' end,
      0, case n % 1000 when 3 then now() end, ${at}
    from generate_series(1, ${stored}) as n;
    insert into dict_disputes (id, kind, directory_id, role, status, transaction_id, reason, content,
      created_at, modified_at, tried_at)
    select ${id('n')}, case n % 2 when 0 then 'refund' else 'infraction' end, ${id('n')},
      case when n % 1000 in (2, 3) then 'asked' else 'asking' end,
      case when n % 1000 in (4, 5) then 'cancelled' when n % 1000 in (2, 3) then 'open' else 'closed' end,
      'E' || md5(n::text), 'FRAUD', '{}', ${at}, ${at}, ${at}
    from generate_series(1, ${stored}) as n;
    insert into dict_comparisons (id, key_type, method, status, created_at, ended_at)
    select ${id('n')}, 'EMAIL', 'file', 'done', ${at}, ${at} from generate_series(1, ${stored / 10}) as n;
    insert into dict_differences (comparison_id, key)
    select ${id(`1 + n % ${stored / 100}`)}, 'k' || n || '@example.com'
    from generate_series(1, ${stored}) as n;`),
  )
  const [row] = await sql<{ id: string; key: string; e2e: string; at: string }[]>`
    select d.id, e.key, d.transaction_id as e2e, to_json(e.created_at)#>>'{}' as at
    from dict_disputes d join dict_entries e on e.id = d.id
    where d.kind = 'refund' order by d.id offset ${stored / 4} limit 1`
  const { id: found = '', key = '', e2e = '', at: createdAt = '' } = row ?? {}
  return { id: found, key, transactionId: e2e, place: [createdAt, found] }
}

const forgets = (text: string): boolean => /delete from dict_(?:comparisons|differences)/.test(text)

const budgetOf = (text: string): number => {
  if (forgets(text)) return forgetPagesMax
  if (/^\s*select .* from dict_differences/s.test(text)) return differencePagesMax
  return /^\s*(?:insert|update)/.test(text) ? storePagesMax : pagesMax
}

const nobody = '00000000-0000-4000-8000-ffffffffffff'

holdPageBudgets<Made>({
  absent: {
    id: nobody,
    key: 'nobody@example.com',
    transactionId: `E${'0'.repeat(31)}`,
    place: ['2026-01-01T00:00:00.000Z', nobody],
  },
  store,
  work,
  walks: forgets,
  isTooDear: ({ text, pagesPerCall }) => pagesPerCall > budgetOf(text),
})
