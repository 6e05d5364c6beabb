import { allowed } from './act.tsx'
import { approveTransferAct, cancelTransferActs } from './attention-acts.tsx'
import { askedMax, type Waiting, waiting } from './attention-section.tsx'
import { attentionWords as w } from './attention-words.ts'
import { tokens } from './format.ts'
import { overviewWords } from './overview-words.ts'
import { isOwnRequest, type TransferDetail } from './payment-facts.ts'
import { placeOfPayment } from './rails.ts'
import { column, linkColumn, momentColumn } from './table.tsx'
import { words } from './words.ts'

/** Transfers that the policy of their wallet holds until another key approves them. */
export const approvals: Waiting = waiting<{ transfers: readonly TransferDetail[] }, TransferDetail>(
  {
    title: w.approvals,
    note: w.approvalsNote,
    concern: overviewWords.approvals,
    scope: 'drex:read',
    path: `/v1/drex/transfers?approval=required&full_addresses=true&limit=${askedMax}`,
    // The one that has waited longest expires soonest, so it comes first.
    rowsOf: ({ transfers }) => transfers.toReversed(),
    columns: [
      linkColumn(
        ({ transfer_id: id }) => placeOfPayment('drex', id),
        ({ transfer_id: id }) => id,
      ),
      column(words.kind, ({ network }) => network, 'extra'),
      column(words.party, ({ to_wallet: to }) => to, 'mono extra'),
      column(w.requestedBy, (row) => (isOwnRequest(row) ? w.thisKey : row.requested_by), 'wide'),
      column(words.amount, (row) => tokens(row.amount, row.currency), 'number'),
      momentColumn(({ created_at }) => created_at),
    ],
    keyOf: ({ transfer_id: id }) => id,
    actsOf: (row, session) =>
      allowed(
        session,
        [
          ...(isOwnRequest(row) ? [] : [approveTransferAct(row)]),
          ...cancelTransferActs(row, undefined),
        ].map((act) => ({ scope: 'drex:transfer', act })),
      ),
  },
)
