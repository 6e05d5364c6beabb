import { type ZodError, z } from 'zod'
import { cnpjForm, cpfForm } from '#codecs/taxpayer'
import type { ApiError } from '#src/platform/http/index.ts'
import type { Violacao } from '../errors.ts'
import { amountForm, centsOf } from '../money.ts'
import { shownText } from '../shown-text.ts'
import type { ChargeTerms, Person } from './domain.ts'
import { withdrawalBody, withdrawalViolations } from './withdrawal.ts'
import { type Wording, wordings } from './wording.ts'

/** Longest key: an e-mail address. */
const keyCharsMax = 77
const nameCharsMax = 200
const questionCharsMax = 140
const infosMax = 50
const secondsMax = 2 ** 31 - 1
const secondsDefault = 86_400

export const person = z.object({
  cpf: z.string().regex(cpfForm).optional(),
  cnpj: z.string().regex(cnpjForm).optional(),
  nome: shownText(nameCharsMax),
})

/** Undefined, with an issue: it has not one of CPF and CNPJ. */
export const personOf = (
  { cpf, cnpj, nome }: z.infer<typeof person>,
  context: z.RefinementCtx,
): Person | undefined => {
  if (cpf !== undefined && cnpj === undefined) return { cpf, nome }
  if (cnpj !== undefined && cpf === undefined) return { cnpj, nome }
  context.addIssue({ code: 'custom', message: 'cpf or cnpj' })
  return undefined
}

const debtor = person.transform((given, context) => personOf(given, context) ?? z.NEVER)

export const amount = z.string().regex(amountForm)
const alteration = z.int().min(0).max(1)

/** The fields of every charge, without the debtor. */
export const fields = {
  loc: z.object({ id: z.int().min(1) }).optional(),
  chave: z.string().min(1).max(keyCharsMax),
  solicitacaoPagador: shownText(questionCharsMax, {
    charactersMin: 0,
    isMultiline: true,
  }).optional(),
  infoAdicionais: z
    .array(z.object({ nome: shownText(50), valor: shownText(200, { isMultiline: true }) }))
    .max(infosMax)
    .optional(),
}
const calendar = z.object({ expiracao: z.int().max(secondsMax).optional() })

/** PUT and POST. Members that are read-only or unknown are passed over: clients send them. */
const newCharge = z.object({
  ...fields,
  devedor: debtor.optional(),
  // Required by the schema, and not there in examples of the standard.
  calendario: calendar.default({}),
  valor: z.object({
    original: amount,
    modalidadeAlteracao: alteration.default(0),
    retirada: withdrawalBody,
  }),
})

const revisedCharge = z.object({
  ...fields,
  devedor: debtor.optional(),
  chave: fields.chave.optional(),
  calendario: calendar.optional(),
  valor: z
    .object({
      original: amount.optional(),
      modalidadeAlteracao: alteration.optional(),
      retirada: withdrawalBody,
    })
    .optional(),
  status: z.literal('REMOVIDA_PELO_USUARIO_RECEBEDOR').optional(),
})

/** Members that are objects, if they are not there or something else. */
const wholes: ReadonlySet<string> = new Set(['calendario', 'valor', 'loc'])
/** The members that the standard judges as a whole. */
const objects: ReadonlySet<string> = new Set(['devedor', 'infoAdicionais'])
const valueObjects: ReadonlySet<string> = new Set([
  'multa',
  'juros',
  'abatimento',
  'desconto',
  'retirada',
])

/** @param value the body as it was sent */
const violationsOf = (
  error: ZodError,
  value: unknown,
  kind: Wording['kind'],
): readonly Violacao[] => {
  const found = new Map<string, Violacao>()
  for (const { path } of error.issues) {
    const [first = ''] = path
    const isMember = objects.has(String(first))
    const isObject =
      isMember ||
      path.length === 0 ||
      (path.length === 1 && wholes.has(String(first))) ||
      (first === 'valor' && valueObjects.has(String(path[1])))
    const steps = isMember ? [first] : path.slice(0, 2)
    const propriedade = [kind, ...steps].map(String).join('.')
    const razao = `O ${isObject ? 'objeto' : 'campo'} ${propriedade} não respeita o schema.`
    const valor = isObject ? undefined : shown(value, steps)
    found.set(propriedade, { razao, propriedade, valor })
  }
  return [...found.values()]
}

