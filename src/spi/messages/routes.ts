import { formatCents } from '#codecs/iso20022'
import { ApiError, httpErrors, pageOf, type Route, route } from '#src/platform/http/index.ts'
import { wantsXml } from '../api/message-body.ts'
import { documents, uuidForm } from './documents.ts'
import {
  type AmountRange,
  amountCentsMax,
  type MessageDetail,
  type MessageFilter,
  type MessageRecord,
  momentOf,
} from './domain.ts'
import type { MessageService } from './service.ts'

/** The endpoints that read stored messages; all need the scope `messages:read`. */
export const messageRoutes = (service: MessageService): readonly Route[] => [
  route(documents.list, async ({ query }) => {
    const filter = {
      type: query.type,
      direction: query.direction,
      status: query.status,
      transactionStatus: query.transaction_status,
      sourceIspb: query.source_ispb,
      destinationIspb: query.destination_ispb,
      endToEndId: query.end_to_end_id,
      bizMsgIdr: query.biz_msg_idr,
      amounts: amountsOf(query),
      from: query.from,
      to: query.to,
    }
    return Response.json(await listOf(service, filter, query))
  }),
  route(documents.activity, async ({ query }) =>
    Response.json(await service.activity(query.minutes)),
  ),
  route(documents.endToEnd, async ({ params: { endToEndId }, query }) => {
    const list = await listOf(service, { endToEndId }, query)
    if (list.total === 0) throw notFound()
    return Response.json(list)
  }),
  route(documents.find, async ({ params, c }) => {
    const id = params.id.toLowerCase()
    if (!uuidForm.test(id)) throw notFound()
    return wantsXml(c) ? xmlOf(await service.document(id)) : jsonOf(await service.find(id))
  }),
]

type AmountQuery = { readonly [K in 'amount' | 'amount_from' | 'amount_to']?: bigint | undefined }

const noAmounts: AmountRange = { fromCents: 1n, toCents: 0n }

/** The range that all three parameters ask for together; undefined if none is given. */
const amountsOf = (query: AmountQuery): AmountRange | undefined => {
  const { amount, amount_from: fromCents = 0n, amount_to: toCents = amountCentsMax } = query
  if (amount !== undefined) {
    const isWithin = fromCents <= amount && amount <= toCents
    return isWithin ? { fromCents: amount, toCents: amount } : noAmounts
  }
  const isAsked = query.amount_from !== undefined || query.amount_to !== undefined
  return isAsked ? { fromCents, toCents } : undefined
}

const notFound = (): ApiError => new ApiError(httpErrors.not_found, 'No such message.')

const xmlOf = (document: Uint8Array | undefined): Response => {
  if (document === undefined) throw notFound()
  return new Response(document, {
    headers: { 'Content-Type': 'application/xml; charset=utf-8', Vary: 'Accept' },
  })
}

const jsonOf = (detail: MessageDetail | undefined): Response => {
  if (detail === undefined) throw notFound()
  return Response.json(detailView(detail), { headers: { Vary: 'Accept' } })
}

const recordView = (record: MessageRecord) => ({
  id: record.id,
  type: record.type,
  direction: record.direction,
  status: record.status,
  channel: record.channel,
  source_ispb: record.sourceIspb,
  destination_ispb: record.destinationIspb,
  end_to_end_id: record.endToEndId,
  biz_msg_idr: record.bizMsgIdr,
  resource_id: record.resourceId,
  transaction_count: record.transactionCount,
  amount: record.totalCents === null ? null : formatCents(BigInt(record.totalCents)),
  created_at: momentOf(record.id).toISOString(),
})

type PageQuery = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}

const listOf = async (
  service: MessageService,
  filter: MessageFilter,
  { limit, offset, cursor }: PageQuery,
) => {
  const { messages, total } = await service.list(filter, {
    limit: limit + 1,
    offset,
    before: cursor,
  })
  const { items, next } = pageOf(messages, limit, ({ id }) => id)
  return { messages: items.map(recordView), total, next_cursor: next }
}

const detailView = (detail: MessageDetail) => ({
  ...recordView(detail.record),
  definition: detail.definition,
  error_code: detail.errorCode,
  signature: detail.signature,
  warnings: detail.warnings,
  trace_id: detail.traceId ?? null,
  transactions: detail.transactions.map((transaction) => ({
    end_to_end_id: transaction.endToEndId ?? null,
    instruction_id: transaction.instructionId ?? null,
    amount: transaction.amountCents === undefined ? null : formatCents(transaction.amountCents),
    debtor_ispb: transaction.debtorIspb ?? null,
    creditor_ispb: transaction.creditorIspb ?? null,
    status: transaction.status ?? null,
    reason: transaction.reason ?? null,
    refusal: transaction.refusal ?? null,
  })),
  history: detail.history.map(({ status, at, detail: note, repetition }) => ({
    status,
    at: at.toISOString(),
    detail: note ?? null,
    repetition: repetition ?? null,
  })),
})
