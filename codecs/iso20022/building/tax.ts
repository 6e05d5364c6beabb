import { formatCents } from '../amount.ts'
import { patternForm } from './forms.ts'
import type { Params } from './params.ts'
import { type Piece, template } from './template.ts'

/** The facts that a tax split must agree with. */
export type TaxedPayment = {
  readonly amountCents: number
  /** Empty if it is missing or wrong, like the documents. */
  readonly instrument: string
  readonly debtorDocument: string
  readonly creditorDocument: string
}

const referenceForm = patternForm(/^[a-zA-Z0-9]{1,50}$/, '1 to 50 letters or digits')
/** The instruments of payments that may have a tax split. */
export const taxedInstruments: readonly string[] = ['QRES', 'APES', 'MANU', 'DICT']
const cnpjLength = 14

/** Only companies split a tax. */
export const areCompanies = (...documents: readonly string[]): boolean =>
  documents.every(({ length }) => length === cnpjLength)

const taxTemplate = template('<Tax><RefNb>{reference}</>{records}</>')
const recordTemplate = template(
  '<Rcrd><Tp>{type}</><Ctgy>{category}</><TaxAmt/TtlAmt Ccy="BRL">{amount}</></>',
)

const record = (type: string, category: string, cents: number | undefined): readonly Piece[] =>
  cents === undefined ? [] : [recordTemplate({ type, category, amount: formatCents(cents) })]

/**
 * Reads the parts of an amount that go to the tax authorities at settlement.
 *
 * @param tax the parameter of this name
 * @returns `Tax`
 */
export const taxOf = (tax: Params, payment: TaxedPayment): Piece =>
  splitOf(tax, tax.text('reference', referenceForm), payment)

/** As {@link taxOf}, for a report of a payment, which may be incomplete. */
export const reportedTaxOf = (tax: Params, payment: TaxedPayment): Piece =>
  splitOf(tax, tax.optional('reference', referenceForm), payment)

const splitOf = (
  tax: Params,
  reference: string | undefined,
  { amountCents, instrument, debtorDocument, creditorDocument }: TaxedPayment,
): Piece => {
  const cbsCents = tax.centsOrNone('cbs_amount')
  const ibsCents = tax.centsOrNone('ibs_amount')
  if (cbsCents + ibsCents > amountCents) {
    tax.refuse('', 'sum', 'cbs_amount and ibs_amount must not exceed amount')
  }
  if (instrument !== '' && !taxedInstruments.includes(instrument)) {
    tax.refuse('', 'forbidden', `is not given with local_instrument ${instrument}`)
  }
  if (debtorDocument !== '' && creditorDocument !== '') {
    if (!areCompanies(debtorDocument, creditorDocument)) {
      tax.refuse('', 'consistency', 'needs a CNPJ as document of debtor and creditor')
    }
  }
  tax.done()
  const records = [...record('CBSSPLIT', 'INF', cbsCents), ...record('IBSSPLIT', 'INF', ibsCents)]
  return taxTemplate({ reference, records })
}

/**
 * Reads the tax of a charge. Its payment repeats it as {@link taxOf}; if there are two amounts, the corrected one
 * counts.
 *
 * @param tax the parameter of this name
 * @param debtorDocument empty if it is missing or wrong
 * @returns `Tax`
 */
export const chargeTaxOf = (tax: Params, amountCents: number, debtorDocument: string): Piece => {
  const reference = tax.optional('reference', referenceForm)
  const cbsCents = tax.centsOrNone('cbs_amount')
  const ibsCents = tax.centsOrNone('ibs_amount')
  const correctedCbsCents = tax.optionalCents('corrected_cbs_amount')
  const correctedIbsCents = tax.optionalCents('corrected_ibs_amount')
  if ((correctedCbsCents ?? cbsCents) + (correctedIbsCents ?? ibsCents) > amountCents) {
    tax.refuse('', 'sum', 'what counts of CBS and IBS must not exceed amount')
  }
  if (debtorDocument !== '' && !areCompanies(debtorDocument)) {
    tax.refuse('', 'consistency', 'needs a CNPJ as document of the debtor')
  }
  tax.done()
  const records = [
    ...record('CBSSPLIT', 'INF', cbsCents),
    ...record('IBSSPLIT', 'INF', ibsCents),
    ...record('CBSSPLIT', 'COR', correctedCbsCents),
    ...record('IBSSPLIT', 'COR', correctedIbsCents),
  ]
  return taxTemplate({ reference, records })
}
