import { callerOf, type RequestContext, type Route, readJson } from '#src/platform/http/index.ts'
import { emptyBody } from '../disputes/documents.ts'
import { advanced, idOf, pageOfDisputes, sharedView, writing } from '../disputes/routes.ts'
import { closing, reportDocuments as documents, newReport } from './documents.ts'
import { answerUntil, type Report } from './domain.ts'
import type { InfractionService } from './service.ts'

const base = '/v1/dict/infraction-reports'

/** Infraction reports of the directory of Pix keys. */
export const infractionRoutes = (service: InfractionService): readonly Route[] => [
  {
    ...{ ...writing, path: base, document: documents.create },
    handle: async (c) => {
      const {
        transaction_id: transactionId,
        details,
        contact,
        ...asked
      } = await readJson(c, newReport)
      const wanted = { ...asked, transactionId, details: details ?? null, contact: contact ?? null }
      return advanced(await service.report(wanted, callerOf(c)), 201, reportView)
    },
  },
  {
    ...{ method: 'GET', path: base, scope: 'dict:read', document: documents.list },
    handle: async (c) => {
      const { items, next } = await pageOfDisputes(c, service.list)
      return Response.json({ infraction_reports: items.map(reportView), next_cursor: next })
    },
  },
  {
    ...{ method: 'GET', path: `${base}/{id}`, scope: 'dict:read', document: documents.find },
    handle: async (c) => Response.json(reportView(await service.find(idOf(c)))),
  },
  {
    ...{ ...writing, path: `${base}/{id}/acknowledge`, document: documents.acknowledge },
    handle: (c) => plainAct(c, service, 'acknowledge'),
  },
  {
    ...{ ...writing, path: `${base}/{id}/close`, document: documents.close },
    handle: async (c) => {
      const { result, fraud_type: fraudType, analysis } = await readJson(c, closing)
      const wanted = { act: 'close', closing: { result, fraudType, analysis } } as const
      return advanced(await service.act(idOf(c), wanted, callerOf(c)), 200, reportView)
    },
  },
  {
    ...{ ...writing, path: `${base}/{id}/cancel`, document: documents.cancel },
    handle: (c) => plainAct(c, service, 'cancel'),
  },
]

const plainAct = async (
  c: RequestContext,
  service: InfractionService,
  act: 'acknowledge' | 'cancel',
): Promise<Response> => {
  await readJson(c, emptyBody)
  return advanced(await service.act(idOf(c), { act }, callerOf(c)), 200, reportView)
}

const reportView = ({ content, ...report }: Report) => ({
  ...sharedView({ ...report, content }),
  ...{ situation: content.situation, details: content.details, contact: content.contact },
  ...{ result: content.result, analysis: content.analysis, fraud_type: content.fraudType },
  fraud_marker_id: content.fraudMarkerId,
  answer_until: answerUntil({ ...report, content })?.toISOString() ?? null,
})
