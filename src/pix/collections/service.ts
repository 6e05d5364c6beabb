import type { Emit } from '#src/events/index.ts'
import { type Client, inSnapshot, type Transaction } from '#src/platform/database/index.ts'
import { ApiError, type Caller, runOnce } from '#src/platform/http/index.ts'
import { type Day, dayAt } from '#src/platform/runtime/index.ts'
import { findCharge } from '../charges/store.ts'
import type { Calendar } from '../due/calendar.ts'
import { objectionToFar } from '../due/domain.ts'
import { paymentUnderWay, pixErrors, violates } from '../errors.ts'
import { centsOf } from '../money.ts'
import { type Asked, parametersOf } from '../pages.ts'
import { randomHex } from '../random-hex.ts'
import { pixByIds } from '../received/store.ts'
import { creditedAccountsOf } from '../receivers/store.ts'
import { cancelledByReceiver, endedStatuses, type Recurrence } from '../recurrences/domain.ts'
import type { MandateSender } from '../recurrences/mandate.ts'
import { findRecurrences, lockRecurrence } from '../recurrences/store.ts'
import { lockTxid, withoutWaiting } from '../txids.ts'
import { advance, attempted, cancellationsOf } from './advance.ts'
import { type NewCollection, readNewCollection, refuseCollection } from './body.ts'
import {
  accountTypes,
  type Collection,
  type CollectionContent,
  cycleOf,
  lastCallOf,
  lastRetryDay,
  lastScheduleDay,
  openAttempts,
  openStatuses,
  paidIds,
  retriesMax,
  settlementDay,
} from './domain.ts'
import { cancelledCollection } from './ending.ts'
import { collectionEvents } from './events.ts'
import { payingAttempts } from './paying.ts'
import {
  addCollection,
  type CollectionFilter,
  changeCollection,
  findCollection,
  hasTooMany,
  listCollections,
  lockCollection,
  recurrencesMax,
} from './store.ts'
import { collectionView } from './view.ts'

export type CollectionServiceDeps = {
  readonly sql: Client
  readonly sender: MandateSender
  readonly emit: Emit
  /** Ours. */
  readonly ispb: string
  readonly now: () => Date
  readonly calendar: Calendar
}

export type CollectionService = ReturnType<typeof createCollectionService>

/** Charges of recurrences, each asked for by a pain.013 in its time. */
export const createCollectionService = (deps: CollectionServiceDeps) => {
  const { sql } = deps
  const shown = async (collections: readonly Collection[]): Promise<readonly object[]> => {
    const ids = [...new Set(collections.map(({ recurrenceId }) => recurrenceId))]
    const recurrences = new Map((await findRecurrences(sql, ids)).map((one) => [one.id, one]))
    const paid = await pixByIds(sql, collections.flatMap(paidIds))
    return collections.flatMap((one) => {
      const recurrence = recurrences.get(one.recurrenceId)
      const pix = paidIds(one).flatMap((id) => paid.get(id) ?? [])
      return recurrence === undefined ? [] : [collectionView(one, recurrence, pix)]
    })
  }
  const find = async (account: string, txid: string): Promise<object> => {
    const collection = await findCollection(sql, account, txid)
    const [view] = collection === undefined ? [] : await shown([collection])
    if (view === undefined) throw noCollection()
    return view
  }
  return {
    /** A repeated request gets what became of the charge. @throws ApiError `cobr_operacao_invalida` */
    put: async (account: string, txid: string, value: unknown) => {
      const wanted = readNewCollection(value)
      const made = await withoutWaiting(sql, async (tx) => {
        // Lock it before the recurrence, whose lock payments wait for.
        await lockTxid(tx, account, txid)
        const known = await findCollection(tx, account, txid)
        if (known !== undefined && isRepeated(known, wanted)) return undefined
        return make(tx, { account, txid }, wanted, deps)
      })
      return made ?? find(account, txid)
    },
    /** The same, with a txid of ours. */
    create: async (value: unknown, caller: Caller) => {
      const wanted = readNewCollection(value)
      return runOnce(sql, caller.idempotencyKey, async (tx) => {
        const txid = randomHex()
        const body = await make(tx, { account: caller.owner, txid }, wanted, deps)
        return { status: 201, body: JSON.stringify(body) }
      })
    },
    cancel: (account: string, txid: string) =>
      sql.begin((tx) => cancel(tx, { account, txid }, deps)),
    retry: (account: string, txid: string, day: Day) =>
      sql.begin((tx) => retry(tx, { account, txid }, day, deps)),
    find,
    list: async (account: string, filter: Asked<CollectionFilter>) => {
      const { items, total } = await inSnapshot(sql, async (tx) => {
        if (await hasTooMany(tx, account, filter)) throw tooMany(filter)
        return listCollections(tx, account, filter)
      })
      const parametros = parametersOf(filter, total)
      return { parametros, cobsr: await shown(items) }
    },
  }
}

