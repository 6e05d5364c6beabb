import { z } from 'zod'
import { type Day, dayAt, isDay } from '#src/platform/runtime/index.ts'
import { amount, person, personOf } from '../charges/body.ts'
import { txidForm } from '../charges/domain.ts'
import { objectionToFar } from '../due/domain.ts'
import { bodyReader, pixErrors, type Violacao, violates } from '../errors.ts'
import { centsOf } from '../money.ts'
import { shownText } from '../shown-text.ts'
import { periods, type Recurrence, type RecurrenceTerms, retryPolicies } from './domain.ts'

const nameCharsMax = 140
const contractCharsMax = 35
export const agreementCharsMax = 60

const day = z.string().refine(isDay)
const name = shownText(nameCharsMax)
const locationId = z.int().min(1)
const activation = z.object({
  dadosJornada: z.object({ txid: z.string().regex(txidForm) }).optional(),
})

const newRecurrence = z.object({
  vinculo: z.object({
    contrato: shownText(contractCharsMax),
    objeto: shownText(contractCharsMax).optional(),
    devedor: person
      .extend({ nome: name })
      .transform((given, context) => personOf(given, context) ?? z.NEVER),
  }),
  calendario: z.object({
    dataInicial: day,
    dataFinal: day.optional(),
    periodicidade: z.enum(periods),
  }),
  valor: z
    .object({ valorRec: amount.optional(), valorMinimoRecebedor: amount.optional() })
    .optional(),
  politicaRetentativa: z.enum(retryPolicies),
  loc: locationId.optional(),
  recebedor: z.object({ convenio: shownText(agreementCharsMax).optional() }).optional(),
  ativacao: activation.optional(),
})

const revisedRecurrence = z.object({
  status: z.literal('CANCELADA').optional(),
  vinculo: z.object({ devedor: z.object({ nome: name }).optional() }).optional(),
  calendario: z.object({ dataInicial: day.optional() }).optional(),
  loc: locationId.optional(),
  ativacao: activation.optional(),
})

export const refuseRecurrence = (...violacoes: readonly Violacao[]) =>
  violates(pixErrors.rec_operacao_invalida, violacoes)

/** @throws ApiError with every member that does not fit */
const read = bodyReader('rec', ['politicaRetentativa', 'loc', 'status'], refuseRecurrence, [
  'calendario',
  'valor',
])

export type RecurrenceRequest = {
  readonly terms: RecurrenceTerms
  readonly locationId: number | undefined
  readonly agreement: string | undefined
}

/** @throws ApiError `rec_operacao_invalida`, with every broken rule */
export const readNewRecurrence = (value: unknown, today: Day): RecurrenceRequest => {
  const { vinculo, calendario, valor = {}, ...rest } = read(newRecurrence, value)
  const terms: RecurrenceTerms = {
    contract: vinculo.contrato,
    object: vinculo.objeto,
    debtor: vinculo.devedor,
    startsOn: calendario.dataInicial,
    endsOn: calendario.dataFinal,
    period: calendario.periodicidade,
    amount: valor.valorRec,
    minimum: valor.valorMinimoRecebedor,
    retries: rest.politicaRetentativa,
    firstTxid: rest.ativacao?.dadosJornada?.txid,
  }
  const violacoes = [...objectionsToDays(terms, today), ...objectionsToAmounts(terms)]
  if (violacoes.length > 0) throw refuseRecurrence(...violacoes)
  return { terms, locationId: rest.loc, agreement: rest.recebedor?.convenio }
}

/** @param made the day on which the recurrence was made */
const objectionsToDays = ({ startsOn, endsOn }: RecurrenceTerms, made: Day): Violacao[] => {
  const violacoes: Violacao[] = []
  if (startsOn < made) {
    const propriedade = 'rec.calendario.dataInicial'
    const razao = `O campo ${propriedade} é anterior à data de criação da recorrência.`
    violacoes.push({ razao, propriedade, valor: startsOn })
  }
  const far = objectionToFar(startsOn, made)
  if (far !== undefined) {
    violacoes.push({ razao: far, propriedade: 'rec.calendario.dataInicial', valor: startsOn })
  }
  if (endsOn !== undefined && endsOn < startsOn) {
    const propriedade = 'rec.calendario.dataFinal'
    const razao = `O campo ${propriedade} é anterior ao campo rec.calendario.dataInicial.`
    violacoes.push({ razao, propriedade, valor: endsOn })
  }
  return violacoes
}

const objectionsToAmounts = ({ amount: fixed, minimum }: RecurrenceTerms): Violacao[] => {
  if (fixed !== undefined && minimum !== undefined) {
    const razao =
      'Ambos os campos rec.valor.valorRec e rec.valor.valorMinimoRecebedor estão preenchidos.'
    return [{ razao, propriedade: 'rec.valor' }]
  }
  if (fixed === undefined || centsOf(fixed) > 0n) return []
  const propriedade = 'rec.valor.valorRec'
  return [{ razao: `O campo ${propriedade} é zero.`, propriedade, valor: fixed }]
}

export type RecurrenceRevision = {
  readonly isCancelled: boolean
  readonly locationId: number | undefined
  /** @throws ApiError as {@link readNewRecurrence} */
  readonly revise: (recurrence: Recurrence) => RecurrenceTerms
}

/** @throws ApiError as {@link readNewRecurrence} */
export const readRecurrenceRevision = (value: unknown): RecurrenceRevision => {
  const { status, vinculo, calendario, loc, ativacao } = read(revisedRecurrence, value)
  return {
    isCancelled: status !== undefined,
    locationId: loc,
    revise: ({ terms, status: current, createdAt }) => {
      const startsOn = calendario?.dataInicial
      if (current !== 'CRIADA' && startsOn !== undefined) {
        throw onlyWhenCreated('rec.calendario.dataInicial', startsOn)
      }
      const revised = {
        ...terms,
        debtor: { ...terms.debtor, nome: vinculo?.devedor?.nome ?? terms.debtor.nome },
        startsOn: startsOn ?? terms.startsOn,
        firstTxid: ativacao?.dadosJornada?.txid ?? terms.firstTxid,
      }
      const violacoes = startsOn === undefined ? [] : objectionsToDays(revised, dayAt(createdAt))
      if (violacoes.length > 0) throw refuseRecurrence(...violacoes)
      return revised
    },
  }
}

export const onlyWhenCreated = (propriedade: string, valor: string) => {
  const razao = `O campo ${propriedade} somente pode ser alterado quando a recorrência apresentar-se com o status CRIADA.`
  return refuseRecurrence({ razao, propriedade, valor })
}
