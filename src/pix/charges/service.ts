import { randomBytes } from 'node:crypto'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import { type Answered, ApiError, type Caller, runOnce } from '#src/platform/http/index.ts'
import { pixErrors, violates } from '../errors.ts'
import type { Location } from '../locations/domain.ts'
import { addLocation, linkLocation, locationsOf, lockLocation } from '../locations/store.ts'
import { parametersOf } from '../pages.ts'
import type { Pix } from '../received/domain.ts'
import { pixOfCharges } from '../received/store.ts'
import { pixView } from '../received/view.ts'
import type { Receiver } from '../receivers/domain.ts'
import { findReceiver, receiversOf } from '../receivers/store.ts'
import { type ChargeRequest, type RevisionRequest, refuse } from './body.ts'
import { areSameTerms, type Charge, type ChargeTerms } from './domain.ts'
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

type ChargeView = ReturnType<typeof chargeView>

export type ChargeServiceDeps = {
  readonly sql: Client
  readonly addresses: Addresses
  readonly now: () => Date
}

export type ChargeService = {
  /** Makes the charge, or revises it if it is there; what says the same changes nothing. */
  readonly put: (account: string, txid: string, request: ChargeRequest) => Promise<ChargeView>
  /** The same, with a txid of ours. */
  readonly create: (request: ChargeRequest, caller: Caller) => Promise<Answered>
  readonly revise: (account: string, txid: string, request: RevisionRequest) => Promise<ChargeView>
  /** @param revision undefined: the charge as it is now */
  readonly find: (
    account: string,
    txid: string,
    revision: number | undefined,
  ) => Promise<ChargeView>
  readonly list: (
    account: string,
    filter: ChargeFilter,
    asGiven: Readonly<Record<string, unknown>>,
  ) => Promise<object>
}

const txidBytes = 16