const tooMany = ({ refusal, debtorTaxId: valor = '' }: Asked<CollectionFilter>): ApiError => {
  const razao = `O devedor tem mais de ${recurrencesMax} recorrências: consulte por idRec.`
  const propriedade = valor.length === cpfDigits ? 'cpf' : 'cnpj'
  return violates(refusal, [{ razao, propriedade, valor }])
}

const cpfDigits = 11

const noCollection = (): ApiError =>
  new ApiError(pixErrors.cobr_nao_encontrado, 'Cobrança não encontrada para o txid informado.')

type Named = { readonly account: string; readonly txid: string }

const make = async (
  tx: Transaction,
  { account, txid }: Named,
  { recurrenceId, dueOn, amountCents, content }: NewCollection,
  { sender, ispb, now, calendar }: CollectionServiceDeps,
): Promise<object> => {
  const at = now()
  const recurrence = await lockRecurrence(tx, account, recurrenceId)
  if (recurrence === undefined) {
    const razao = 'O campo cobr.idRec não corresponde a uma recorrência deste usuário recebedor.'
    throw refuseCollection({ razao, propriedade: 'cobr.idRec', valor: recurrenceId })
  }
  judge(recurrence, { dueOn, amountCents, content }, { at, calendar })
  await requireOwnAccount(tx, recurrence, content)
  const made: Collection = {
    account,
    txid,
    recurrenceId,
    taxId: recurrence.taxId,
    dueOn,
    amountCents,
    content,
    status: 'CRIADA',
    history: [{ status: 'CRIADA', data: at.toISOString() }],
    cycle: cycleOf(recurrence.terms, dueOn),
    ending: null,
    nextAt: null,
    createdAt: at,
    attempts: [],
  }
  const { collection, drafts } = advance(made, { recurrence, ispb, at, calendar })
  const isTaken = (await findCharge(tx, account, txid)) !== undefined
  if (isTaken || !(await addCollection(tx, collection))) {
    throw isTaken || (await findCollection(tx, account, txid)) !== undefined
      ? used(txid)
      : sameCycle(dueOn)
  }
  await sender.sendWithin(tx, drafts, at)
  return collectionView(collection, recurrence, [])
}

/** Whether it asks for what the charge is. Of a charge that was taken back or refused, it would ask for another. */
const isRepeated = (known: Collection, wanted: NewCollection): boolean =>
  known.status !== 'CANCELADA' &&
  known.status !== 'REJEITADA' &&
  known.recurrenceId === wanted.recurrenceId &&
  known.dueOn === wanted.dueOn &&
  known.amountCents === wanted.amountCents &&
  JSON.stringify(known.content) === JSON.stringify(wanted.content)

const used = (txid: string): ApiError => {
  const propriedade = 'cobr.txid'
  const razao = `O campo ${propriedade} encontra-se em uso.`
  return refuseCollection({ razao, propriedade, valor: txid })
}

const sameCycle = (dueOn: Day): ApiError => {
  const razao =
    'Existe uma CobR com status diferente de REJEITADA e CANCELADA referente ao mesmo cobr.idRec com calendario.dataDeVencimento no mesmo ciclo.'
  return refuseCollection({ razao, propriedade: 'cobr.calendario.dataDeVencimento', valor: dueOn })
}

