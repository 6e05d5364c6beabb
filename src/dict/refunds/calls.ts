import {
  type DirectoryPage,
  type DirectoryRefund,
  type Element,
  nodeAt,
  type RefundAnalysis,
  type RefundRequest,
  readPage,
  readRefund,
  refundAnalysisElements,
  refundElement,
} from '#codecs/dict'
import type { XmlDocument } from '#codecs/xml'
import { type ListQuery, listRequest } from '../lists.ts'
import type { Lane, Refused } from '../wire.ts'
import type { RefundRole } from './domain.ts'

export type RefundAnswer = { readonly kind: 'refund'; readonly refund: DirectoryRefund }
type Told = Promise<RefundAnswer | Refused>

/** Each throws DirectoryAwayError: it may have been done. Only `create` may not be repeated without looking. */
export type RefundCalls = {
  readonly create: (request: RefundRequest) => Told
  readonly close: (id: string, analysis: RefundAnalysis) => Told
  readonly cancel: (id: string) => Told
  readonly find: (id: string) => Told
  /** In the order of their last change. */
  readonly list: (
    role: RefundRole,
    query: ListQuery,
  ) => Promise<{ readonly kind: 'page'; readonly page: DirectoryPage<DirectoryRefund> } | Refused>
}

const base = '/refunds/'
const roles = { requesting: 'REQUESTING', contested: 'CONTESTED' } as const

const refundIn = (document: XmlDocument): RefundAnswer => ({
  kind: 'refund',
  refund: readRefund(document, nodeAt(document, document.root, 'Refund') ?? document.root),
})

/** Source: DICT API 2.12.1, /refunds/. */
export const createRefundCalls = ({ tell, see }: Lane, ispb: string): RefundCalls => {
  const act = (
    operation: string,
    id: string,
    name: string,
    more: readonly Element[] = [],
  ): Told => {
    const body: Element = [name, [['RefundId', id], ['Participant', ispb], ...more]]
    const path = `${base}${id}/${operation}`
    return tell(`${operation}_refund`, { method: 'POST', path, body }, refundIn)
  }
  return {
    create: (request) => {
      const body: Element = ['CreateRefundRequest', [['Participant', ispb], refundElement(request)]]
      return tell('create_refund', { method: 'POST', path: base, body }, refundIn)
    },
    close: (id, analysis) =>
      act('close', id, 'CloseRefundRequest', refundAnalysisElements(analysis)),
    cancel: (id) => act('cancel', id, 'CancelRefundRequest'),
    find: (id) => see('find_refund', { path: base + id }, refundIn),
    list: (role, query) =>
      see(
        'list_refunds',
        listRequest(base, ispb, query, { ParticipantRole: roles[role] }),
        (document) => ({
          kind: 'page',
          page: readPage(document, { list: 'Refunds', item: 'Refund' }, readRefund),
        }),
      ),
  }
}
