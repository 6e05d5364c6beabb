import {
  type DirectoryPage,
  type Element,
  type InfractionReport,
  type InfractionRequest,
  infractionElement,
  nodeAt,
  readInfractionReport,
  readPage,
} from '#codecs/dict'
import type { XmlDocument } from '#codecs/xml'
import { type ListQuery, listRequest } from '../lists.ts'
import type { Lane, Refused } from '../wire.ts'
import type { Closing } from './domain.ts'

export type ReportAnswer = { readonly kind: 'report'; readonly report: InfractionReport }
type Told = Promise<ReportAnswer | Refused>

/** Each throws DirectoryAwayError: it may have been done. Only `create` may not be repeated without looking. */
export type InfractionCalls = {
  readonly create: (request: InfractionRequest) => Told
  readonly acknowledge: (id: string) => Told
  readonly close: (id: string, closing: Closing) => Told
  readonly cancel: (id: string) => Told
  readonly find: (id: string) => Told
  /** In the order of their last change. */
  readonly list: (
    query: ListQuery,
  ) => Promise<{ readonly kind: 'page'; readonly page: DirectoryPage<InfractionReport> } | Refused>
}

const base = '/infraction-reports/'

const reportIn = (document: XmlDocument): ReportAnswer => ({
  kind: 'report',
  report: readInfractionReport(
    document,
    nodeAt(document, document.root, 'InfractionReport') ?? document.root,
  ),
})

/** Source: DICT API 2.12.1, /infraction-reports/. */
export const createInfractionCalls = ({ tell, see }: Lane, ispb: string): InfractionCalls => {
  const act = (
    operation: string,
    id: string,
    name: string,
    more: readonly Element[] = [],
  ): Told => {
    const body: Element = [name, [['InfractionReportId', id], ['Participant', ispb], ...more]]
    const path = `${base}${id}/${operation}`
    return tell(`${operation}_infraction`, { method: 'POST', path, body }, reportIn)
  }
  return {
    create: (request) => {
      const body: Element = [
        'CreateInfractionReportRequest',
        [['Participant', ispb], infractionElement(request)],
      ]
      return tell('create_infraction', { method: 'POST', path: base, body }, reportIn)
    },
    acknowledge: (id) => act('acknowledge', id, 'AcknowledgeInfractionReportRequest'),
    close: (id, { result, fraudType, analysis }) =>
      act('close', id, 'CloseInfractionReportRequest', [
        ['FraudType', fraudType],
        ['AnalysisResult', result],
        ['AnalysisDetails', analysis],
      ]),
    cancel: (id) => act('cancel', id, 'CancelInfractionReportRequest'),
    find: (id) => see('find_infraction', { path: base + id }, reportIn),
    list: (query) =>
      see('list_infractions', listRequest(base, ispb, query), (document) => ({
        kind: 'page',
        page: readPage(
          document,
          { list: 'InfractionReports', item: 'InfractionReport' },
          readInfractionReport,
        ),
      })),
  }
}