/** @throws ApiError by the rules of the standard, and of the recurrence */
const judge = (
  { id, status, terms }: Recurrence,
  { dueOn, amountCents, content }: Omit<NewCollection, 'recurrenceId'>,
  { at, calendar }: { readonly at: Date; readonly calendar: Calendar },
): void => {
  if (endedStatuses.has(status)) {
    const razao = 'A recorrência encontra-se expirada, cancelada ou rejeitada.'
    throw refuseCollection({ razao, propriedade: 'cobr.idRec', valor: id })
  }
  const propriedade = 'cobr.calendario.dataDeVencimento'
  if (dueOn < dayAt(at)) {
    const razao = `O campo ${propriedade} é anterior à data de criação da cobrança.`
    throw refuseCollection({ razao, propriedade, valor: dueOn })
  }
  const far = objectionToFar(dueOn, dayAt(at))
  if (far !== undefined) throw refuseCollection({ razao: far, propriedade, valor: dueOn })
  if (dayAt(at) > lastScheduleDay(settlementDay(dueOn, content.adjusts, calendar))) {
    const razao = `O campo ${propriedade} deixa menos de dois dias até a liquidação, e o PSP Pagador recusaria o agendamento.`
    throw refuseCollection({ razao, propriedade, valor: dueOn })
  }
  if (dueOn < terms.startsOn) {
    const razao = `O campo ${propriedade} é anterior ao campo rec.calendario.dataInicial.`
    throw refuseCollection({ razao, propriedade, valor: dueOn })
  }
  if (terms.endsOn !== undefined && dueOn > terms.endsOn) {
    const razao = `O campo ${propriedade} é posterior ao campo rec.calendario.dataFinal.`
    throw refuseCollection({ razao, propriedade, valor: dueOn })
  }
  if (terms.amount !== undefined && centsOf(terms.amount) !== amountCents) {
    const razao = 'O campo cobr.valor difere do campo rec.valor.valorRec.'
    throw refuseCollection({ razao, propriedade: 'cobr.valor' })
  }
}

/** @throws ApiError if accounts of the receiver are known, and it is none of them */
const requireOwnAccount = async (
  tx: Transaction,
  { account, taxId }: Recurrence,
  { credited: { conta, agencia, tipoConta } }: CollectionContent,
): Promise<void> => {
  const known = await creditedAccountsOf(tx, account, taxId)
  const isOwn = known.some(
    ({ number, branch, type }) =>
      BigInt(number) === BigInt(conta) &&
      BigInt(branch ?? 0) === BigInt(agencia ?? branch ?? 0) &&
      type === accountTypes[tipoConta],
  )
  if (isOwn || known.length === 0) return
  const razao =
    'Os campos cobr.recebedor.conta e cobr.recebedor.agencia correspondem a uma conta que não pertence a este usuário recebedor.'
  throw refuseCollection({ razao, propriedade: 'cobr.recebedor', valor: conta })
}

/** The charge and its recurrence, locked in the order that all keep. @throws ApiError `cobr_nao_encontrado` */
const locked = async (tx: Transaction, { account, txid }: Named) => {
  const found = await findCollection(tx, account, txid)
  const recurrence = found && (await lockRecurrence(tx, account, found.recurrenceId))
  const collection = await lockCollection(tx, account, txid)
  if (recurrence === undefined || collection === undefined) throw noCollection()
  return { recurrence, collection }
}

/** We do not touch a charge whose payment we have accepted until that payment has ended. */
const requireUnpaid = async (tx: Transaction, collection: Collection): Promise<void> => {
  if ((await payingAttempts(tx, [collection])).size === 0) return
  const { status: valor } = collection
  throw refuseCollection({ razao: paymentUnderWay, propriedade: 'cobr.status', valor })
}

