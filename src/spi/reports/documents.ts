import { z } from 'zod'
import { idParams, pageQuery, pageResponses, type RouteContract } from '#src/platform/http/index.ts'
import { xmlTypes } from '../api/message-body.ts'
import { isOfFuture } from '../messages/value-rules.ts'
import { dayForm, isAhead } from './days.ts'
import { figureOutcomes } from './figures.ts'
import { entryOutcomes } from './project.ts'
import { cursorOfDay, cursorOfFile, differenceOutcomes } from './reconcile.ts'

import statement from './sample-camt054.xml' with { type: 'text' }

const bodyBytesMax = 16_384

const limitMax = 500
const limitDefault = 50
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

const dayText = z
  .string()
  .regex(dayForm, 'must be a date of this century, YYYY-MM-DD')
  .refine((day) => !dayForm.test(day) || !isAhead(day), {
    error: 'is a day that has not begun in Brazil',
    params: { rule: 'date' },
  })

/** What is asked for. */
export type ReportRequest =
  | { readonly report: 'entries'; readonly day: string }
  | { readonly report: 'balances' }
  | { readonly report: 'entry'; readonly entry_id: string }

const entryId = z
  .string()
  .regex(
    /^(?:[ED][0-9A-Z]{8}\d{4}[0-1]\d[0-3]\d[0-2]\d[0-5]\d[a-zA-Z0-9]{11}|[A-Z]{3}\d{4}[0-1]\d[0-3]\d[a-zA-Z0-9]{9})$/,
    'must be an EndToEndId, a RtrId, or the control number of another system',
  )
  .refine((id) => !isOfFuture(id, Date.now()), {
    error: 'is of something that has yet to happen',
    params: { rule: 'date' },
  })
  .meta({ example: 'E1234567820260302140500000000001' })

/** Generators of clients cannot write a choice between objects: what goes with which report is a rule of values. */
const reportBody = z
  .strictObject({
    report: z.enum(['entry', 'balances', 'entries']).meta({
      description:
        'One entry (camt.054), the balances of the account (camt.053), or the file of a day’s entries: the answer (camt.052) tells how many, and its hash.',
    }),
    entry_id: entryId.optional().meta({ description: 'With `entry`, and with it alone.' }),
    day: dayText
      .optional()
      .meta({ example: '2026-03-02', description: 'With `entries`, and with it alone.' }),
  })
  .transform((body, context): ReportRequest => {
    const { report, entry_id, day } = body
    const refuse = (field: string, message: string): never => {
      context.addIssue({ code: 'custom', path: [field], message, params: { rule: 'report' } })
      return z.NEVER
    }
    if (entry_id !== undefined && report !== 'entry')
      return refuse('entry_id', 'is of report entry')
    if (day !== undefined && report !== 'entries') return refuse('day', 'is of report entries')
    if (report === 'balances') return { report }
    if (report === 'entry') {
      return entry_id === undefined ? refuse('entry_id', 'is needed') : { report, entry_id }
    }
    return day === undefined ? refuse('day', 'is needed') : { report, day }
  })

const reportsQuery = z.strictObject(pageQuery(new RegExp(`^${uuid}$`), limitMax, limitDefault))
const entriesQuery = z.strictObject({
  outcome: z.enum(entryOutcomes).optional(),
  request_id: z
    .string()
    .regex(/^[0-9A-Za-z]{1,64}$/, 'must be 1 to 64 letters and digits')
    .optional()
    .meta({ description: 'Of a report.' }),
  ...pageQuery(new RegExp(`^${uuid} \\d{1,9}$`), limitMax, limitDefault),
})

const comparedQuery = z.strictObject(pageQuery(cursorOfFile, limitMax, limitDefault))
const differencesQuery = z.strictObject({
  ...pageQuery(cursorOfDay, limitMax, limitDefault),
  day: dayText.optional().meta({
    example: '2026-03-02',
    description:
      'On which the entries were booked. If it is not given, that of the cursor, and without one today in Brazil.',
  }),
})

const figuresQuery = z.strictObject({
  day: dayText.optional().meta({
    example: '2026-03-02',
    description: 'Today in Brazil if it is not given.',
  }),
})

const money = z.string().nullable().meta({ description: 'Reais with two decimals.' })

