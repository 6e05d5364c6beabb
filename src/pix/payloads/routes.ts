import type { Client } from '#src/platform/database/index.ts'
import { ApiError, type RequestContext, type Route } from '#src/platform/http/index.ts'
import { type Charge, type ChargeKind, personIn } from '../charges/domain.ts'
import { calendarView, payloadPath, termsView } from '../charges/view.ts'
import { duesOn, lastDayOf } from '../due/arithmetic.ts'
import { type Day, dayAt, isDay } from '../due/calendar.ts'
import { duesView, receiverView } from '../due/view.ts'
import { pixErrors, renderPixError, violates } from '../errors.ts'
import type { Payee } from '../receivers/domain.ts'
import { endedStatuses, type Recurrence } from '../recurrences/domain.ts'
import { recurrenceByToken } from '../recurrences/store.ts'
import { recurrencePayload } from '../recurrences/view.ts'
import { createPayloadReader } from './reading.ts'
import { createPayloadSigner, type SignPayload, toTheSecond } from './signing.ts'
import type { Presented } from './store.ts'

export type PayloadDeps = {
  readonly sql: Client
  readonly signing: SignPayload
  /** Of the certificate in the store. */
  readonly kid: string
  /** Of PIX_LOCATION_HOST. */
  readonly host: string
  /** Ours; empty where there are no recurrences. */
  readonly ispb: string
  readonly now: () => Date
}

const tokenForm = /^[0-9a-f]{32}$/
const keysPath = `${payloadPath}/jwks.json`
const keysForSeconds = 300

/**
 * What payers' institutions read at a location: open to whoever knows its address, and signed. Of the debtor it holds
 * what the standard shows, the name and the tax id.
 */
export const payloadRoutes = (deps: PayloadDeps): readonly Route[] => {
  const { sql, signing, kid, host, ispb, now } = deps
  const read = createPayloadReader(sql)
  const keysUrl = `https://${host}${keysPath}`
  const sign = createPayloadSigner((text) => signing.sign(kid, Buffer.from(text), keysUrl), now)
  const signed = async (payload: object): Promise<Response> => {
    // It tells when it was read.
    const headers = { 'Content-Type': 'application/jose', 'Cache-Control': 'no-store' }
    return new Response(await sign(JSON.stringify(payload)), { headers })
  }
  /** @throws ApiError 404 if the location shows nothing */
  const shownAt = async (c: RequestContext, kind: ChargeKind): Promise<Presented> => {
    const token = c.req.param('token') ?? ''
    const shown = tokenForm.test(token) ? await read(token) : undefined
    if (shown?.kind === kind) return shown
    throw new ApiError(pixErrors.cob_payload_nao_encontrado, 'A location não apresenta cobrança.')
  }
  return [
    payloadRoute('/jwks.json', 'Chaves que verificam os payloads.', async () => {
      const headers = {
        'Content-Type': 'application/json',
        'Cache-Control': `public, max-age=${keysForSeconds}`,
      }
      return Response.json({ keys: await signing.keySet() }, { headers })
    }),
    payloadRoute(
      '/{token}',
      'Recuperar o payload JSON que representa a cobrança imediata.',
      async (c) => {
        const { charge } = await shownAt(c, 'cob')
        return signed(payloadOf(charge, now()))
      },
    ),
    payloadRoute(
      '/cobv/{token}',
      'Recuperar o payload JSON que representa a cobrança com vencimento.',
      async (c) => {
        const { charge, receiver } = await shownAt(c, 'cobv')
        return signed(duePayloadOf(charge, receiver, readPayment(c, charge, now())))
      },
    ),
    payloadRoute(
      '/rec/{token}',
      'Recuperar o payload JSON que representa a recorrência.',
      async (c) => {
        const recurrence = await recurrenceAt(sql, c.req.param('token') ?? '')
        return signed(recurrencePayload(recurrence, ispb))
      },
    ),
  ]
}

