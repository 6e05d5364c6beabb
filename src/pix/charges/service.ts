import {
  type Client,
  inSnapshot,
  isDuplicate,
  type Transaction,
} from '#src/platform/database/index.ts'
import { ApiError, type Caller, runOnce } from '#src/platform/http/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { isDenied } from '../batches/store.ts'
import { notActive, paymentUnderWay, violates } from '../errors.ts'
import type { Location } from '../locations/domain.ts'
import { addLocation, linkLocation, locationsOf, lockLocation } from '../locations/store.ts'
import { type Asked, parametersOf } from '../pages.ts'
import { randomHex } from '../random-hex.ts'
import type { Pix } from '../received/domain.ts'
import { pendingOf } from '../received/pending.ts'
import { pixOfCharges } from '../received/store.ts'
import { pixView } from '../received/view.ts'
import type { Receiver } from '../receivers/domain.ts'
import { findReceiver, receiversOf } from '../receivers/store.ts'
import {
  begunAnew,
  type IsTxidFree,
  isTxidFree,
  isTxidFreeNow,
  shortWaits,
  withoutWaiting,
} from '../txids.ts'
import type { ChargeRequest, RevisionRequest } from './body.ts'
import { areSameTerms, type Charge, kindOf } from './domain.ts'
import { createMaker, makeCharges } from './making.ts'
import {
  addCharge,
  type ChargeFilter,
  findCharge,
  findRevision,
  listCharges,
  lockCharge,
  reviseCharge,
} from './store.ts'
import { type Addresses, chargeView } from './view.ts'
import type { Wording } from './wording.ts'

type ChargeView = ReturnType<typeof chargeView>

export type ChargeServiceDeps = {
  readonly sql: Client
  readonly addresses: Addresses
  readonly now: () => Date
  readonly wording: Wording
}

/** Who has the charge, and what it is called. */
export type Named = { readonly account: string; readonly txid: string }

export type ChargeService = ReturnType<typeof createChargeService>

/** Charges of receivers, of one kind. */
export const createChargeService = ({ sql, addresses, now, wording }: ChargeServiceDeps) => {
  const view = async (tx: Transaction | Client, charge: Charge): Promise<ChargeView> => {
    const [shown] = await shownOf(tx, charge.account, [charge])
    return chargeView(shown ?? { charge, location: undefined, receiver: undefined }, addresses)
  }
  const make = createMaker(sql)
  const created = async (tx: Transaction, account: string, request: ChargeRequest) => {
    const { terms, locationId } = request
    const wanted = { account, txid: randomHex(), isDrawn: true, terms, at: now() }
    // A batch may hold the location. What makes a charge with one of its own says so by itself.
    if (locationId !== undefined) await tx`select ${shortWaits(tx)}`
    const [made] = locationId === undefined ? await makeCharges(tx, [wanted]) : []
    const putting = { now: now(), wording, isFree: isDrawn }
    const body = made
      ? chargeView(made, addresses)
      : await view(tx, await putCharge(tx, wanted, request, putting))
    return { status: 201, body: JSON.stringify(body) }
  }
  /** The charge with what was paid for it. */
  const whole = async (charge: Charge) => {
    const paid = (await pixOfCharges(sql, [charge.id])).get(charge.id)
    return { ...(await view(sql, charge)), ...paidView(paid) }
  }
  return {
    /** Makes the charge, or revises it if it is there; what says the same changes nothing. */
    put: async (account: string, txid: string, request: ChargeRequest) => {
      const { terms, locationId } = request
      const at = now()
      const isPlain = locationId === undefined && request.refusalAt(at) === undefined
      const made = isPlain && (await make({ account, txid, terms, at }))
      if (made) return chargeView(made, addresses)
      return withoutWaiting(sql, async (tx) => {
        const named = { account, txid }
        await refuseDenied(tx, named, wording)
        const putting = { now: now(), wording, isFree: isTxidFreeNow }
        return view(tx, await putCharge(tx, named, request, putting))
      })
    },
    /** The same for a batch, within its transaction. */
    putWithin: (tx: Transaction, named: Named, request: ChargeRequest) =>
      putCharge(tx, named, request, { now: now(), wording, isFree: isTxidFree }),
    reviseWithin: (tx: Transaction, named: Named, request: RevisionRequest) =>
      revise(tx, named, request, wording),
    /** Makes a charge with a txid of ours. */
    create: (request: ChargeRequest, { owner, idempotencyKey }: Caller) =>
      begunAnew(() => runOnce(sql, idempotencyKey, (tx) => created(tx, owner, request))),
    revise: (account: string, txid: string, request: RevisionRequest) =>
      withoutWaiting(sql, async (tx) => {
        await refuseDenied(tx, { account, txid }, wording)
        return view(tx, await revise(tx, { account, txid }, request, wording))
      }),
    /** @param revision undefined: the charge as it is now */
    find: async (account: string, txid: string, revision: number | undefined) => {
      const charge = await findCharge(sql, account, txid)
      if (charge === undefined || kindOf(charge.terms) !== wording.kind) throw noCharge(wording)
      if (revision === undefined || revision === charge.revision) return whole(charge)
      const earlier = await findRevision(sql, charge, revision)
      if (earlier !== undefined) return whole(earlier)
      throw violates(wording.query, [
        {
          razao: 'O parâmetro revisao corresponde a uma revisão inexistente para a cobrança.',
          propriedade: 'revisao',
          valor: String(revision),
        },
      ])
    },
    list: async (account: string, filter: Asked<Omit<ChargeFilter, 'kind'>>) => {
      const { items, total } = await inSnapshot(sql, (tx) =>
        listCharges(tx, account, { ...filter, kind: wording.kind }),
      )
      const parametros = parametersOf(filter, total)
      const shown = await shownOf(sql, account, items)
      const paid = await pixOfCharges(
        sql,
        items.map(({ id }) => id),
      )
      const cobs = shown.map((one) => ({
        ...chargeView(one, addresses),
        ...paidView(paid.get(one.charge.id)),
      }))
      return { parametros, cobs }
    },
  }
}

