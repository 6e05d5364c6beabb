export type Receiver = {
  readonly key: string
  readonly account: string
  /** CPF or CNPJ. */
  readonly taxId: string
  readonly name: string
  readonly city: string
  readonly street: string | null
  /** Two letters. */
  readonly state: string | null
  /** CEP, eight digits. */
  readonly postalCode: string | null
  readonly createdAt: Date
}

/** Who is paid, as payers are shown. */
export type Payee = Omit<Receiver, 'key' | 'account' | 'createdAt'>
