import {
  callerOf,
  type RequestContext,
  type Route,
  readJsonValue,
  respond,
} from '#src/platform/http/index.ts'
import { pixRoute } from '../pix-route.ts'
import { readCancellation } from './body.ts'
import type { RequestService } from './service.ts'

const bodyBytesMax = 16_384

const idOf = (c: RequestContext): string => c.req.param('idSolicRec') ?? ''

/** `solicrec`: payers are asked to authorise recurrences. */
export const requestRoutes = (service: RequestService): readonly Route[] => [
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
