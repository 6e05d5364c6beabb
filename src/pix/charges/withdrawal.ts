import { z } from 'zod'
import { formatCents } from '#codecs/iso20022'
import { ispbForm } from '#codecs/taxpayer'
import type { Violacao } from '../errors.ts'
import { amountForm, centsOf } from '../money.ts'

/** All that is paid is handed out in cash (saque), or what exceeds the purchase (troco). */
type WithdrawalKind = 'saque' | 'troco'

/** Cash that the receiver hands out to the payer: `valor.retirada`. */
export type Withdrawal = {
  readonly kind: WithdrawalKind
  /** The amount of the cash, as the standard writes it. */
  readonly amount: string
  /** True: the payer may choose another amount of cash. */
  readonly isOpen: boolean
  readonly agent: string
  /** ISPB of who makes the service possible. */
  readonly facilitator: string
}

/** The cash that a pacs.008 tells of. */
export type PaidWithdrawal = {
  readonly kind: WithdrawalKind
  readonly cashCents: bigint
  readonly purchaseCents: bigint
  readonly agent: string
  readonly facilitator: string
}

const cash = (agents: readonly string[]) =>
  z.object({
    valor: z.string().regex(amountForm),
    modalidadeAlteracao: z.int().min(0).max(1).default(0),
    modalidadeAgente: z.enum(agents),
    prestadorDoServicoDeSaque: z.string().regex(ispbForm),
  })

/** Exactly one of the two. A null is passed over, as members that are not there. */
export const withdrawalBody = z
  .object({
    saque: cash(['AGTEC', 'AGTOT', 'AGPSS']).nullish(),
    troco: cash(['AGTEC', 'AGTOT']).nullish(),
  })
  .nullish()
  .transform((given, context): Withdrawal | undefined => {
    if (given === undefined || given === null) return undefined
    const { saque, troco } = given
    const [kind, asked] = saque ? (['saque', saque] as const) : (['troco', troco] as const)
    if (!asked || (saque && troco)) {
      context.addIssue({ code: 'custom', message: 'saque or troco' })
      return z.NEVER
    }
    return {
      kind,
      amount: asked.valor,
      isOpen: asked.modalidadeAlteracao === 1,
      agent: asked.modalidadeAgente,
      facilitator: asked.prestadorDoServicoDeSaque,
    }
  })

/** The rules that cash and the rest of the amount break together. */
export const withdrawalViolations = (
  { kind, amount, isOpen }: Withdrawal,
  purchase: { readonly cents: bigint; readonly isOpen: boolean },
): readonly Violacao[] => {
  const found: Violacao[] = []
  const add = (propriedade: string, what: string, valor: string) =>
    found.push({ razao: `O campo ${propriedade} ${what}.`, propriedade, valor })
  if (purchase.isOpen) {
    add('cob.valor.modalidadeAlteracao', `é 1 em uma cobrança com ${kind}`, '1')
  }
  if (kind === 'saque' && purchase.cents > 0n) {
    const valor = formatCents(purchase.cents)
    add('cob.valor.original', 'é maior que zero em uma cobrança com saque', valor)
  }
  if (!isOpen && centsOf(amount) === 0n) add(`cob.valor.retirada.${kind}.valor`, 'é zero', amount)
  return found
}

export const withdrawalView = ({ kind, amount, isOpen, agent, facilitator }: Withdrawal) => ({
  [kind]: {
    valor: amount,
    modalidadeAlteracao: isOpen ? 1 : 0,
    modalidadeAgente: agent,
    prestadorDoServicoDeSaque: facilitator,
  },
})

/** A pacs.008 spells one agent otherwise than the API Pix. */
const agentsInMessages: Readonly<Record<string, string>> = { AGPSS: 'AGFSS' }
const agentsInAnswers: Readonly<Record<string, string>> = { AGFSS: 'AGPSS' }

/** Whether what is paid is the cash that a charge hands out, beside its purchase. */
export const isWithdrawalOf = (
  { kind, amount, isOpen, agent, facilitator }: Withdrawal,
  purchaseCents: bigint,
  paid: PaidWithdrawal,
): boolean =>
  paid.kind === kind &&
  paid.purchaseCents === purchaseCents &&
  (isOpen || paid.cashCents === centsOf(amount)) &&
  paid.agent === (agentsInMessages[agent] ?? agent) &&
  paid.facilitator === facilitator

/** componentesValor. */
export const withdrawalComponents = (paid: PaidWithdrawal) => ({
  original: { valor: formatCents(paid.purchaseCents) },
  [paid.kind]: {
    valor: formatCents(paid.cashCents),
    modalidadeAgente: agentsInAnswers[paid.agent] ?? paid.agent,
    prestadorDoServicoDeSaque: paid.facilitator,
  },
})