/** Immediate charges of receivers. */
export const createChargeService = (deps: ChargeServiceDeps): ChargeService => {
  const { sql, addresses, now } = deps
  const view = async (tx: Transaction | Client, charge: Charge): Promise<ChargeView> => {
    const [shown] = await shownOf(tx, [charge])
    return chargeView(shown ?? { charge, location: undefined, receiver: undefined }, addresses)
  }
  /** With what was paid. */
  const whole = async (charge: Charge) => {
    const paid = (await pixOfCharges(sql, [charge.id])).get(charge.id)
    return { ...(await view(sql, charge)), ...paidView(paid) }
  }
  return {
    put: (account, txid, request) =>
      sql.begin(async (tx) => view(tx, await putCharge(tx, { account, txid }, request, now()))),
    create: (request, caller) =>
      runOnce(sql, caller.idempotencyKey, async (tx) => {
        const txid = randomBytes(txidBytes).toString('hex')
        const made = await putCharge(tx, { account: caller.owner, txid }, request, now())
        return { status: 201, body: JSON.stringify(await view(tx, made)) }
      }),
    revise: (account, txid, request) =>
      sql.begin(async (tx) => view(tx, await revise(tx, account, txid, request))),
    find: async (account, txid, revision) => {
      const charge = await findCharge(sql, account, txid)
      if (charge === undefined) throw noCharge()
      if (revision === undefined || revision === charge.revision) return whole(charge)
      const earlier = await findRevision(sql, charge, revision)
      if (earlier !== undefined) return whole(earlier)
      throw violates(pixErrors.cob_consulta_invalida, [
        {
          razao: 'O parâmetro revisao corresponde a uma revisão inexistente para a cobrança.',
          propriedade: 'revisao',
          valor: String(revision),
        },
      ])
    },
    list: async (account, filter, asGiven) => {
      const { items, total } = await listCharges(sql, account, filter)
      const parametros = parametersOf(filter, asGiven, total, pixErrors.cob_consulta_invalida)
      const shown = await shownOf(sql, items)
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

const noCharge = (): ApiError =>
  new ApiError(pixErrors.cob_nao_encontrado, 'Cobrança não encontrada para o txid informado.')

const shownOf = async (sql: Transaction | Client, charges: readonly Charge[]) => {
  const locations = await locationsOf(
    sql,
    charges.map(({ id }) => id),
  )
  const receivers = await receiversOf(
    sql,
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
  { key }: ChargeTerms,
): Promise<Receiver> => {
  const receiver = await findReceiver(tx, key, account)
  if (receiver !== undefined) return receiver
  throw refuse({
    razao: 'O campo cob.chave corresponde a uma conta que não pertence a este usuário recebedor.',
    propriedade: 'cob.chave',
    valor: key,
  })
}

type Named = { readonly account: string; readonly txid: string }

const putCharge = async (
  tx: Transaction,
  { account, txid }: Named,
  { terms, locationId }: ChargeRequest,
  now: Date,
): Promise<Charge> => {
  const { taxId } = await receiverFor(tx, account, terms)
  const id = Bun.randomUUIDv7('hex', now)
  const status = 'ATIVA' as const
  const fresh = { id, account, taxId, txid, status, revision: 0, createdAt: now, terms }
  const isNew = await addCharge(tx, fresh)
  const charge = isNew ? fresh : await lockCharge(tx, account, txid)
  // Another account has a charge of it with the same receiver.
  if (charge === undefined) throw txidInUse(txid)
  const changed = isNew ? charge : await applied(tx, charge, { ...charge, taxId, terms })
  await place(tx, changed, locationId, now)
  return changed
}

const txidInUse = (valor: string): ApiError =>
  refuse({ razao: 'O campo cob.txid encontra-se em uso.', propriedade: 'cob.txid', valor })

const applied = async (tx: Transaction, before: Charge, wanted: Charge): Promise<Charge> => {
  requireActive(before)
  const isSame = before.status === wanted.status && areSameTerms(before.terms, wanted.terms)
  if (isSame) return before
  const after = { ...wanted, revision: before.revision + 1 }
  await reviseCharge(tx, before, after)
  return after
}

const requireActive = ({ status }: Charge): void => {
  if (status === 'ATIVA') return
  throw refuse({
    razao: 'A cobrança não está ATIVA, e a presente requisição busca alterá-la.',
    propriedade: 'cob.status',
    valor: status,
  })
}

const revise = async (
  tx: Transaction,
  account: string,
  txid: string,
  request: RevisionRequest,
): Promise<Charge> => {
  const before = await lockCharge(tx, account, txid)
  if (before === undefined) throw noCharge()
  requireActive(before)
  if (request.isRemoval) {
    return applied(tx, before, { ...before, status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' })
  }
  const terms = request.revise(before.terms)
  const taxId =
    terms.key === before.terms.key ? before.taxId : (await receiverFor(tx, account, terms)).taxId
  const after = await applied(tx, before, { ...before, taxId, terms })
  if (request.locationId !== undefined) await show(tx, after, request.locationId)
  return after
}

/** Gives a charge the location that is asked for, or else one of its own if it has none. */
const place = async (
  tx: Transaction,
  charge: Charge,
  locationId: number | undefined,
  now: Date,
): Promise<void> => {
  if (locationId !== undefined) return show(tx, charge, locationId)
  if ((await locationsOf(tx, [charge.id])).size > 0) return
  const made = await addLocation(tx, { account: charge.account, kind: 'cob' }, now)
  await linkLocation(tx, made.id, charge.id)
}

const show = async (tx: Transaction, charge: Charge, id: number): Promise<void> => {
  const location = await lockLocation(tx, charge.account, BigInt(id))
  const objection = objectionTo(location, charge)
  if (objection !== undefined) {
    throw refuse({ razao: objection, propriedade: 'cob.loc.id', valor: String(id) })
  }
  await linkLocation(tx, BigInt(id), charge.id)
}

const objectionTo = (location: Location | undefined, { id }: Charge): string | undefined => {
  if (location === undefined) return 'O location referenciado por loc.id inexiste.'
  if (location.kind !== 'cob') {
    return 'O location referenciado por cob.loc.id apresenta tipo "cobv" (deveria ser "cob").'
  }
  return location.chargeId === null || location.chargeId === id
    ? undefined
    : 'O location referenciado por loc.id já está sendo utilizado por outra cobrança.'
}
