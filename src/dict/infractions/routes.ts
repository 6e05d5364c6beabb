import type { Route } from '#src/platform/http/index.ts'
import { emptyBody } from '../disputes/documents.ts'
import { bodyAs, disputeRoutes } from '../disputes/routes.ts'
import { closing, reportDocuments as documents, newReport } from './documents.ts'
import { noFindings } from './domain.ts'
import type { InfractionService } from './service.ts'
import { reportView } from './view.ts'

/** Infraction reports of the directory of Pix keys. */
export const infractionRoutes = (
  service: Pick<InfractionService, 'ask' | 'act' | 'find' | 'list'>,
): readonly Route[] =>
  disputeRoutes(service, {
    member: 'infraction_reports',
    documents,
    ask: bodyAs(newReport, ({ transaction_id: transactionId, reason, situation, ...more }) => {
      const { details = null, contact = null } = more
      return { transactionId, reason, content: { ...noFindings, situation, details, contact } }
    }),
    acts: [
      {
        document: documents.acknowledge,
        wish: bodyAs(emptyBody, () => ({ act: 'acknowledge' })),
      },
      {
        document: documents.close,
        wish: bodyAs(closing, ({ result, fraud_type: fraudType, analysis }) => ({
          act: 'close',
          closing: { result, fraudType, analysis },
        })),
      },
      {
        document: documents.cancel,
        wish: bodyAs(emptyBody, () => ({ act: 'cancel' })),
      },
    ],
    view: reportView,
    show: async (report) => reportView(report),
  })