const payloadRoute = (path: string, summary: string, handle: Route['handle']): Route => ({
  ...{ method: 'GET', path: `${payloadPath}${path}`, scope: 'public' },
  ...{ errorStyle: renderPixError, handle },
  document: { operation: undefined, summary, tag: 'API Pix', responses: {} },
})

/** @throws ApiError 404 if the location shows nothing, 400 if what it shows has ended */
const recurrenceAt = async (sql: Client, token: string): Promise<Recurrence> => {
  const recurrence = tokenForm.test(token) ? await recurrenceByToken(sql, token) : undefined
  if (recurrence === undefined) {
    const message = 'A location não apresenta recorrência.'
    throw new ApiError(pixErrors.rec_payload_nao_encontrado, message)
  }
  if (!endedStatuses.has(recurrence.status)) return recurrence
  const propriedade = 'recUrlAccessToken'
  const razao = `O campo ${propriedade} referencia uma recorrência expirada, rejeitada ou cancelada.`
  throw violates(pixErrors.rec_payload_operacao_invalida, [{ razao, propriedade }])
}

/** When it was read; never before it was made. */
const presentedAt = ({ createdAt }: Charge, now: Date): string => {
  const second = toTheSecond(now)
  return (second < createdAt ? createdAt : second).toISOString()
}

/** One that is paid, removed or expired is shown too: its status says so. */
const payloadOf = (charge: Charge, now: Date) => ({
  revisao: charge.revision,
  calendario: {
    criacao: charge.createdAt.toISOString(),
    apresentacao: presentedAt(charge, now),
    expiracao: charge.terms.expiresSeconds,
  },
  txid: charge.txid,
  status: charge.status,
  ...termsView(charge),
})

/** When it is read, and the day on which it is to be paid. */
type Reading = { readonly now: Date; readonly day: Day }

const shownCharsMax = 100

/**
 * `DPP` is the day on which the payer means to pay; `codMun`, the payer's town, is read and changes nothing, as holidays
 * of states and towns are not known.
 *
 * @throws ApiError `cob_payload_operacao_invalida`
 */
const readPayment = (c: RequestContext, { terms }: Charge, now: Date): Reading => {
  const [town, asked] = [c.req.query('codMun'), c.req.query('DPP')]
  const refuse = (propriedade: string, razao: string, valor: string): ApiError =>
    violates(pixErrors.cob_payload_operacao_invalida, [
      { razao, propriedade, valor: valor.slice(0, shownCharsMax) },
    ])
  if (town !== undefined && !/^\d{7}$/.test(town)) {
    throw refuse('codMun', 'codMun não respeita o schema.', town)
  }
  const today = dayAt(now)
  if (asked === undefined) return { now, day: today }
  if (!isDay(asked)) throw refuse('DPP', 'DPP não respeita o schema.', asked)
  if (asked < today) throw refuse('DPP', 'DPP anterior ao momento presente.', asked)
  if (terms.due !== undefined && asked > lastDayOf(terms.due)) {
    throw refuse('DPP', 'DPP superior à validade da cobrança.', asked)
  }
  return { now, day: asked }
}

const duePayloadOf = (
  charge: Charge,
  receiver: Payee | undefined,
  { now, day }: Reading,
): object => {
  const { terms, revision, createdAt, txid, status } = charge
  const { due, originalCents, debtor } = terms
  if (due === undefined) throw new Error('a cobv has a due date')
  return {
    revisao: revision,
    calendario: { ...calendarView(createdAt, terms), apresentacao: presentedAt(charge, now) },
    ...{ txid, status },
    ...termsView(charge),
    ...(debtor === undefined ? {} : { devedor: personIn(debtor) }),
    valor: duesView(originalCents, duesOn(due, originalCents, day)),
    ...(receiver === undefined ? {} : { recebedor: receiverView(receiver) }),
  }
}
