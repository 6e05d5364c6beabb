import { pageResponse, type Route, route } from '#src/platform/http/index.ts'
import { type FeeName, feeNames } from '../reconciliation/fees.ts'
import type { MovementRow } from '../reconciliation/movements.ts'
import type { ReconciliationRow } from '../reconciliation/store.ts'
import {
  byKind,
  netCents,
  restoredTotals,
  type StoredTotals,
  type Totals,
} from '../reconciliation/totals.ts'
import type { CardService } from '../use-cases/service.ts'
import { actRoute } from './act-route.ts'
import { readAdviceResolution } from './bodies.ts'
import { reconciliationDocuments } from './reconciliation-documents.ts'

/** Business days compared with networks; of all accounts, as the network knows none. */
export const reconciliationRoutes = (service: CardService): readonly Route[] => [
  route(reconciliationDocuments.list, async ({ query, caller }) => {
    const { limit, cursor, network, status } = query
    const filter = { network, status, beforeId: cursor, limit: limit + 1 }
    const found = await service.reconciliations(filter, caller)
    return pageResponse('reconciliations', found, limit, viewOf)
  }),
  route(reconciliationDocuments.movements, async ({ params, query, caller }) => {
    const { limit, cursor } = query
    const found = await service.movements(params.id, cursor, limit + 1, caller)
    return pageResponse('movements', found, limit, movementView)
  }),
  actRoute(reconciliationDocuments.resolve, readAdviceResolution, service.resolveDay),
]

const sumsView = (totals: Totals, { authorizations = null, fees }: StoredTotals) => ({
  ...byKind((kind) => ({ number: totals[kind].count, amount: Number(totals[kind].cents) })),
  authorizations,
  fees: feesView(fees),
  net: Number(netCents(totals)),
})

const toldView = (theirs: StoredTotals) => ({
  ...byKind((kind) => {
    const { count: number = null, cents = null } = theirs[kind]
    return { number, amount: numberOf(cents) }
  }),
  authorizations: theirs.authorizations ?? null,
  fees: feesView(theirs.fees),
})

const numberOf = (cents: string | null): number | null => (cents === null ? null : Number(cents))

const feesView = (fees: StoredTotals['fees']) =>
  fees === undefined
    ? null
    : Object.fromEntries(feeNames.map((name) => [name, numberOf(fees[name] ?? null)]))

/** By how much we have more than the network, for all that it told. */
const differenceView = (
  ours: Totals,
  { authorizations: counted = null }: StoredTotals,
  theirs: StoredTotals,
) => ({
  ...byKind((kind) => {
    const { count = null, cents = null } = theirs[kind]
    const number = count === null ? null : ours[kind].count - count
    const amount = cents === null ? null : Number(ours[kind].cents - BigInt(cents))
    return { number, amount }
  }),
  authorizations:
    counted === null || theirs.authorizations == null ? null : counted - theirs.authorizations,
  fees: feesDifference(ours.fees, theirs.fees),
})

/** Null if there is no fee that both know. */
const feesDifference = (ours: Totals['fees'] = {}, theirs: StoredTotals['fees'] = {}) => {
  const of = (name: FeeName): number | null => {
    const [own, told] = [ours[name], theirs[name]]
    return own == null || told == null ? null : Number(own - BigInt(told))
  }
  const all = Object.fromEntries(feeNames.map((name) => [name, of(name)]))
  return Object.values(all).every((one) => one === null) ? null : all
}

const viewOf = (one: ReconciliationRow) => {
  const ours = one.ours && restoredTotals(one.ours)
  return {
    id: String(one.id),
    network: one.network,
    day: one.day,
    currency: one.currency,
    status: one.status,
    ours: ours && one.ours && sumsView(ours, one.ours),
    theirs: one.theirs && toldView(one.theirs),
    difference: ours && one.ours && one.theirs && differenceView(ours, one.ours, one.theirs),
    stan: one.stan,
    attempts: one.attempts,
    upload: one.upload && {
      status: one.upload,
      taken: one.uploaded,
      refused: one.uploadsRefused,
    },
    response_code: one.responseCode,
    settlement_code: one.settlementCode,
    created_at: one.createdAt.toISOString(),
    sent_at: one.sentAt?.toISOString() ?? null,
    ended_at: one.endedAt?.toISOString() ?? null,
    resolved_at: one.resolvedAt?.toISOString() ?? null,
    resolved_reason: one.resolvedReason,
  }
}

const movementView = (one: MovementRow) => ({
  id: String(one.id),
  transaction_id: one.transactionId,
  kind: one.kind,
  amount: Number(one.cents),
  stan: one.stan,
  rrn: one.rrn,
  at: one.at.toISOString(),
})
