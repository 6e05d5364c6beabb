import type { RequestContext, Route } from '#src/platform/http/index.ts'
import { payloadPath } from '../charges/view.ts'
import { renderPixError } from '../errors.ts'
import type { PayloadService } from './service.ts'

export const keysPath = `${payloadPath}/jwks.json`
const keysForSeconds = 300

/**
 * What payers' institutions read at a location: open to whoever knows its address, and signed. Of the debtor it holds
 * what the standard shows, the name and the tax id.
 */
export const payloadRoutes = (
  service: PayloadService,
  keySet: () => Promise<readonly object[]>,
): readonly Route[] => [
  {
    ...route(keysPath, 'Chaves que verificam os payloads.'),
    handle: async () => {
      const headers = {
        'Content-Type': 'application/json',
        'Cache-Control': `public, max-age=${keysForSeconds}`,
      }
      return Response.json({ keys: await keySet() }, { headers })
    },
  },
  {
    ...route(
      `${payloadPath}/{token}`,
      'Recuperar o payload JSON que representa a cobrança imediata.',
    ),
    handle: async (c) => shown(await service.immediate(tokenOf(c))),
  },
  {
    ...route(
      `${payloadPath}/cobv/{token}`,
      'Recuperar o payload JSON que representa a cobrança com vencimento.',
    ),
    handle: async (c) => {
      const query = { codMun: c.req.query('codMun'), DPP: c.req.query('DPP') }
      return shown(await service.due(tokenOf(c), query))
    },
  },
  {
    ...route(
      `${payloadPath}/rec/{token}`,
      'Recuperar o payload JSON que representa a recorrência.',
    ),
    handle: async (c) => shown(await service.recurrence(tokenOf(c))),
  },
]

const route = (path: string, summary: string): Omit<Route, 'handle'> => ({
  method: 'GET',
  path,
  scope: 'public',
  errorStyle: renderPixError,
  document: { operation: undefined, summary, responses: {} },
})

const tokenOf = (c: RequestContext): string => c.req.param('token') ?? ''

/** It tells when it was read. */
const shown = (token: string): Response =>
  new Response(token, {
    headers: { 'Content-Type': 'application/jose', 'Cache-Control': 'no-store' },
  })
