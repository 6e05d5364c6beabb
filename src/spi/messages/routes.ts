import { formatCents } from '#codecs/iso20022'
import {
  ApiError,
  httpErrors,
  idParams,
  type RequestContext,
  type Route,
  readParams,
  readQuery,
} from '#src/platform/http/index.ts'
import { documents, endToEndParams, endToEndQuery, listQuery } from './documents.ts'
import { type MessageDetail, type MessageRecord, momentOf, type Page } from './domain.ts'
import type { MessageList, MessageService } from './service.ts'

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The endpoints that read stored messages; all need the scope `messages:read`. */
export const messageRoutes = (service: MessageService): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/messages',
    scope: 'messages:read',
    document: documents.list,
    handle: async (c) => {
      const query = readQuery(c, listQuery)
      const filter = {
        type: query.type,
        direction: query.direction,
        status: query.status,
        sourceIspb: query.source_ispb,
        destinationIspb: query.destination_ispb,
        endToEndId: query.end_to_end_id,
        from: query.from,
        to: query.to,
      }
      return Response.json(listView(await service.list(filter, pageOf(query))))
    },
  },
  {
    method: 'GET',
    path: '/v1/messages/e2e/{endToEndId}',
    scope: 'messages:read',
    document: documents.endToEnd,
    handle: async (c) => {
      const { endToEndId } = readParams(c, endToEndParams)
      const page = pageOf(readQuery(c, endToEndQuery))
      const list = await service.list({ endToEndId }, page)
      if (list.total === 0) throw notFound()
      return Response.json(listView(list))
    },
  },
  {
    method: 'GET',
    path: '/v1/messages/{id}',
    scope: 'messages:read',
    document: documents.find,
    handle: async (c) => {
      const id = readParams(c, idParams).id.toLowerCase()
      if (!uuidForm.test(id)) throw notFound()
      return wantsXml(c) ? xmlOf(await service.document(id)) : jsonOf(await service.find(id))
    },
  },
]

const pageOf = ({
  limit,
  offset,
  cursor,
}: {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}): Page => ({ limit, offset, before: cursor === undefined ? undefined : parseCursor(cursor) })

const notFound = (): ApiError => new ApiError(httpErrors.not_found, 'No such message.')

/** True when the caller names XML and not JSON: anything else gets JSON. */
const wantsXml = (c: RequestContext): boolean => {
  const accept = c.req.raw.headers.get('accept') ?? ''
  return /application\/xml/i.test(accept) && !/application\/json/i.test(accept)
}

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

/** Opaque to callers, so that what it stands for may change. */
const cursorOf = (id: string): string =>
  Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')

const parseCursor = (cursor: string): string => {
  const hex = Buffer.from(cursor, 'base64url').toString('hex')
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  if (uuidForm.test(id) && cursorOf(id) === cursor) return id
  throw new ApiError(httpErrors.validation_failed, 'cursor is not one of ours.', {
    errors: [{ pointer: 'cursor', rule: 'form', message: 'is not one that a list gave' }],
  })
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
  created_at: momentOf(record.id).toISOString(),
})

const listView = ({ messages, total, next }: MessageList) => ({
  messages: messages.map(recordView),
  total,
  next_cursor: next === undefined ? null : cursorOf(next),
})

const detailView = (detail: MessageDetail) => ({
  ...recordView(detail.record),
  definition: detail.definition,
  error_code: detail.errorCode,
  signature: detail.signature,
  warnings: detail.warnings,
  transactions: detail.transactions.map((transaction) => ({
    end_to_end_id: transaction.endToEndId ?? null,
    instruction_id: transaction.instructionId ?? null,
    amount: transaction.amountCents === undefined ? null : formatCents(transaction.amountCents),
    debtor_ispb: transaction.debtorIspb ?? null,
    creditor_ispb: transaction.creditorIspb ?? null,
    status: transaction.status ?? null,
  })),
  history: detail.history.map(({ status, at, detail: note, repetition }) => ({
    status,
    at: at.toISOString(),
    detail: note ?? null,
    repetition: repetition ?? null,
  })),
})
