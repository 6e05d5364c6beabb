/** What jobs read of cards, whatever is stored. */
import { standingAfter } from '../../src/cards/reconciliation/movements.ts'
import {
  lateAnswersAfter,
  lateAnswersEndedBefore,
} from '../../src/cards/transactions/late-answers.ts'
import { holdPageBudgets, isLong } from '../support/page-budgets.ts'

const stored = isLong ? 1_000_000 : 25_000
const ofToday = isLong ? 40_000 : 4_000
const pagesMax = 60
/** Once for each process: it walks the late answers of today. */
const pagesMaxAtFirst = isLong ? 2_000 : 200
const ages = { secondsMin: 5, secondsMax: 86_400 } as const
const idOf = `'txn_' || lpad(to_hex(n), 32, '0')`
const ofDay = { network: 'neta', day: '2026-01-02', currency: 'BRL' } as const

/** Up to which movement we have uploaded, and up to which late answer we have decided. */
type Cursors = { readonly uploadedTo: bigint; readonly decidedTo: bigint }

holdPageBudgets<Cursors>({
  absent: { uploadedTo: 0n, decidedTo: 0n },
  store: async (sql) => {
    await sql.unsafe(`
      set local statement_timeout = 0;
      insert into card_transactions (id, status, network, brand, card_token, amount_cents, currency, merchant_id,
        installments, stan, rrn, transmission, created_by, created_at, updated_at)
      select ${idOf}, 'captured', 'neta', 'visa', 'tok', 100, 'BRL', 'm', 1, lpad((n % 1000000)::text, 6, '0'),
        lpad(n::text, 12, '0'), '0102120000', 'k', now(), now()
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
      cross join (values ('2026-01-02', 'debit'), ('2026-01-03', 'credit')) as t(day, kind);`)
    const [row] = await sql<{ id: bigint }[]>`
      select id from card_movements where day = '2026-01-02' order by id offset ${stored / 2} limit 1`
    const [last] = await sql<{ id: bigint }[]>`
      select id from card_events where type = 'late_answer' order by id desc limit 1`
    return { uploadedTo: row?.id ?? 0n, decidedTo: last?.id ?? 0n }
  },
  work: async (sql, { uploadedTo, decidedTo }) => {
    await lateAnswersEndedBefore(sql, ages.secondsMax)
    await lateAnswersAfter(sql, decidedTo, ages, 200)
    await standingAfter(sql, { ...ofDay, uploadedTo: null })
    await standingAfter(sql, { ...ofDay, uploadedTo })
  },
  isTooDear: ({ text, pagesPerCall }) =>
    pagesPerCall > (/order by id desc/.test(text) ? pagesMaxAtFirst : pagesMax),
})