const paidView = (pix: readonly Pix[] = []) => (pix.length === 0 ? {} : { pix: pix.map(pixView) })

const noCharge = ({ absent }: Wording): ApiError =>
  new ApiError(absent, 'Cobrança não encontrada para o txid informado.')

/** @param account whose charges they are */
const shownOf = async (sql: Transaction | Client, account: string, charges: readonly Charge[]) => {
  const locations = await locationsOf(
    sql,
    charges.map(({ id }) => id),
  )
  const receivers = await receiversOf(
    sql,
    account,
    charges.map(({ terms }) => terms.key),
  )
  return charges.map((charge) => ({
    charge,
    location: locations.get(charge.id),
    receiver: receivers.get(charge.terms.key),
  }))
}

/** @throws ApiError if the key is not the account's */
const receiverFor = async (
  tx: Transaction,
  account: string,
  key: string,
  { kind, refuse }: Wording,
): Promise<Receiver> => {
  const receiver = await findReceiver(tx, key, account)
  const propriedade = `${kind}.chave`
  if (receiver === undefined) {
    const razao = `O campo ${propriedade} corresponde a uma conta que não pertence a este usuário recebedor.`
    throw refuse({ razao, propriedade, valor: key })
  }
  if (kind === 'cob' || hasAddress(receiver)) return receiver
  const razao = `O recebedor do campo ${propriedade} não tem endereço cadastrado na instituição.`
  throw refuse({ razao, propriedade, valor: key })
}

/** Whoever is asked to pay by a due date is told where the receiver is. */
const hasAddress = ({ street, state, postalCode }: Receiver): boolean =>
  street !== null && state !== null && postalCode !== null

type Putting = { readonly now: Date; readonly wording: Wording; readonly isFree: IsTxidFree }

const isDrawn: IsTxidFree = async () => true

const putCharge = async (
  tx: Transaction,
  { account, txid }: Named,
  request: ChargeRequest,
  { now, wording, isFree: isFreeOf }: Putting,
): Promise<Charge> => {
  const found = await lockCharge(tx, account, txid)
  if (found !== undefined) return replaced(tx, found, request, now, wording)
  const { terms, locationId } = request
  const refusal = request.refusalAt(now)
  if (refusal !== undefined) throw refusal
  const { taxId } = await receiverFor(tx, account, terms.key, wording)
  const id = newUuid(now)
  const status = 'ATIVA' as const
  const fresh = { id, account, taxId, txid, status, revision: 0, createdAt: now, terms }
  const isFree = await isFreeOf(tx, account, txid)
  if (!(await addCharge(tx, fresh))) {
    const madeSince = await lockCharge(tx, account, txid)
    // Another account has a charge of it with the same receiver.
    if (madeSince === undefined) throw txidInUse(txid, wording)
    return replaced(tx, madeSince, request, now, wording)
  }
  if (!isFree) throw txidInUse(txid, wording)
  await place(tx, fresh, locationId, now, wording)
  return fresh
}

/** A charge that is there takes the terms of a new one, and is judged by the day on which it was made. */
const replaced = async (
  tx: Transaction,
  before: Charge,
  request: ChargeRequest,
  now: Date,
  wording: Wording,
): Promise<Charge> => {
  const { terms, locationId } = request
  if (kindOf(before.terms) !== wording.kind) throw txidInUse(before.txid, wording)
  if (await isPaidSame(tx, before, request)) return before
  requireActive(before, wording)
  const taxId = await taxIdFor(tx, before, terms.key, wording)
  const after = await applied(tx, before, { ...before, taxId, terms }, wording, request.refusalAt)
  await place(tx, after, locationId, now, wording)
  return after
}

/** The tax id to charge under a key. An unchanged key may have left the list since: the charge keeps its tax id. */
const taxIdFor = async (
  tx: Transaction,
  { account, taxId, terms }: Charge,
  key: string,
  wording: Wording,
): Promise<string> => {
  if (key !== terms.key) return (await receiverFor(tx, account, key, wording)).taxId
  return (await findReceiver(tx, key, account))?.taxId ?? taxId
}

