export type Receiver = {
  readonly key: string
  readonly account: string
  /** CPF or CNPJ. */
  readonly taxId: string
  readonly name: string
  readonly city: string
  readonly createdAt: Date
}
