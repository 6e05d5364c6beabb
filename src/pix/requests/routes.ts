import {
  callerOf,
  type RequestContext,
  type Route,
  readJsonValue,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { pixRoute } from '../pix-route.ts'
import { readCancellation } from './body.ts'
import { listDocument } from './documents.ts'
import type { RecurrenceRequest } from './domain.ts'
import type { RequestService } from './service.ts'

const bodyBytesMax = 16_384

const idOf = (c: RequestContext): string => c.req.param('idSolicRec') ?? ''

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
  pixRoute(
    'POST',
    '/solicrec',
    'solicrec:write',
    'Criar solicitação de confirmação de recorrência.',
    {
      bodyBytesMax,
      isIdempotent: true,
      handle: async (c) => respond(await service.create(await readJsonValue(c), callerOf(c))),
    },
  ),
  pixRoute(
    'GET',
    '/solicrec/{idSolicRec}',
    'solicrec:read',
    'Consultar solicitação de confirmação de recorrência.',
    {
      handle: async (c) => Response.json(await service.find(callerOf(c).owner, idOf(c))),
    },
  ),
  pixRoute(
    'PATCH',
    '/solicrec/{idSolicRec}',
    'solicrec:write',
    'Revisar solicitação de confirmação de recorrência.',
    {
      bodyBytesMax,
      handle: async (c) => {
        readCancellation(await readJsonValue(c))
        // The standard has it so.
        return Response.json(await service.cancel(callerOf(c).owner, idOf(c)), { status: 201 })
      },
    },
  ),
]