const report = z
  .object({
    id: z.uuid().meta({ description: 'Also of the message, the camt.060.' }),
    report: z.enum(['entries', 'balances', 'entry']),
    state: z.enum(['requested', 'answered', 'refused']),
    day: z.string().nullable(),
    entry_id: z.string().nullable(),
    request_id: z.string().meta({ description: 'MsgId of the camt.060, which the answer cites.' }),
    declared_entries: z.number().nullable().meta({ description: 'That the file of entries has.' }),
    file_hash: z.string().nullable(),
    balances: z
      .array(z.object({ type: z.string(), amount: z.string(), at: z.string() }))
      .nullable(),
    answer_message_id: z.uuid().nullable(),
    created_at: z.iso.datetime(),
    answered_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'AccountReport' })

const entry = z
  .object({
    message_id: z.uuid(),
    request_id: z.string(),
    reference: z.string().meta({ description: 'EndToEndId of a payment, RtrId of a return.' }),
    end_to_end_id: z.string().nullable(),
    outcome: z.enum(entryOutcomes).meta({
      description:
        'missing_here: no such payment or return of that direction is stored here. missing_there: settled here, unknown to the central bank. amount_differs: told by both amounts. not_compared: no booked payment or return.',
    }),
    amount: money.meta({ description: 'As reported; null if there is no entry.' }),
    our_amount: money,
    direction: z.string().nullable().meta({ description: 'CRDT or DBIT.' }),
    status: z.string().nullable().meta({ description: 'BOOK or INFO.' }),
    booked_on: z.string().nullable(),
    reported_at: z.iso.datetime(),
  })
  .meta({ id: 'AccountEntry' })

const difference = z
  .object({
    outcome: z.enum(differenceOutcomes).meta({
      description:
        'missing_here: booked there, and no such payment or return of that direction is stored here. missing_there: settled here, and in no entry. amount_differs: told by both amounts. status_differs: booked there, pending or refused here.',
    }),
    reference: z.string().meta({ description: 'EndToEndId of a payment, RtrId of a return.' }),
    direction: z.string().nullable().meta({ description: 'CRDT or DBIT.' }),
    amount: money.meta({ description: 'As booked there; null if there is no entry.' }),
    our_amount: money,
    our_status: z.enum(['settled', 'pending', 'refused']).nullable(),
  })
  .meta({ id: 'BookDifference' })

const differencesAnswer = {
  200: {
    description: 'Differences',
    schema: z.object({
      differences: z.array(difference),
      next_cursor: z.string().nullable().meta({
        description:
          '`cursor` of the next page; null when both books have been walked to their end. A page before that may be short, or empty.',
      }),
    }),
  },
} as const

const total = z.object({ count: z.number(), amount: z.string() })
const totals = z.object({ credits: total, debits: total }).meta({ id: 'AccountTotals' })

const figureDifference = z
  .object({
    outcome: z.enum(figureOutcomes).meta({
      description:
        'count_differs, sum_differs: of the entries reported in a direction, where any were, against our settlements. declared_count_differs: of all entries, as a camt.052 tells it. balance_differs: the opening balance, our settlements and the entries of anything else do not make the closing one. balance_differs_though_entries_agree: so, while the entries reported and our settlements say the same. entries_do_not_make_balance: the opening balance and the entries reported do not make the closing one. settlement_unknown_here: told settled, and no payment or return of ours, or a refused one. settlement_told_late: told more than a day after it settled; it is counted on the day on which it was told, not on its own. not_counted: too many for one answer, `trilho reconcile` counts them.',
    }),
    direction: z.string().nullable().meta({ description: 'CRDT or DBIT; null: both.' }),
    count: z.number().nullable().meta({ description: 'As the central bank tells it.' }),
    our_count: z.number().nullable(),
    amount: money.meta({ description: 'As the central bank tells it.' }),
    our_amount: money.meta({ description: 'As it should be by our book, or by the entries.' }),
  })
  .meta({ id: 'FigureDifference' })

const figures = z
  .object({
    from: z.iso.datetime(),
    until: z.iso.datetime(),
    opening: money.meta({ description: 'What is available and what is held, at `from`.' }),
    closing: money.meta({ description: 'The same at `until`; null: the period is the day.' }),
    declared_entries: z.number().nullable().meta({
      description: 'Of the day, by a camt.052 that was asked for when the day was over.',
    }),
    ours: totals.nullable().meta({
      description: 'Told settled; null, as the other two are then: too many to be counted.',
    }),
    reported: totals.nullable().meta({ description: 'Booked entries of payments and returns.' }),
    others: totals.nullable().meta({ description: 'Booked entries of anything else.' }),
    differences: z.array(figureDifference),
  })
  .meta({ id: 'AccountFigures' })

