import type { Client } from '#src/platform/database/index.ts'
import { ApiError, type Route } from '#src/platform/http/index.ts'
import type { Charge } from './charges/domain.ts'
import { chargeById } from './charges/store.ts'
import { payloadPath, termsView } from './charges/view.ts'
import { pixErrors, renderPixError } from './errors.ts'
import { findByToken } from './locations/store.ts'

/** The JOSE feature signs; `src/main.ts` passes it. */
export type SignPayload = {
  readonly sign: (kid: string, content: Uint8Array, jku: string) => Promise<string>
  readonly keySet: () => Promise<readonly object[]>
}

export type PayloadDeps = {
  readonly sql: Client
  readonly signing: SignPayload
  /** Of the certificate in the store. */
  readonly kid: string
  /** Of PIX_LOCATION_HOST. */
  readonly host: string
  readonly now: () => Date
}

const tokenForm = /^[0-9a-f]{32}$/
const keysPath = `${payloadPath}/jwks.json`
const keysForSeconds = 300

/**
 * What payers' institutions read at a location: open to whoever knows its address, and signed. Of the debtor it holds
 * what the standard shows, the name and the tax id.
 */
export const payloadRoutes = (deps: PayloadDeps): readonly Route[] => [
  {
    ...{ method: 'GET', path: keysPath, scope: 'public', errorStyle: renderPixError },
    document: shownAs('Chaves que verificam os payloads.'),
    handle: async () => {
      const headers = {
        'Content-Type': 'application/json',
        'Cache-Control': `public, max-age=${keysForSeconds}`,
      }
      return Response.json({ keys: await deps.signing.keySet() }, { headers })
    },
  },
  {
    ...{ method: 'GET', path: `${payloadPath}/{token}`, scope: 'public' },
    errorStyle: renderPixError,
    document: shownAs('Recuperar o payload JSON que representa a cobrança imediata.'),
    handle: async (c) => {
      const charge = await shownAt(deps.sql, c.req.param('token') ?? '')
      const content = Buffer.from(JSON.stringify(payloadOf(charge, deps.now())))
      const jku = `https://${deps.host}${keysPath}`
      const token = await deps.signing.sign(deps.kid, content, jku)
      // It tells when it was read.
      const headers = { 'Content-Type': 'application/jose', 'Cache-Control': 'no-store' }
      return new Response(token, { headers })
    },
  },
]

const shownAs = (summary: string): Route['document'] => ({
  ...{ operation: undefined, summary, tag: 'API Pix', responses: {} },
})

/** @throws ApiError 404 if the location shows nothing */
const shownAt = async (sql: Client, token: string): Promise<Charge> => {
  const location = tokenForm.test(token) ? await findByToken(sql, token) : undefined
  const id = location?.kind === 'cob' ? location.chargeId : null
  const charge = id === null || id === undefined ? undefined : await chargeById(sql, id)
  if (charge !== undefined) return charge
  throw new ApiError(pixErrors.cob_payload_nao_encontrado, 'A location não apresenta cobrança.')
}

/** One that is paid, removed or expired is shown too: its status says so. */
const payloadOf = (charge: Charge, now: Date) => ({
  revisao: charge.revision,
  calendario: {
    criacao: charge.createdAt.toISOString(),
    apresentacao: now.toISOString(),
    expiracao: charge.terms.expiresSeconds,
  },
  txid: charge.txid,
  status: charge.status,
  ...termsView(charge),
})
