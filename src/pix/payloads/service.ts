import type { Client } from '#src/platform/database/index.ts'
import { ApiError } from '#src/platform/http/index.ts'
import { type Day, dayAt, isDay } from '#src/platform/runtime/index.ts'
import { type Charge, type ChargeKind, personIn } from '../charges/domain.ts'
import { calendarView, termsView } from '../charges/view.ts'
import { duesOn, lastDayOf } from '../due/arithmetic.ts'
import type { Calendar } from '../due/calendar.ts'
import { duesView, receiverView } from '../due/view.ts'
import { pixErrors, violates } from '../errors.ts'
import type { Payee } from '../receivers/domain.ts'
import { endedStatuses, type Recurrence } from '../recurrences/domain.ts'
import { recurrenceByToken } from '../recurrences/store.ts'
import { recurrencePayload } from '../recurrences/view.ts'
import { createPayloadReader } from './reading.ts'
import { createPayloadSigner, toTheSecond } from './signing.ts'
import type { Presented } from './store.ts'

export type PayloadServiceDeps = {
  readonly sql: Client
  /** Signs one text. */
  readonly sign: (text: string) => Promise<string>
  /** Ours; empty where there are no recurrences. */
  readonly ispb: string
  readonly now: () => Date
  readonly calendar: Calendar
}

/** What a payer's institution asks of a charge with a due date, as it was given. */
type PaymentQuery = { readonly codMun: string | undefined; readonly DPP: string | undefined }

export type PayloadService = ReturnType<typeof createPayloadService>

const tokenForm = /^[0-9a-f]{32}$/

/** What locations show, by the secret ends of their addresses, as compact JWS. All throw an ApiError 404 if it is nothing. */
export const createPayloadService = (deps: PayloadServiceDeps) => {
  const { sql, ispb, now, calendar } = deps
  const read = createPayloadReader(sql)
  const sign = createPayloadSigner(deps.sign, now)
  const signed = (payload: object): Promise<string> => sign(JSON.stringify(payload))
  const shownAt = async (token: string, kind: ChargeKind): Promise<Presented> => {
    const shown = tokenForm.test(token) ? await read(token) : undefined
    if (shown?.kind === kind) return shown
    throw new ApiError(pixErrors.cob_payload_nao_encontrado, 'A location não apresenta cobrança.')
  }
  return {
    immediate: async (token: string) => {
      const { charge } = await shownAt(token, 'cob')
      return signed(payloadOf(charge, now()))
    },
    /** @throws ApiError `cob_payload_operacao_invalida` */
    due: async (token: string, query: PaymentQuery) => {
      const { charge, receiver } = await shownAt(token, 'cobv')
      const reading = readPayment(query, charge, { now: now(), calendar })
      return signed(duePayloadOf(charge, receiver, reading))
    },
    /** @throws ApiError 400 if what it shows has ended */
    recurrence: async (token: string) =>
      signed(recurrencePayload(await recurrenceAt(sql, token), ispb)),
  }
}

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

type Circumstances = { readonly now: Date; readonly calendar: Calendar }

/** When it is read, and the day on which it is to be paid. */
type Reading = Circumstances & { readonly day: Day }

/**
 * `DPP` is the day on which the payer means to pay; `codMun`, the payer's town, is read and changes nothing, as holidays
 * of states and towns are not known.
 *
 * @throws ApiError `cob_payload_operacao_invalida`
 */
const readPayment = (
  { codMun: town, DPP: asked }: PaymentQuery,
  { terms }: Charge,
  circumstances: Circumstances,
): Reading => {
  const refuse = (propriedade: string, razao: string, valor: string): ApiError =>
    violates(pixErrors.cob_payload_operacao_invalida, [{ razao, propriedade, valor }])
  if (town !== undefined && !/^\d{7}$/.test(town)) {
    throw refuse('codMun', 'codMun não respeita o schema.', town)
  }
  const today = dayAt(circumstances.now)
  if (asked === undefined) return { ...circumstances, day: today }
  if (!isDay(asked)) throw refuse('DPP', 'DPP não respeita o schema.', asked)
  if (asked < today) throw refuse('DPP', 'DPP anterior ao momento presente.', asked)
  if (terms.due !== undefined && asked > lastDayOf(terms.due, circumstances.calendar)) {
    throw refuse('DPP', 'DPP superior à validade da cobrança.', asked)
  }
  return { ...circumstances, day: asked }
}

const duePayloadOf = (
  charge: Charge,
  receiver: Payee | undefined,
  { now, day, calendar }: Reading,
): object => {
  const { terms, revision, createdAt, txid, status } = charge
  const { due, originalCents, debtor } = terms
  if (due === undefined) throw new Error('a cobv has a due date')
  return {
    revisao: revision,
    calendario: { ...calendarView(createdAt, terms), apresentacao: presentedAt(charge, now) },
    txid,
    status,
    ...termsView(charge),
    ...(debtor === undefined ? {} : { devedor: personIn(debtor) }),
    valor: duesView(originalCents, duesOn(due, originalCents, day, calendar)),
    ...(receiver === undefined ? {} : { recebedor: receiverView(receiver) }),
  }
}
