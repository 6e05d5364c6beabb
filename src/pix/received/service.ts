import { formatCents } from '#codecs/iso20022'
import { type Client, inSnapshot, type Queryable } from '#src/platform/database/index.ts'
import { type Actor, ApiError } from '#src/platform/http/index.ts'
import { pixErrors, violates } from '../errors.ts'
import { type Asked, parametersOf } from '../pages.ts'
import type { Pix, PixReturn, ReturnNature } from './domain.ts'
import { addReturn, findPix, listPix, lockPix, type PixFilter } from './store.ts'
import { pixView, returnView } from './view.ts'

/** Gives money back; whoever sends payments is passed in. */
export type Refunds = {
  /** @returns RtrId. @throws ApiError by its codes */
  readonly refundWithin: (
    tx: Queryable,
    endToEndId: string,
    request: {
      readonly amountCents: number
      readonly reason: string
      readonly additionalInformation: string | undefined
      readonly remittanceInformation: string | undefined
    },
    actor: Actor,
  ) => Promise<string>
}

export type ReturnRequest = {
  readonly amountCents: bigint
  readonly nature: ReturnNature
  readonly description: string | undefined
}

export type PixService = ReturnType<typeof createPixService>

export type PixServiceDeps = {
  readonly sql: Client
  readonly refunds: Refunds
  readonly now: () => Date
}

/** Asked for by the receiver; of the cash that was handed out. */
const reasons: Readonly<Record<ReturnNature, string>> = { ORIGINAL: 'MD06', RETIRADA: 'SL02' }

const noPix = (): ApiError =>
  new ApiError(pixErrors.pix_nao_encontrado, 'Pix não encontrado para o e2eid informado.')

export const refuseReturn = (propriedade: string, razao: string, valor?: string): ApiError =>
  violates(pixErrors.pix_devolucao_invalida, [{ razao, propriedade, valor }])

/** Received Pix, and their returns. */
export const createPixService = ({ sql, refunds, now }: PixServiceDeps) => ({
  list: async (account: string, filter: Asked<PixFilter>) => {
    const { items, total } = await inSnapshot(sql, (tx) => listPix(tx, account, filter))
    const parametros = parametersOf(filter, total)
    return { parametros, pix: items.map(pixView) }
  },
  /** @throws ApiError `pix_nao_encontrado` */
  find: async (account: string, endToEndId: string) => {
    const pix = await findPix(sql, account, endToEndId)
    if (pix === undefined) throw noPix()
    return pixView(pix)
  },
  /** @throws ApiError `pix_devolucao_nao_encontrada` */
  findReturn: async (account: string, endToEndId: string, id: string) => {
    const pix = await findPix(sql, account, endToEndId)
    const found = pix?.returns.find((one) => one.id === id)
    if (found !== undefined) return returnView(found)
    const message = 'Devolução não encontrada para o e2eid e o id informados.'
    throw new ApiError(pixErrors.pix_devolucao_nao_encontrada, message)
  },
  /** A repeated request gets what became of the return. */
  giveBack: async (
    account: string,
    { endToEndId, id }: { readonly endToEndId: string; readonly id: string },
    request: ReturnRequest,
    actor: Actor,
  ) => {
    const one = await sql.begin(async (tx) => {
      const pix = await lockPix(tx, account, endToEndId)
      if (pix === undefined) throw noPix()
      const known = pix.returns.find((other) => other.id === id)
      if (known !== undefined) return repeated(known, request)
      const { amountCents, nature, description } = request
      refuseNature(pix, nature)
      const asked = {
        amountCents: Number(amountCents),
        reason: reasons[nature],
        additionalInformation: undefined,
        remittanceInformation: description,
      }
      const returnId = await refunds
        .refundWithin(tx, endToEndId, asked, actor)
        .catch((error: unknown) => {
          throw inStandard(error, request)
        })
      const made: PixReturn = {
        endToEndId,
        id,
        returnId,
        amountCents,
        nature,
        description: description ?? null,
        status: 'EM_PROCESSAMENTO',
        reason: null,
        requestedAt: now(),
        settledAt: null,
      }
      await addReturn(tx, made)
      return made
    })
    return returnView(one)
  },
})

/** A Pix Saque is all cash: nothing of it was paid for a purchase. */
const refuseNature = ({ components }: Pix, nature: ReturnNature): void => {
  if (nature !== 'ORIGINAL' || components === null || !('saque' in JSON.parse(components))) return
  const razao = 'A natureza da devolução de um Pix Saque é RETIRADA.'
  throw refuseReturn('devolucao.natureza', razao, nature)
}

const repeated = (known: PixReturn, { amountCents, nature, description }: ReturnRequest) => {
  const isSame =
    known.amountCents === amountCents &&
    known.nature === nature &&
    known.description === (description ?? null)
  if (isSame) return known
  const razao = 'O id já foi utilizado por outra requisição de devolução para este e2eid.'
  throw refuseReturn('id', razao, known.id)
}

/** What the sender of payments refuses, in the standard's words. */
const inStandard = (error: unknown, request: ReturnRequest): unknown => {
  if (!(error instanceof ApiError)) return error
  const valor = formatCents(request.amountCents)
  switch (error.definition.code) {
    case 'refund_exceeds_payment':
      return refuseReturn(
        'devolucao.valor',
        'A devolução, em conjunto com as demais prévias devoluções, excederia o valor do pix originário.',
        valor,
      )
    case 'refund_deadline_passed':
      return refuseReturn(
        'e2eid',
        'A devolução viola a janela de 90 dias desde a liquidação do pix originário.',
      )
    case 'not_found':
      return refuseReturn('e2eid', 'O pagamento do pix originário já não está guardado.')
    default:
      return error.definition.status < 500 ? asOfReturn(error, request) : error
  }
}

/** The members of a return by the parameters that they are passed on as. */
const memberOf = (pointer: string): 'valor' | 'natureza' | 'descricao' | undefined => {
  if (pointer === '/amount') return 'valor'
  if (pointer === '/reason') return 'natureza'
  return pointer === '/remittance_information' ? 'descricao' : undefined
}

const asOfReturn = (
  { definition, errors: [broken] }: ApiError,
  { nature }: ReturnRequest,
): ApiError => {
  if (broken === undefined) return refuseReturn('e2eid', definition.pt.meaning)
  const member = memberOf(broken.pointer)
  if (member === undefined) return refuseReturn('devolucao', definition.pt.meaning)
  const propriedade = `devolucao.${member}`
  return member === 'natureza'
    ? refuseReturn(propriedade, 'O pix originário não é Pix Saque nem Pix Troco.', nature)
    : refuseReturn(propriedade, `O campo ${propriedade} não respeita o schema.`)
}
