import { type Route, respond, route } from '#src/platform/http/index.ts'
import { pixRoute } from '../pix-route.ts'
import { readCancellation } from './body.ts'
import { listDocument } from './documents.ts'
import type { RecurrenceRequest } from './domain.ts'
import type { RequestService } from './service.ts'

const bodyBytesMax = 16_384

const listedView = ({ id, status, recipient, expiresAt, createdAt }: RecurrenceRequest) => ({
  id,
  status,
  payer_ispb: recipient.ispbParticipante,
  expires_at: expiresAt.toISOString(),
  created_at: createdAt.toISOString(),
})

/** `solicrec`: payers are asked to authorise recurrences. Of a recurrence the standard lists none. */
export const requestRoutes = (service: RequestService): readonly Route[] => [
  route(listDocument, async ({ query: { recurrence_id: id }, caller }) => {
    const requests = await service.ofRecurrence(caller.owner, id)
    return Response.json({ requests: requests.map(listedView) })
  }),
  pixRoute('POST /solicrec', 'solicrec:write', 'Criar solicitação de confirmação de recorrência.', {
    bodyBytesMax,
    idempotent: true,
    handle: async ({ body, caller }) => respond(await service.create(body, caller)),
  }),
  pixRoute(
    'GET /solicrec/{idSolicRec}',
    'solicrec:read',
    'Consultar solicitação de confirmação de recorrência.',
    {
      handle: async ({ params, caller }) =>
        Response.json(await service.find(caller.owner, params.idSolicRec)),
    },
  ),
  pixRoute(
    'PATCH /solicrec/{idSolicRec}',
    'solicrec:write',
    'Revisar solicitação de confirmação de recorrência.',
    {
      bodyBytesMax,
      handle: async ({ params, body, caller }) => {
        readCancellation(body)
        // The standard has it so.
        return Response.json(await service.cancel(caller.owner, params.idSolicRec), { status: 201 })
      },
    },
  ),
]
