/** The operations on infraction reports and refund requests. */
import {
  type Element,
  infractionElement,
  infractionResults,
  proseAt,
  readInfractionRequest,
  readRefundAnalysis,
  readRefundRequest,
  refundElement,
  textAt,
} from '#codecs/dict'
import {
  type Asked,
  actingOn,
  askerOf,
  type Deps,
  type Done,
  goesOn,
  knownUntilMs,
  limitOf,
  listedFor,
  momentIn,
  type Offered,
  type Operation,
  partOf,
  readRequest,
} from './operation.ts'
import type { ListFilter } from './records.ts'
import { Refusal } from './refusal.ts'

const limitDefault = 20

/** @throws Refusal */
const filterOf = ({ query }: Asked, deps: Deps): ListFilter => ({
  limit: limitOf(query.get('Limit'), limitDefault),
  statuses: query.getAll('Status'),
  cursor: query.get('Cursor') ?? undefined,
  fromMs: momentIn(query, 'ModifiedAfter', 0),
  untilMs: Math.min(
    momentIn(query, 'ModifiedBefore', Number.MAX_SAFE_INTEGER),
    knownUntilMs(deps, 'lookup'),
  ),
})

/** @param cursor of the next page; undefined of a list without cursors */
const pageOf = (
  deps: Deps,
  name: string,
  { hasMore, list, cursor }: { hasMore: boolean; list: Element; cursor?: string | undefined },
): Done => {
  const elements: readonly Element[] = [
    ['HasMoreElements', String(goesOn(deps, 'lookup') || hasMore)],
    ['NextCursor', hasMore ? cursor : undefined],
    list,
  ]
  return { status: 200, name, elements }
}

const createInfraction: Operation = (asked, _, deps) => {
  const name = 'CreateInfractionReportRequest'
  const request = readRequest(asked, deps, name, 'INFRACTION_REPORTS_WRITE')
  const wanted = readInfractionRequest(request.document, partOf(request, 'InfractionReport'))
  const elements = [infractionElement(deps.infractions.create(wanted, request.participant))]
  return { status: 201, name: 'CreateInfractionReportResponse', elements }
}

const actOnInfraction = actingOn('InfractionReport', 'INFRACTION_REPORTS_WRITE')

const acknowledgeInfraction = actOnInfraction('Acknowledge', (id, { participant }, deps) => [
  infractionElement(deps.infractions.acknowledge(id, participant)),
])

const cancelInfraction = actOnInfraction('Cancel', (id, { participant }, deps) => [
  infractionElement(deps.infractions.cancel(id, participant)),
])

const closeInfraction = actOnInfraction('Close', (id, request, deps) => {
  const { participant, document, root, textOf } = request
  const text = textOf('AnalysisResult')
  const result = infractionResults.find((one) => one === text)
  if (result === undefined) throw new Refusal('BadRequest', 'AnalysisResult')
  const closed = deps.infractions.close(id, participant, {
    result,
    fraudType: textAt(document, root, 'FraudType'),
    analysis: proseAt(document, root, 'AnalysisDetails'),
  })
  return [infractionElement(closed)]
})

const getInfraction: Operation = (asked, [id = ''], deps) => {
  const found = deps.infractions.find(id, askerOf(asked, deps, 'INFRACTION_REPORTS_READ'))
  const name = 'GetInfractionReportResponse'
  return { status: 200, name, elements: [infractionElement(found)] }
}

const listInfractions: Operation = (asked, _, deps) => {
  const participant = listedFor(asked)
  const roles = {
    isReporter: asked.query.get('IsReporter') === 'true',
    isCounterparty: asked.query.get('IsCounterparty') === 'true',
  }
  const hasRole = roles.isReporter || roles.isCounterparty
  deps.policies.take(
    hasRole ? 'INFRACTION_REPORTS_LIST_WITH_ROLE' : 'INFRACTION_REPORTS_LIST_WITHOUT_ROLE',
    participant,
  )
  const { items, hasMore } = deps.infractions.list(participant, roles, filterOf(asked, deps))
  const list: Element = ['InfractionReports', items.map(infractionElement)]
  return pageOf(deps, 'ListInfractionReportsResponse', { hasMore, list })
}

const createRefund: Operation = (asked, _, deps) => {
  const request = readRequest(asked, deps, 'CreateRefundRequest', 'REFUNDS_WRITE')
  const wanted = readRefundRequest(request.document, partOf(request, 'Refund'))
  const made = deps.refunds.create(wanted, request.participant)
  return { status: 201, name: 'CreateRefundResponse', elements: [refundElement(made)] }
}

const actOnRefund = actingOn('Refund', 'REFUNDS_WRITE')

const cancelRefund = actOnRefund('Cancel', (id, { participant }, deps) => [
  refundElement(deps.refunds.cancel(id, participant)),
])

const closeRefund = actOnRefund('Close', (id, { participant, document, root }, deps) => [
  refundElement(deps.refunds.close(id, participant, readRefundAnalysis(document, root))),
])

const getRefund: Operation = (asked, [id = ''], deps) => {
  const found = deps.refunds.find(id, askerOf(asked, deps, 'REFUNDS_READ'))
  return { status: 200, name: 'GetRefundResponse', elements: [refundElement(found)] }
}

const refundRoles: Readonly<Record<string, 'requesting' | 'contested'>> = {
  REQUESTING: 'requesting',
  CONTESTED: 'contested',
}

const listRefunds: Operation = (asked, _, deps) => {
  const participant = listedFor(asked)
  const role = refundRoles[asked.query.get('ParticipantRole') ?? '']
  if (role === undefined) throw new Refusal('BadRequest', 'ParticipantRole is missing')
  deps.policies.take('REFUND_LIST_WITH_ROLE', participant)
  const { items, hasMore } = deps.refunds.list(participant, role, filterOf(asked, deps))
  const list: Element = ['Refunds', items.map(refundElement)]
  return pageOf(deps, 'ListRefundsResponse', { hasMore, list, cursor: items.at(-1)?.id })
}

const id = '([0-9a-f-]{36})'

export const disputes: readonly Offered[] = [
  ['POST', /^\/infraction-reports\/$/, createInfraction],
  ['GET', /^\/infraction-reports\/$/, listInfractions],
  ['GET', new RegExp(`^/infraction-reports/${id}$`), getInfraction],
  ['POST', new RegExp(`^/infraction-reports/${id}/acknowledge$`), acknowledgeInfraction],
  ['POST', new RegExp(`^/infraction-reports/${id}/close$`), closeInfraction],
  ['POST', new RegExp(`^/infraction-reports/${id}/cancel$`), cancelInfraction],
  ['POST', /^\/refunds\/$/, createRefund],
  ['GET', /^\/refunds\/$/, listRefunds],
  ['GET', new RegExp(`^/refunds/${id}$`), getRefund],
  ['POST', new RegExp(`^/refunds/${id}/close$`), closeRefund],
  ['POST', new RegExp(`^/refunds/${id}/cancel$`), cancelRefund],
]