const cancel = async (
  tx: Transaction,
  named: Named,
  { sender, emit, ispb, now, calendar }: CollectionServiceDeps,
): Promise<object> => {
  const at = now()
  const { recurrence, collection } = await locked(tx, named)
  const { status, dueOn, content } = collection
  if (!openStatuses.has(status)) {
    const razao = `Não é possível cancelar uma cobrança com o status ${status}.`
    throw refuseCollection({ razao, propriedade: 'cobr.status', valor: status })
  }
  if (dayAt(at) >= settlementDay(dueOn, content.adjusts, calendar)) {
    const razao =
      'Não é possível cancelar uma cobrança em uma data igual ou maior que a data prevista da primeira tentativa de liquidação.'
    throw refuseCollection({ razao, propriedade: 'cobr.status', valor: 'CANCELADA' })
  }
  const open = collection.attempts.find((one) => openAttempts.has(one.status))
  if (open !== undefined && at >= lastCallOf(open.settlesOn)) {
    const razao =
      'Não é possível cancelar uma cobrança agendada depois das 22:00 do dia anterior à liquidação.'
    throw refuseCollection({ razao, propriedade: 'cobr.status', valor: 'CANCELADA' })
  }
  await requireUnpaid(tx, collection)
  const drafts = cancellationsOf(collection, { recurrence, ispb, at, calendar })
  const after = cancelledCollection(collection, cancelledByReceiver, at)
  await changeCollection(tx, after)
  await sender.sendWithin(tx, drafts, at)
  await emit(tx, await collectionEvents(tx, [after]))
  return collectionView(after, recurrence, [])
}

const retry = async (
  tx: Transaction,
  named: Named,
  day: Day,
  { sender, emit, ispb, now, calendar }: CollectionServiceDeps,
): Promise<object> => {
  const at = now()
  const { recurrence, collection: before } = await locked(tx, named)
  const { collection } = advance(before, { recurrence, ispb, at, calendar })
  judgeRetry(collection, recurrence, day, at)
  await requireUnpaid(tx, collection)
  const { collection: after, drafts } = attempted(collection, 'NTAG', day, {
    recurrence,
    ispb,
    at,
    calendar,
  })
  await changeCollection(tx, after)
  await sender.sendWithin(tx, drafts, at)
  await emit(tx, await collectionEvents(tx, [after]))
  return collectionView(after, recurrence, [])
}

/** @throws ApiError by the rules of the standard */
const judgeRetry = (
  collection: Collection,
  { status: agreed, terms }: Recurrence,
  day: Day,
  at: Date,
): void => {
  const { status, dueOn, attempts } = collection
  const refuse = (razao: string, propriedade: string, valor?: string): ApiError =>
    refuseCollection({ razao, propriedade, valor })
  if (terms.retries === 'NAO_PERMITE') {
    const razao = 'A política configurada na recorrência não permite retentativa de cobrança.'
    throw refuse(razao, 'rec.politicaRetentativa', terms.retries)
  }
  if (!openStatuses.has(status) || agreed !== 'APROVADA') {
    throw refuse('A cobrança ou a sua recorrência está encerrada.', 'cobr.status', status)
  }
  if (attempts.length === 0) {
    throw refuse('Nenhuma tentativa de cobrança foi feita ainda.', 'cobr.tentativas')
  }
  const open = attempts.find((one) => openAttempts.has(one.status))
  if (open !== undefined) {
    const razao = 'Existe uma tentativa com status SOLICITADA ou AGENDADA.'
    throw refuse(razao, 'cobr.tentativas', open.status)
  }
  if (day <= dayAt(at)) {
    throw refuse('O parâmetro data não corresponde a uma data futura.', 'data', day)
  }
  const lastDay = lastRetryDay(collection, terms)
  const retried = attempts.filter(({ kind }) => kind === 'NTAG').length
  if (day <= dueOn || day > lastDay || retried >= retriesMax) {
    const razao = `A política configurada na recorrência permite até ${retriesMax} retentativas, após o vencimento e até ${lastDay}.`
    throw refuse(razao, 'data', day)
  }
  if (attempts.some(({ settlesOn }) => day <= settlesOn)) {
    const razao = 'O parâmetro data não é posterior às datas das tentativas já feitas.'
    throw refuse(razao, 'data', day)
  }
}
