import { type RequestContext, type Route, route } from '#src/platform/http/index.ts'
import { payloadPath } from '../charges/view.ts'
import { pixErrorRenderer } from '../errors.ts'
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
  route(contractOf(keysPath, 'Chaves que verificam os payloads.'), async () => {
    const headers = {
      'Content-Type': 'application/json',
      'Cache-Control': `public, max-age=${keysForSeconds}`,
    }
    return Response.json({ keys: await keySet() }, { headers })
  }),
  payloadRoute(
    '',
    'Recuperar o payload JSON que representa a cobrança imediata.',
    service.immediate,
  ),
  payloadRoute(
    '/cobv',
    'Recuperar o payload JSON que representa a cobrança com vencimento.',
    (token, { req }) => service.due(token, { codMun: req.query('codMun'), DPP: req.query('DPP') }),
  ),
  payloadRoute(
    '/rec',
    'Recuperar o payload JSON que representa a recorrência.',
    service.recurrence,
  ),
]

const contractOf = (path: string, summary: string) =>
  ({
    at: `GET ${path}`,
    scope: 'public',
    errorStyle: pixErrorRenderer(),
    operation: undefined,
    summary,
    responses: {},
  }) as const

/** A payload tells when it was read. */
const payloadRoute = (
  kind: string,
  summary: string,
  show: (token: string, c: RequestContext) => Promise<string>,
): Route =>
  route(contractOf(`${payloadPath}${kind}/{token}`, summary), async ({ c }) => {
    const headers = { 'Content-Type': 'application/jose', 'Cache-Control': 'no-store' }
    return new Response(await show(c.req.param('token') ?? '', c), { headers })
  })
