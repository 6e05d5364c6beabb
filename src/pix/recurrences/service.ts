import type { Emit } from '#src/events/index.ts'
import { type Client, inSnapshot, type Transaction } from '#src/platform/database/index.ts'
import { ApiError, type Caller, runOnce } from '#src/platform/http/index.ts'
import { dayAt } from '#src/platform/runtime/index.ts'
import { type ChargeKind, kindOf } from '../charges/domain.ts'
import { findCharge } from '../charges/store.ts'
import type { Addresses } from '../charges/view.ts'
import { endCollections } from '../collections/ending.ts'
import { isCharged } from '../collections/store.ts'
import { pixErrors, violates } from '../errors.ts'
import { locationsOf } from '../locations/store.ts'
import { type Asked, parametersOf } from '../pages.ts'
import { payerOf } from '../requests/domain.ts'
import { changeRequest, liveRequestOf } from '../requests/store.ts'
import {
  onlyWhenCreated,
  type RecurrenceRequest,
  type RecurrenceRevision,
  readNewRecurrence,
  refuseRecurrence,
} from './body.ts'
import {
  cancelledByReceiver,
  endedStatuses,
  freshRecurrenceId,
  movedTo,
  type Recurrence,
  type RecurrenceLocation,
  type RecurrenceTerms,
} from './domain.ts'
import { recurrenceEvent } from './events.ts'
import { cancellationDraft, type MandateSender } from './mandate.ts'
import {
  addRecurrence,
  companiesOf,
  findRecurrence,
  listRecurrences,
  lockRecurrence,
  lockRecurrenceLocation,
  printedOf,
  type RecurrenceFilter,
  reviseRecurrence,
} from './store.ts'
import { type CodeCharge, codeView, type RecurrenceAddress, recurrenceView } from './view.ts'

export type RecurrenceServiceDeps = {
  readonly sql: Client
  /** The addresses of charges. */
  readonly addresses: Addresses
  readonly addressOf: RecurrenceAddress
  readonly ispb: string
  readonly emit: Emit
  readonly sender: MandateSender
  readonly now: () => Date
}

export type RecurrenceService = ReturnType<typeof createRecurrenceService>

/** Recurrences of receivers, as far as the receiver alone makes them: CRIADA and CANCELADA. */
export const createRecurrenceService = (deps: RecurrenceServiceDeps) => {
  const { sql, addressOf, now } = deps
  const view = (recurrence: Recurrence) => recurrenceView(recurrence, addressOf)
  return {
    /** @throws ApiError `rec_operacao_invalida` */
    create: (value: unknown, caller: Caller) =>
      runOnce(sql, caller.idempotencyKey, async (tx) => {
        // Behind the key: a repetition may come on a later day.
        const request = readNewRecurrence(value, dayAt(now()))
        const made = await makeRecurrence(tx, caller.owner, request, deps)
        return { status: 201, body: JSON.stringify(view(made)) }
      }),
    revise: (account: string, id: string, revision: RecurrenceRevision) =>
      sql.begin(async (tx) => {
        const before = await lockRecurrence(tx, account, id)
        if (before === undefined) throw noRecurrence()
        const at = now()
        const after = await revised(tx, before, revision, at)
        await reviseRecurrence(tx, after)
        if (after.status !== before.status) await tellOfEnd(tx, before, after, { ...deps, at })
        return view(after)
      }),
    /** @param txid of a charge that the QR code is to ask for as well */
    find: async (account: string, id: string, txid: string | undefined) => {
      const found = await findRecurrence(sql, account, id)
      if (found === undefined) throw noRecurrence()
      const charge = txid === undefined ? undefined : await chargeOf(deps, found, txid)
      const printed = await printedOf(sql, account, found.taxId)
      const dadosQR = codeView(found, addressOf, printed, charge)
      return { ...view(found), ...(dadosQR === undefined ? {} : { dadosQR }) }
    },
    list: async (account: string, filter: Asked<RecurrenceFilter>) => {
      const { items, total } = await inSnapshot(sql, (tx) => listRecurrences(tx, account, filter))
      const parametros = parametersOf(filter, total)
      return { parametros, recs: items.map(view) }
    },
  }
}

export const noRecurrence = (): ApiError =>
  new ApiError(pixErrors.rec_nao_encontrada, 'Recorrência não encontrada para o idRec informado.')

const makeRecurrence = async (
  tx: Transaction,
  account: string,
  { terms, agreement, locationId }: RecurrenceRequest,
  { ispb, now }: RecurrenceServiceDeps,
): Promise<Recurrence> => {
  const { taxId, name: receiverName } = await companyFor(tx, account, agreement)
  const at = now()
  const id = freshRecurrenceId(ispb, terms.retries, at)
  const made: Recurrence = {
    id,
    account,
    taxId,
    receiverName,
    agreement: agreement ?? null,
    terms,
    status: 'CRIADA',
    history: [{ status: 'CRIADA', data: at.toISOString() }],
    payer: null,
    journey: null,
    ending: null,
    location: locationId === undefined ? undefined : await placeFor(tx, account, id, locationId),
    createdAt: at,
  }
  await addRecurrence(tx, made)
  return made
}

/**
 * Who is paid: a recurrence names no key. An account that receives for several companies says in `convenio`, by its
 * CNPJ, for which.
 */
const companyFor = async (tx: Transaction, account: string, agreement: string | undefined) => {
  const companies = await companiesOf(tx, account)
  const [first] = companies
  if (first === undefined) {
    throw new ApiError(pixErrors.acesso_negado, 'A conta não tem recebedor com CNPJ.')
  }
  const wanted = companies.find(({ taxId }) => taxId === agreement)
  if (wanted !== undefined || companies.length === 1) return wanted ?? first
  const propriedade = 'rec.recebedor.convenio'
  const razao = `O valor do campo ${propriedade} não é aceito pelo PSP Recebedor: a conta tem vários CNPJ, e o convênio deve ser um deles.`
  throw refuseRecurrence({ razao, propriedade, valor: agreement })
}

