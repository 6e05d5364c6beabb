import { z } from 'zod'
import { type ApiError, text } from '#src/platform/http/index.ts'
import { type Day, dayAt, daysBetween, isDay } from '#src/platform/runtime/index.ts'
import {
  amount,
  askedOf,
  type ChargeRequest,
  fields,
  person,
  personOf,
  type RevisionRequest,
  read,
} from '../charges/body.ts'
import type { ChargeTerms, Debtor } from '../charges/domain.ts'
import { wordings } from '../charges/wording.ts'
import type { Violacao } from '../errors.ts'
import { centsOf } from '../money.ts'
import { duesOn, lastDayOf } from './arithmetic.ts'
import type { Calendar } from './calendar.ts'
import { type DueTerms, objectionToFar, type Part } from './domain.ts'

const validDaysDefault = 30
/** Bounded, so that the last day can be computed. */
const validDaysMax = 3_650
const stepsMax = 3
const wholePercent = 10_000n
const wording = wordings.cobv

const day = z.string().refine(isDay)
const modeOf = (max: number) =>
  // Examples of the standard have the number in quotes.
  z.union([z.int(), z.string().regex(/^\d$/).transform(Number)]).pipe(z.int().min(1).max(max))

const partOf = (max: number) =>
  z
    .object({ modalidade: modeOf(max), valorPerc: amount })
    .transform(({ modalidade, valorPerc }): Part => ({ mode: modalidade, value: valorPerc }))

const valor = z.object({
  original: amount,
  multa: partOf(2).optional(),
  juros: partOf(8).optional(),
  abatimento: partOf(2).optional(),
  desconto: z
    .object({
      modalidade: modeOf(6),
      descontoDataFixa: z
        .array(
          z
            .object({ data: day, valorPerc: amount })
            .transform(({ data, valorPerc }) => ({ until: data, value: valorPerc })),
        )
        .max(stepsMax)
        .nullish(),
      valorPerc: amount.nullish(),
    })
    .optional(),
})
const calendar = z.object({
  dataDeVencimento: day,
  validadeAposVencimento: z.int().max(validDaysMax).optional(),
})
const debtor = person
  .extend({
    email: text(77).optional(),
    logradouro: text(200).optional(),
    cidade: text(200).optional(),
    uf: text(2).optional(),
    cep: text(9).optional(),
  })
  .transform(({ cpf, cnpj, nome, ...contact }, context): Debtor => {
    const named = personOf({ cpf, cnpj, nome }, context)
    return named === undefined ? z.NEVER : { ...named, ...contact }
  })

const newCharge = z.object({ ...fields, devedor: debtor, calendario: calendar, valor })
const revisedCharge = z.object({
  ...fields,
  chave: fields.chave.optional(),
  devedor: debtor.optional(),
  calendario: calendar.partial().optional(),
  valor: valor.partial().optional(),
  status: z.literal('REMOVIDA_PELO_USUARIO_RECEBEDOR').optional(),
})

type Values = z.infer<typeof valor>

const discountOf = (desconto: Values['desconto']): DueTerms['discount'] =>
  desconto && {
    mode: desconto.modalidade,
    steps: desconto.descontoDataFixa ?? undefined,
    value: desconto.valorPerc ?? undefined,
  }

/** @throws ApiError `cobv_operacao_invalida`, if it does not respect the schema */
export const readNewDueCharge = (value: unknown, holding: Calendar): ChargeRequest => {
  const body = read(newCharge, value, wording)
  const { multa, juros, abatimento, desconto, original } = body.valor
  const terms = {
    key: body.chave,
    originalCents: centsOf(original),
    isOpen: false,
    expiresSeconds: 0,
    withdrawal: undefined,
    debtor: body.devedor,
    question: body.solicitacaoPagador,
    infos: body.infoAdicionais,
    due: {
      dueOn: body.calendario.dataDeVencimento,
      validDays: body.calendario.validadeAposVencimento ?? validDaysDefault,
      fine: multa,
      interest: juros,
      rebate: abatimento,
      discount: discountOf(desconto),
    },
  }
  return {
    terms,
    locationId: body.loc?.id,
    refusalAt: (made) => refusalOf(terms, terms.due, { made: dayAt(made), holding }),
  }
}

