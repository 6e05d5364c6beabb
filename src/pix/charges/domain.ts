/** Expiry changes no status: an expired charge is one that nobody may pay any more. */
export type ChargeStatus =
  | 'ATIVA'
  | 'CONCLUIDA'
  | 'REMOVIDA_PELO_USUARIO_RECEBEDOR'
  | 'REMOVIDA_PELO_PSP'

export const txidForm = /^[a-zA-Z0-9]{26,35}$/

export type Debtor =
  | { readonly cpf: string; readonly nome: string }
  | { readonly cnpj: string; readonly nome: string }

export type Info = { readonly nome: string; readonly valor: string }

/** What a receiver says of an immediate charge, and may say anew. */
export type ChargeTerms = {
  /** Pix key of the receiver. */
  readonly key: string
  readonly originalCents: bigint
  /** True: the payer may choose another amount. */
  readonly isOpen: boolean
  readonly expiresSeconds: number
  readonly debtor: Debtor | undefined
  readonly question: string | undefined
  readonly infos: readonly Info[] | undefined
}

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
  terms.expiresSeconds,
  terms.debtor,
  terms.question,
  terms.infos,
]

export const debtorTaxIdOf = (debtor: Debtor | undefined): string | undefined =>
  debtor === undefined ? undefined : 'cpf' in debtor ? debtor.cpf : debtor.cnpj