/** @throws ApiError if the location is not the account's, or another recurrence has it */
const placeFor = async (
  tx: Transaction,
  account: string,
  id: string,
  locationId: number,
): Promise<RecurrenceLocation> => {
  const location = await lockRecurrenceLocation(tx, account, BigInt(locationId))
  const isFree = location?.recurrenceId === null || location?.recurrenceId === id
  if (location !== undefined && isFree) return { ...location, recurrenceId: id }
  const razao =
    location === undefined
      ? 'O location referenciado por rec.loc inexiste.'
      : 'O location referenciado por rec.loc já está sendo utilizado por outra recorrência.'
  throw refuseRecurrence({ razao, propriedade: 'rec.loc', valor: String(locationId) })
}

const revised = async (
  tx: Transaction,
  before: Recurrence,
  revision: RecurrenceRevision,
  now: Date,
): Promise<Recurrence> => {
  const { status, account, id } = before
  const { locationId, isCancelled } = revision
  if (endedStatuses.has(status)) {
    const razao = 'A recorrência encontra-se expirada, cancelada ou rejeitada.'
    throw refuseRecurrence({ razao, propriedade: 'rec.status', valor: status })
  }
  if (status !== 'CRIADA' && locationId !== undefined) {
    throw onlyWhenCreated('rec.loc', String(locationId))
  }
  const terms = revision.revise(before)
  await judgeChange(tx, before, terms)
  const location =
    locationId === undefined ? before.location : await placeFor(tx, account, id, locationId)
  const after = { ...before, terms, location }
  if (!isCancelled) return after
  return { ...movedTo(after, 'CANCELADA', now), ending: cancelledByReceiver }
}

/** What the payer is asked for, or has agreed to, both sides hold. @throws ApiError `rec_operacao_invalida` */
const judgeChange = async (
  tx: Transaction,
  { id, payer, terms: before }: Recurrence,
  { startsOn, firstTxid }: RecurrenceTerms,
): Promise<void> => {
  const isWaiting = payer?.waiting !== undefined
  if (isWaiting && firstTxid !== before.firstTxid) {
    throw fixed('rec.ativacao.dadosJornada.txid', firstTxid, awaitsPayment)
  }
  if (startsOn === before.startsOn) return
  const propriedade = 'rec.calendario.dataInicial'
  // The cycles of charges are counted from this day, once.
  if (await isCharged(tx, id)) {
    const razao =
      'quando existe uma CobR da recorrência com status diferente de REJEITADA e CANCELADA'
    throw fixed(propriedade, startsOn, razao)
  }
  if (isWaiting) throw fixed(propriedade, startsOn, awaitsPayment)
  if ((await liveRequestOf(tx, id)) !== undefined) {
    const razao = 'quando existe uma solicitação ativa da recorrência, que pode ser cancelada antes'
    throw fixed(propriedade, startsOn, razao)
  }
}

const awaitsPayment = 'enquanto a autorização do pagador espera pelo pagamento da primeira cobrança'

const fixed = (propriedade: string, valor: string | undefined, when: string): ApiError =>
  refuseRecurrence({
    razao: `O campo ${propriedade} não pode ser alterado ${when}.`,
    propriedade,
    valor,
  })

/** The receiver has cancelled it: the payer's institution is told, what was asked for and charged ends with it. */
const tellOfEnd = async (
  tx: Transaction,
  before: Recurrence,
  after: Recurrence,
  { emit, sender, ispb, at }: RecurrenceServiceDeps & { readonly at: Date },
): Promise<void> => {
  const live = await liveRequestOf(tx, after.id)
  if (live !== undefined) await changeRequest(tx, movedTo(live, 'CANCELADA', at))
  const payer = before.payer ?? (live && payerOf(live.recipient))
  const drafts =
    payer === undefined ? [] : [cancellationDraft(after, payer, { reason: 'SLCR', ispb, at })]
  await endCollections(tx, [after], { emit, at })
  await sender.sendWithin(tx, drafts, at)
  await emit(tx, [recurrenceEvent(after)])
}

/** Once a payer has authorised the recurrence, its code asks for a charge as he was asked. */
const isFitting = (journey: Recurrence['journey'], kind: ChargeKind): boolean =>
  journey === null || journey === (kind === 'cob' ? 'JORNADA_3' : 'JORNADA_4')

/** @throws ApiError `rec_consulta_invalida` if the recurrence cannot begin with the charge */
const chargeOf = async (
  { sql, addresses }: RecurrenceServiceDeps,
  { account, terms, journey }: Recurrence,
  txid: string,
): Promise<CodeCharge> => {
  const refuse = (razao: string): ApiError =>
    violates(pixErrors.rec_consulta_invalida, [{ razao, propriedade: 'txid', valor: txid }])
  const charge = await findCharge(sql, account, txid)
  const kind = charge && kindOf(charge.terms)
  if (charge === undefined || kind === undefined || !isFitting(journey, kind)) {
    throw refuse(
      'O parâmetro txid não corresponde a uma cobrança compatível com o campo ativacao.tipoJornada.',
    )
  }
  if (kind === 'cob' && terms.firstTxid !== txid) {
    throw refuse(
      'O parâmetro txid corresponde a uma cobrança imediata diferente da informada no campo ativacao.dadosJornada.txid.',
    )
  }
  const location = (await locationsOf(sql, [charge.id])).get(charge.id)
  return { kind, address: location && addresses.of(location) }
}