/** Whether it says of a charge that was paid nothing but what the charge is. */
const isPaidSame = async (
  tx: Transaction,
  { id, status, terms }: Charge,
  request: ChargeRequest,
): Promise<boolean> => {
  if (status !== 'CONCLUIDA' || !areSameTerms(terms, request.terms)) return false
  if (request.locationId === undefined) return true
  return (await locationsOf(tx, [id])).get(id)?.id === BigInt(request.locationId)
}

/** If a batch has asked for a charge in vain, only that batch may ask for it again. */
const refuseDenied = async (
  tx: Transaction,
  { account, txid }: Named,
  { kind, refuse }: Wording,
): Promise<void> => {
  if (!(await isDenied(tx, account, txid))) return
  const razao = 'Este txid está associado a um lote e, no referido lote, tem status "NEGADA".'
  throw refuse({ razao, propriedade: `${kind}.txid`, valor: txid })
}

const txidInUse = (valor: string, { kind, refuse }: Wording): ApiError => {
  const propriedade = `${kind}.txid`
  return refuse({ razao: `O campo ${propriedade} encontra-se em uso.`, propriedade, valor })
}

/** The caller has seen that the charge is active. */
const applied = async (
  tx: Transaction,
  before: Charge,
  wanted: Charge,
  wording: Wording,
  refusalAt?: ChargeRequest['refusalAt'],
): Promise<Charge> => {
  const isSame = before.status === wanted.status && areSameTerms(before.terms, wanted.terms)
  // The number of its key may have been corrected since: payments name the new one.
  if (isSame && before.taxId === wanted.taxId) return before
  const refusal = isSame ? undefined : refusalAt?.(before.createdAt)
  if (refusal !== undefined) throw refusal
  await requireUnpaid(tx, before, wording)
  const after = { ...wanted, revision: before.revision + 1 }
  // Another account has a charge of the txid with the receiver that it is to have.
  await reviseCharge(tx, before, after).catch((error: unknown) => {
    throw isDuplicate(error) ? txidInUse(before.txid, wording) : error
  })
  return after
}

const requireActive = ({ status }: Charge, { kind, refuse }: Wording): void => {
  if (status === 'ATIVA') return
  throw refuse({
    razao: notActive,
    propriedade: `${kind}.status`,
    valor: status,
  })
}

/** A charge stays as it was when we accepted its payment. Taking a payment locks the charge, as we have done here. */
const requireUnpaid = async (
  tx: Transaction,
  { id, status }: Charge,
  { kind, refuse }: Wording,
): Promise<void> => {
  if ((await pendingOf(tx, [id])).size === 0) return
  throw refuse({
    razao: paymentUnderWay,
    propriedade: `${kind}.status`,
    valor: status,
  })
}

const revise = async (
  tx: Transaction,
  { account, txid }: Named,
  request: RevisionRequest,
  wording: Wording,
): Promise<Charge> => {
  const before = await lockCharge(tx, account, txid)
  if (before === undefined || kindOf(before.terms) !== wording.kind) throw noCharge(wording)
  requireActive(before, wording)
  if (request.isRemoval) {
    const removed = { ...before, status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' } as const
    return applied(tx, before, removed, wording)
  }
  const terms = request.revise(before.terms, before.createdAt)
  const taxId = await taxIdFor(tx, before, terms.key, wording)
  const after = await applied(tx, before, { ...before, taxId, terms }, wording)
  if (request.locationId !== undefined) await show(tx, after, request.locationId, wording)
  return after
}

/** Gives a charge the location that is asked for, or else one of its own if it has none. */
const place = async (
  tx: Transaction,
  charge: Charge,
  locationId: number | undefined,
  now: Date,
  wording: Wording,
): Promise<void> => {
  if (locationId !== undefined) return show(tx, charge, locationId, wording)
  if ((await locationsOf(tx, [charge.id])).size > 0) return
  const made = await addLocation(tx, { account: charge.account, kind: wording.kind }, now)
  await linkLocation(tx, made.id, charge.id)
}

const show = async (
  tx: Transaction,
  charge: Charge,
  id: number,
  { kind, refuse }: Wording,
): Promise<void> => {
  const location = await lockLocation(tx, charge.account, BigInt(id))
  const objection = objectionTo(location, charge, kind)
  if (objection !== undefined) {
    throw refuse({ razao: objection, propriedade: `${kind}.loc.id`, valor: String(id) })
  }
  await linkLocation(tx, BigInt(id), charge.id)
}

const objectionTo = (
  location: Location | undefined,
  { id }: Charge,
  kind: Wording['kind'],
): string | undefined => {
  if (location === undefined) return 'O location referenciado por loc.id inexiste.'
  if (location.kind !== kind) {
    return `O location referenciado por ${kind}.loc.id apresenta tipo "${location.kind}" (deveria ser "${kind}").`
  }
  return location.chargeId === null || location.chargeId === id
    ? undefined
    : 'O location referenciado por loc.id já está sendo utilizado por outra cobrança.'
}
