import type { DueTerms } from '../due/domain.ts'
import type { Withdrawal } from './withdrawal.ts'

/** Expiry changes no status: an expired charge is one that nobody may pay any more. */
export const chargeStatuses = [
  'ATIVA',
  'CONCLUIDA',
  'REMOVIDA_PELO_USUARIO_RECEBEDOR',
  'REMOVIDA_PELO_PSP',
] as const

export type ChargeStatus = (typeof chargeStatuses)[number]

/** To be paid at once, or by a due date. */
export type ChargeKind = 'cob' | 'cobv'

export const txidForm = /^[a-zA-Z0-9]{26,35}$/

export type Person =
  | { readonly cpf: string; readonly nome: string }
  | { readonly cnpj: string; readonly nome: string }

/** Where the debtor is: its receiver alone is shown it. */
type Contact = {
  readonly email?: string | undefined
  readonly logradouro?: string | undefined
  readonly cidade?: string | undefined
  readonly uf?: string | undefined
  readonly cep?: string | undefined
}

export type Debtor = Person & Contact

export type Info = { readonly nome: string; readonly valor: string }

/** The terms of a charge, which its receiver may revise. */
export type ChargeTerms = {
  /** Pix key of the receiver. */
  readonly key: string
  readonly originalCents: bigint
  /** True: the payer may choose another amount. */
  readonly isOpen: boolean
  /** Cash that is handed out; undefined: none is. */
  readonly withdrawal: Withdrawal | undefined
  /** 0 for one with a due date. */
  readonly expiresSeconds: number
  readonly debtor: Debtor | undefined
  readonly question: string | undefined
  readonly infos: readonly Info[] | undefined
  /** Undefined: it is to be paid at once. */
  readonly due: DueTerms | undefined
}

export const kindOf = ({ due }: ChargeTerms): ChargeKind => (due === undefined ? 'cob' : 'cobv')

export type Charge = {
  readonly id: string
  readonly account: string
  /** CPF or CNPJ of the receiver. */
  readonly taxId: string
  readonly txid: string
  readonly status: ChargeStatus
  readonly revision: number
  readonly createdAt: Date
  readonly terms: ChargeTerms
}

/** Whether two say the same. */
export const areSameTerms = (a: ChargeTerms, b: ChargeTerms): boolean =>
  JSON.stringify(comparable(a)) === JSON.stringify(comparable(b))

const comparable = (terms: ChargeTerms) => [
  terms.key,
  terms.originalCents.toString(),
  terms.isOpen,
  terms.withdrawal,
  terms.expiresSeconds,
  terms.debtor,
  terms.question,
  terms.infos,
  terms.due,
]

export const debtorTaxIdOf = (debtor: Debtor | undefined): string | undefined =>
  debtor === undefined ? undefined : 'cpf' in debtor ? debtor.cpf : debtor.cnpj

/** The debtor as everybody who reads the payload is shown it. */
export const personIn = (debtor: Debtor): Person => {
  const { nome } = debtor
  return 'cpf' in debtor ? { cpf: debtor.cpf, nome } : { cnpj: debtor.cnpj, nome }
}
