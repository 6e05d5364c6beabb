import type { Client, Transaction } from '#src/platform/database/index.ts'
import { ApiError, type Caller, runOnce } from '#src/platform/http/index.ts'
import { addDays, dayAt } from '#src/platform/runtime/index.ts'
import { pixErrors } from '../errors.ts'
import { centsOf } from '../money.ts'
import { freshDatedId, isOutlived, movedTo, type Recurrence } from '../recurrences/domain.ts'
import {
  cancellationDraft,
  type Draft,
  type MandateSender,
  mandateParams,
} from '../recurrences/mandate.ts'
import { noRecurrence } from '../recurrences/service.ts'
import { findRecurrence, lockRecurrence } from '../recurrences/store.ts'
import { type NewRequest, readNewRequest, refuseRequest } from './body.ts'
import { liveStatuses, payerOf, type RecurrenceRequest } from './domain.ts'
import { addRequest, changeRequest, findRequest, liveRequestOf, requestsOf } from './store.ts'
import { requestView } from './view.ts'

export type RequestServiceDeps = {
  readonly sql: Client
  readonly sender: MandateSender
  /** Ours. */
  readonly ispb: string
  readonly now: () => Date
}

export type RequestService = ReturnType<typeof createRequestService>

/** Requests to payers to authorise recurrences, each a pain.009. */
export const createRequestService = (deps: RequestServiceDeps) => {
  const { sql, ispb } = deps
  return {
    /** @throws ApiError `solic_rec_operacao_invalida` */
    create: async (value: unknown, caller: Caller) => {
      const wanted = readNewRequest(value)
      return runOnce(sql, caller.idempotencyKey, async (tx) => {
        const body = await make(tx, caller.owner, wanted, deps)
        return { status: 201, body: JSON.stringify(body) }
      })
    },
    /** @throws ApiError `solic_rec_operacao_invalida` if the payer has answered */
    cancel: (account: string, id: string) => sql.begin((tx) => cancel(tx, account, id, deps)),
    find: async (account: string, id: string) => {
      const request = await findRequest(sql, account, id)
      const recurrence = request && (await findRecurrence(sql, account, request.recurrenceId))
      if (request === undefined || recurrence === undefined) throw noRequest()
      return requestView(request, recurrence, ispb)
    },
    /** The last ones of a recurrence, newest first; none of one that is not the account’s. */
    ofRecurrence: async (account: string, recurrenceId: string) => {
      if ((await findRecurrence(sql, account, recurrenceId)) === undefined) return []
      return (await requestsOf(sql, [recurrenceId])).toReversed()
    },
  }
}

/** A payer is asked for so long at most (IN BCB 436, as others report it). */
const openDaysMax = 30

const noRequest = (): ApiError =>
  new ApiError(
    pixErrors.solic_rec_nao_encontrada,
    'Solicitação de recorrência não encontrada para o idSolicRec informado.',
  )

const make = async (
  tx: Transaction,
  account: string,
  wanted: NewRequest,
  { sender, ispb, now }: RequestServiceDeps,
): Promise<object> => {
  const at = now()
  const recurrence = await agreed(tx, account, wanted, { ispb, at })
  const made: RecurrenceRequest = {
    id: freshDatedId('SC', ispb, at),
    account,
    ...wanted,
    status: 'CRIADA',
    history: [{ status: 'CRIADA', data: at.toISOString() }],
    createdAt: at,
  }
  await addRequest(tx, movedTo(made, 'ENVIADA', at))
  await sender.sendWithin(tx, [requestDraft(made, recurrence)], at)
  return requestView(made, recurrence, ispb)
}

/** @throws ApiError by the rules of the standard */
const agreed = async (
  tx: Transaction,
  account: string,
  { recurrenceId, expiresAt, recipient }: NewRequest,
  { ispb, at }: { readonly ispb: string; readonly at: Date },
): Promise<Recurrence> => {
  const recurrence = await lockRecurrence(tx, account, recurrenceId)
  if (recurrence === undefined) throw noRecurrence()
  if (recurrence.status !== 'CRIADA') {
    const razao = `A recorrência encontra-se com o status ${recurrence.status}.`
    throw refuseRequest({ razao, propriedade: 'solicrec.idRec', valor: recurrenceId })
  }
  if (isOutlived(recurrence, at)) {
    const razao = 'A dataFinal da recorrência já passou.'
    throw refuseRequest({ razao, propriedade: 'solicrec.idRec', valor: recurrenceId })
  }
  const propriedade = 'solicrec.calendario.dataExpiracaoSolicitacao'
  if (expiresAt <= at) {
    const razao = `O campo ${propriedade} é anterior à data de criação da solicitação da recorrência.`
    throw refuseRequest({ razao, propriedade, valor: expiresAt.toISOString() })
  }
  const lastDay = addDays(dayAt(at), openDaysMax)
  if (dayAt(expiresAt) > lastDay) {
    const razao = `O campo ${propriedade} é posterior a ${openDaysMax} dias da criação da solicitação.`
    throw refuseRequest({ razao, propriedade, valor: expiresAt.toISOString() })
  }
  if (recipient.ispbParticipante === ispb) {
    const razao =
      'O campo solicrec.destinatario.ispbParticipante é o do próprio PSP Recebedor: a autorização não passa pelo SPI.'
    throw refuseRequest({ razao, propriedade: 'solicrec.destinatario', valor: ispb })
  }
  if (await liveRequestOf(tx, recurrenceId)) {
    const razao = 'Existe uma solicitação ativa referente ao mesmo solicrec.idRec.'
    throw refuseRequest({ razao, propriedade: 'solicrec.idRec', valor: recurrenceId })
  }
  return recurrence
}

/** pain.009. */
const requestDraft = (
  { id, recipient, expiresAt }: RecurrenceRequest,
  recurrence: Recurrence,
): Draft => {
  const { minimum } = recurrence.terms
  const mandate = {
    ...mandateParams(recurrence, payerOf(recipient)),
    ...(minimum === undefined ? {} : { minimum_amount: Number(centsOf(minimum)) }),
    request_id: id,
    created_at: recurrence.createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  }
  return { type: 'pain.009', params: { mandates: [mandate] } }
}

const cancel = async (
  tx: Transaction,
  account: string,
  id: string,
  { sender, ispb, now }: RequestServiceDeps,
): Promise<object> => {
  const at = now()
  // Every change of a request locks its recurrence before.
  const found = await findRequest(tx, account, id)
  const recurrence = found && (await lockRecurrence(tx, account, found.recurrenceId))
  const request = await findRequest(tx, account, id)
  if (recurrence === undefined || request === undefined) throw noRequest()
  if (!liveStatuses.has(request.status)) {
    const razao =
      'Não é possível cancelar uma solicitação de recorrência com o status diferente de CRIADA, ENVIADA ou RECEBIDA.'
    throw refuseRequest({ razao, propriedade: 'solicrec.status', valor: request.status })
  }
  const after = movedTo(request, 'CANCELADA', at)
  await changeRequest(tx, after)
  const draft = cancellationDraft(recurrence, payerOf(request.recipient), {
    reason: 'ERSL',
    ispb,
    at,
  })
  await sender.sendWithin(tx, [draft], at)
  return requestView(after, recurrence, ispb)
}