const figuresAnswer = {
  200: { description: 'Figures', schema: z.object({ figures: z.array(figures) }) },
} as const

export const documents = {
  create: {
    at: 'POST /v1/pix/reports',
    scope: 'spi:send',
    bodyBytesMax,
    operation: 'createReport',
    summary: 'Ask the central bank for a report on our account',
    description:
      'Sends a camt.060. The answer comes later as a message of its own: balances and the number of entries stand on the report then, entries are listed by `GET /v1/pix/entries`.',
    idempotent: true,
    body: { 'application/json': reportBody },
    bodyExamples: {
      entry: { report: 'entry', entry_id: 'E1234567820260302140500000000001' },
      balances: { report: 'balances' },
      entries: { report: 'entries', day: '2026-03-02' },
    },
    responses: { 202: { description: 'Stored and queued.', schema: report } },
  },
  list: {
    at: 'GET /v1/pix/reports',
    scope: 'messages:read',
    operation: 'listReports',
    summary: 'Reports that were asked for, newest first',
    query: reportsQuery,
    responses: pageResponses('reports', report, 'Reports'),
  },
  find: {
    at: 'GET /v1/pix/reports/{id}',
    scope: 'messages:read',
    operation: 'getReport',
    summary: 'One report that was asked for',
    params: idParams,
    exampleFrom: { id: 'listReports#/reports/0/id' },
    responses: { 200: { description: 'The report', schema: report } },
  },
  entries: {
    at: 'GET /v1/pix/entries',
    scope: 'messages:read',
    operation: 'listEntries',
    summary: 'Reported entries, compared with our book, newest first',
    description:
      'The entries of every camt.054 that was received since the version that has this, asked for or not, each compared with the messages stored here when it came. A report whose signature does not fit tells nothing.',
    query: entriesQuery,
    responses: pageResponses('entries', entry, 'Entries'),
  },
  differences: {
    at: 'GET /v1/pix/differences',
    scope: 'messages:read',
    operation: 'listDifferences',
    summary: 'What the entries of a day and our book say differently',
    description:
      'Walks the entries of every camt.054 received that are booked on the day, then our own settlements of that day in Brazil, and lists what either has and the other has not, other amounts and other states. Nothing is stored: the cursor alone says where the walk goes on.',
    query: differencesQuery,
    responses: differencesAnswer,
  },
  compare: {
    at: 'POST /v1/pix/differences',
    scope: 'messages:read',
    accepts: xmlTypes,
    isPure: true,
    operation: 'listStatementDifferences',
    summary: 'What a camt.054 and our book say differently',
    description:
      'As listDifferences, for the booked entries of the document that is sent, and our settlements in its days. Send the same document again with the cursor for the next page. It is neither stored nor are signatures checked.',
    body: { 'application/xml': z.string() },
    // Bun's types consider every *.xml a parsed document, whatever the import says.
    bodyExamples: { statement: statement as unknown as string },
    query: comparedQuery,
    responses: differencesAnswer,
  },
  figures: {
    at: 'GET /v1/pix/figures',
    scope: 'messages:read',
    operation: 'getFigures',
    summary: 'Counts, sums and balances of a day, by the central bank and by our book',
    description:
      'First of the whole day, then of what lies between each two balances (camt.053) of which the second is of that day: how many settled in each direction and their sums, what the entries received say, and every figure that does not fit. A settlement counts at the moment that the central bank gives it.',
    query: figuresQuery,
    responses: figuresAnswer,
  },
  figuresOf: {
    at: 'POST /v1/pix/figures',
    scope: 'messages:read',
    accepts: xmlTypes,
    isPure: true,
    operation: 'getStatementFigures',
    summary: 'Counts, sums and balances of a camt.052, camt.053 or camt.054, by it and by our book',
    description:
      'As getFigures, for the document that is sent: the entries of a camt.054, the balances of a camt.053 after the last that was received before, or the number of entries of a camt.052 that was asked for here. It is neither stored nor are signatures checked.',
    body: { 'application/xml': z.string() },
    bodyExamples: { statement: statement as unknown as string },
    responses: figuresAnswer,
  },
} as const satisfies Readonly<Record<string, RouteContract>>
