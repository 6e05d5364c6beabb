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
  /** The account that is credited, in digits; null: the gateway does not know it. */
  readonly accountNumber: string | null
  readonly branch: string | null
  readonly accountType: AccountType | null
  readonly createdAt: Date
}

/** As ISO 20022 and the directory name them. */
export const accountTypes = ['CACC', 'SVGS', 'TRAN'] as const
export type AccountType = (typeof accountTypes)[number]

/** Who is paid, as payers are shown. */
export type Payee = Pick<Receiver, 'taxId' | 'name' | 'city' | 'street' | 'state' | 'postalCode'>
