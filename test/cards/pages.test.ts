/** What jobs read of cards, whatever is stored. */
import { movementsOf, standingAfter } from '../../src/cards/reconciliation/movements.ts'
import { findOver } from '../../src/cards/reversals/store.ts'
import {
  lateAnswersAfter,
  lateAnswersEndedBefore,
} from '../../src/cards/transactions/late-answers.ts'
import { hasAbandoned, lockAbandoned } from '../../src/cards/transactions/sweeps.ts'
import { unmatchedAdvices } from '../../src/cards/transactions/unmatched.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 25_000
const ofToday = isLong ? 40_000 : 4_000
const pagesMax = 60
/** Once for each process: it walks the late answers of today. */
const pagesMaxAtFirst = isLong ? 2_000 : 200
const ages = { secondsMin: 5, secondsMax: 86_400 } as const
const idOf = `'txn_' || lpad(to_hex(n), 32, '0')`
const ofDay = { network: 'neta', day: '2026-01-02', currency: 'BRL' } as const

const pageRows = 10
/** Advices that nobody has seen to: as many as are taken, after those that somebody has. */
const unseen = 10_000
/** What a network that is away has not heard of yet, and which is not to be given up. */
const waiting = stored / 5
const abandonedMs = new Map([['neta', 45_000]])
const limits = { expirySeconds: 86_400, attemptsMax: 1_000 } as const

/** The comparison of a day, up to which movement we have uploaded, and up to which late answer we have decided. */
type Cursors = {
  readonly comparison: string
  readonly uploadedTo: bigint
  readonly decidedTo: bigint
}

holdPageBudgets<Cursors>({
  absent: { comparison: '0', uploadedTo: 0n, decidedTo: 0n },
  store: async (sql) => {
    await sql.unsafe(`
      set local statement_timeout = 0;
      insert into card_transactions (id, status, network, brand, card_token, amount_cents, currency, merchant_id,
        installments, stan, rrn, transmission, created_by, created_at, updated_at, operation, touched_at)
      select ${idOf}, 'captured', 'neta', 'visa', 'tok', 100, 'BRL', 'm', 1, lpad((n % 1000000)::text, 6, '0'),
        lpad(n::text, 12, '0'), '0102120000', 'k', now(), now(), case when n > ${stored - waiting} then
        case when n % 2 = 0 then 'reversing_void' else 'advising_refund' end end, now() - interval '20 hours'
      from generate_series(1, ${stored}) n;
      insert into card_events (transaction_id, type, data, at)
      select ${idOf}, type, '{"mti": "0210", "stan": "000001", "response_code": "00"}', now() - interval '2 days'
      from generate_series(1, ${stored}) n cross join (values ('late_answer'), ('captured')) as t(type);
      insert into card_events (transaction_id, type, data, at)
      select ${idOf}, 'late_answer', '{"mti": "0210", "stan": "000001"}', now() - interval '3 hours'
      from generate_series(1, ${ofToday}) n;
      insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
      select 'neta', day::date, 'BRL', kind, 100, ${idOf}, lpad((n % 1000000)::text, 6, '0'), '0102120000'
      from generate_series(1, ${stored}) n
      cross join (values ('2026-01-02', 'debit'), ('2026-01-03', 'credit')) as t(day, kind);
      insert into card_reversals (transaction_id, network, reverses, card_token, amount_cents, currency, original_mti,
        original_stan, original_transmission, rrn, merchant_id, status, ended_at, attempts, first_attempt_at,
        expiry_hours, created_at)
      select ${idOf}, 'neta', 'authorization', 'tok', 100, 'BRL', '0100', '000001', '0102120000', '1', 'm',
        case when n > ${stored - waiting} then 'pending' else 'confirmed' end, now(), 5, now(),
        case when n % 2 = 0 then 72 end, now() - case when n % 2 = 0 then interval '30 hours' else interval '20 hours' end
      from generate_series(1, ${stored}) n;
      insert into card_unmatched_advices (network, mti, stan, transmission, rrn, resolved_at)
      select 'neta', '0120', lpad((n % 1000000)::text, 6, '0'), '0102120000', lpad(n::text, 12, '0'),
        case when n <= ${stored - unseen} then now() end
      from generate_series(1, ${stored}) n;
      insert into card_reconciliations (network, day, currency, next_attempt_at)
      values ('neta', '2026-01-02', 'BRL', now()), ('neta', '2026-01-04', 'BRL', now());
      insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
      select 'neta', '2026-01-04', 'BRL', 'debit', 100, ${idOf}, 'later', '0102120000'
      from generate_series(1, ${pageRows}) n;`)
    const [comparison] = await sql<{ id: bigint }[]>`
      select id from card_reconciliations where day = '2026-01-04'`
    const [row] = await sql<{ id: bigint }[]>`
      select id from card_movements where day = '2026-01-02' order by id offset ${stored / 2} limit 1`
    const [last] = await sql<{ id: bigint }[]>`
      select id from card_events where type = 'late_answer' order by id desc limit 1`
    return {
      comparison: String(comparison?.id),
      uploadedTo: row?.id ?? 0n,
      decidedTo: last?.id ?? 0n,
    }
  },
  work: async (sql, { comparison, uploadedTo, decidedTo }) => {
    await lateAnswersEndedBefore(sql, ages.secondsMax)
    await lateAnswersAfter(sql, decidedTo, ages, 200)
    await standingAfter(sql, { ...ofDay, uploadedTo: null })
    await standingAfter(sql, { ...ofDay, uploadedTo })
    await findOver(sql, limits, 100)
    await hasAbandoned(sql, abandonedMs)
    await lockAbandoned(sql, abandonedMs, pageRows)
    await unmatchedAdvices(sql, undefined, pageRows)
    await unmatchedAdvices(sql, '7', pageRows)
    await movementsOf(sql, comparison, undefined, pageRows)
    await movementsOf(sql, comparison, String(uploadedTo), pageRows)
  },
  isTooDear: ({ text, pagesPerCall }) =>
    pagesPerCall > (/order by id desc/.test(text) ? pagesMaxAtFirst : pagesMax),
})