/** @throws ApiError `cobv_operacao_invalida`, here or as it revises, with every broken rule */
export const readDueRevision = (value: unknown, holding: Calendar): RevisionRequest => {
  const body = read(revisedCharge, value, wording)
  return {
    ...askedOf(body, wording),
    revise: (terms, createdAt) => {
      const { valor: given = {}, calendario = {} } = body
      const { due } = terms
      if (due === undefined) throw new Error('a cobv has a due date')
      const revised = {
        ...terms,
        key: body.chave ?? terms.key,
        originalCents: given.original === undefined ? terms.originalCents : centsOf(given.original),
        debtor: body.devedor ?? terms.debtor,
        question: body.solicitacaoPagador ?? terms.question,
        infos: body.infoAdicionais ?? terms.infos,
        due: {
          dueOn: calendario.dataDeVencimento ?? due.dueOn,
          validDays: calendario.validadeAposVencimento ?? due.validDays,
          fine: given.multa ?? due.fine,
          interest: given.juros ?? due.interest,
          rebate: given.abatimento ?? due.rebate,
          discount: discountOf(given.desconto) ?? due.discount,
        },
      }
      const refusal = refusalOf(revised, revised.due, { made: dayAt(createdAt), holding })
      if (refusal !== undefined) throw refusal
      return revised
    },
  }
}

/** The day on which a charge is made, and the working days that hold. */
type Circumstances = { readonly made: Day; readonly holding: Calendar }

const refusalOf = (
  { originalCents }: ChargeTerms,
  due: DueTerms,
  { made, holding }: Circumstances,
): ApiError | undefined => {
  const violacoes: Violacao[] = []
  const note = (name: string, razao: string, valor?: string): void => {
    violacoes.push({ razao, propriedade: `cobv.${name}`, valor })
  }
  const { dueOn, validDays, rebate } = due
  if (dueOn < made) {
    note('calendario.dataDeVencimento', 'A data é anterior à data de criação da cobrança.', dueOn)
  }
  const far = objectionToFar(dueOn, made)
  if (far !== undefined) note('calendario.dataDeVencimento', far, dueOn)
  if (validDays < 0) {
    const name = 'calendario.validadeAposVencimento'
    note(name, `O campo cobv.${name} é menor do que zero.`, String(validDays))
  }
  if (originalCents === 0n) {
    note('valor.original', 'O campo cobv.valor.original apresenta o valor zero.', '0.00')
  }
  if (rebate !== undefined && isWhole(rebate.mode === 1, rebate.value, originalCents)) {
    note('valor.abatimento', 'O abatimento é maior ou igual ao valor original, ou a 100%.')
  }
  for (const razao of objectionsTo(due, originalCents)) note('valor.desconto', razao)
  // A discount by the day is greatest at first, and one until a day comes into its own on that day at the latest.
  const days = [made, ...(due.discount?.steps ?? []).map(({ until }) => until)]
  const isNothingOn = (day: Day): boolean =>
    day >= made && duesOn(due, originalCents, day, holding).finalCents <= 0n
  if (violacoes.length === 0 && days.some(isNothingOn)) {
    note('valor.desconto', 'O desconto, em algum dia, é maior ou igual ao valor da cobrança.')
  }
  if (violacoes.length === 0 && mostOf(due, originalCents, holding) > centsMax) {
    note('valor', 'No último dia o valor da cobrança teria mais de dez dígitos antes do ponto.')
  }
  return violacoes.length > 0 ? wording.refuse(...violacoes) : undefined
}

/** What fits the standard's form of an amount. */
const centsMax = centsOf('9999999999.99')

/** At least what is owed on the last day, which is the dearest: all days count as working days, so that none is looked at. */
const mostOf = (due: DueTerms, originalCents: bigint, holding: Calendar): bigint => {
  const counting = { ...holding, workingDaysBetween: daysBetween }
  return duesOn(due, originalCents, lastDayOf(due, holding), counting).finalCents
}

const isWhole = (isAmount: boolean, value: string, originalCents: bigint): boolean =>
  centsOf(value) >= (isAmount ? originalCents : wholePercent)

const objectionsTo = ({ dueOn, discount }: DueTerms, originalCents: bigint): readonly string[] => {
  if (discount === undefined) return []
  const { mode, steps, value } = discount
  if (mode > 2) {
    const isAmount = mode <= 4
    return [
      ...(value === undefined ? ['O elemento valorPerc não está preenchido.'] : []),
      ...(steps === undefined ? [] : ['O elemento descontoDataFixa está preenchido.']),
      ...(value !== undefined && isWhole(isAmount, value, originalCents)
        ? ['O desconto é maior ou igual ao valor original, ou a 100%.']
        : []),
    ]
  }
  const all = steps ?? []
  return [
    ...(value === undefined ? [] : ['O elemento valorPerc encontra-se preenchido.']),
    ...(all.length === 0 ? ['O array descontoDataFixa está vazio ou nulo.'] : []),
    ...(all.some(({ until }) => until > dueOn)
      ? ['Algum elemento tem data posterior à data de vencimento.']
      : []),
    ...(all.some((step) => isWhole(mode === 1, step.value, originalCents))
      ? ['Algum desconto é maior ou igual ao valor original, ou a 100%.']
      : []),
  ]
}