const shown = (value: unknown, steps: readonly PropertyKey[]): string | undefined => {
  let at: unknown = value
  for (const step of steps) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Readonly<Record<PropertyKey, unknown>>)[step]
  }
  return typeof at === 'string' || typeof at === 'number' ? String(at) : undefined
}

const { refuse } = wordings.cob

/** @throws ApiError with every member that does not fit */
export const read = <T>(schema: z.ZodType<T>, value: unknown, wording: Wording): T => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw wording.refuse(...violationsOf(parsed.error, value, wording.kind))
}

/** Terms as they are sent, and the location they are to be shown at. */
export type ChargeRequest = {
  readonly terms: ChargeTerms
  readonly locationId: number | undefined
  /** Why a charge made at this moment may not have these terms; undefined: it may. */
  readonly refusalAt: (made: Date) => ApiError | undefined
}

/** @throws ApiError `cob_operacao_invalida`, with every broken rule */
export const readNewCharge = (value: unknown): ChargeRequest => {
  const body = read(newCharge, value, wordings.cob)
  const terms = {
    key: body.chave,
    originalCents: centsOf(body.valor.original),
    isOpen: body.valor.modalidadeAlteracao === 1,
    withdrawal: body.valor.retirada,
    expiresSeconds: body.calendario.expiracao ?? secondsDefault,
    debtor: body.devedor,
    question: body.solicitacaoPagador,
    infos: body.infoAdicionais,
    due: undefined,
  }
  judge(terms)
  return { terms, locationId: body.loc?.id, refusalAt: () => undefined }
}

export type RevisionRequest = {
  readonly isRemoval: boolean
  readonly locationId: number | undefined
  /** @throws ApiError as {@link readNewCharge} */
  readonly revise: (terms: ChargeTerms, createdAt: Date) => ChargeTerms
}

/** @throws ApiError as {@link readNewCharge} */
export const readRevision = (value: unknown): RevisionRequest => {
  const body = read(revisedCharge, value, wordings.cob)
  return {
    ...askedOf(body, wordings.cob),
    revise: (terms) => {
      const { valor, calendario } = body
      const revised = {
        key: body.chave ?? terms.key,
        originalCents:
          valor?.original === undefined ? terms.originalCents : centsOf(valor.original),
        isOpen:
          valor?.modalidadeAlteracao === undefined ? terms.isOpen : valor.modalidadeAlteracao === 1,
        withdrawal: valor?.retirada ?? terms.withdrawal,
        expiresSeconds: calendario?.expiracao ?? terms.expiresSeconds,
        debtor: body.devedor ?? terms.debtor,
        question: body.solicitacaoPagador ?? terms.question,
        infos: body.infoAdicionais ?? terms.infos,
        due: undefined,
      }
      judge(revised)
      return revised
    },
  }
}

type Revised = {
  readonly status?: string | undefined
  readonly loc?: { readonly id: number } | undefined
}

/** What a revision asks for beside new terms. @throws ApiError if it removes the charge and asks for more */
export const askedOf = ({ status, ...rest }: Revised, { kind, refuse }: Wording) => {
  const isRemoval = status !== undefined
  if (isRemoval && Object.values(rest).some((value) => value !== undefined)) {
    const razao = 'A cobrança não pode ser removida juntamente com outras alterações.'
    throw refuse({ razao, propriedade: `${kind}.status`, valor: status })
  }
  return { isRemoval, locationId: rest.loc?.id }
}

const judge = ({ expiresSeconds, originalCents, isOpen, withdrawal }: ChargeTerms): void => {
  const violacoes: Violacao[] = []
  if (expiresSeconds <= 0) {
    const propriedade = 'cob.calendario.expiracao'
    const razao = `O campo ${propriedade} é igual ou menor que zero.`
    violacoes.push({ razao, propriedade, valor: String(expiresSeconds) })
  }
  if (originalCents === 0n && !isOpen && withdrawal?.kind !== 'saque') {
    const propriedade = 'cob.valor.original'
    violacoes.push({ razao: `O campo ${propriedade} é zero.`, propriedade, valor: '0.00' })
  }
  if (withdrawal !== undefined) {
    violacoes.push(...withdrawalViolations(withdrawal, { cents: originalCents, isOpen }))
  }
  if (violacoes.length > 0) throw refuse(...violacoes)
}
