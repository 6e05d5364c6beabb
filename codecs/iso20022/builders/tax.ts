import { amountOf } from './amount.ts'
import { cnpjLength, patternForm } from './forms.ts'
import type { XmlOutput } from './output.ts'
import type { Params } from './params.ts'
import { type Content, lengthOf } from './values.ts'

/** The parts of an amount that go to the tax authorities when it is settled. */
export type Tax = {
  /** Undefined where a payment is told of without it. */
  readonly reference: Content | undefined
  readonly cbsCents: number
  readonly ibsCents: number
}

/** What a tax split has to agree with. */
export type TaxedPayment = {
  readonly amountCents: number
  /** Empty where it is missing or wrong. */
  readonly instrument: string
  /** Empty where it is missing or wrong. */
  readonly debtorDocument: Content
  readonly creditorDocument: Content
}

const referenceForm = patternForm(/^[a-zA-Z0-9]{1,50}$/, '1 to 50 letters or digits')
const taxedInstruments = ['QRES', 'APES', 'MANU', 'DICT']

/** Whether a document that is not empty is a CNPJ. */
const isCompany = (document: Content): boolean => lengthOf(document) === cnpjLength

/** @param tax the parameter of this name */
export const taxOf = (tax: Params, payment: TaxedPayment): Tax =>
  read(tax, tax.text('reference', referenceForm), payment)

/** As {@link taxOf}, where a payment is told of and need not be told of whole. */
export const reportedTaxOf = (tax: Params, payment: TaxedPayment): Tax =>
  read(tax, tax.optional('reference', referenceForm), payment)

const read = (
  tax: Params,
  reference: Content | undefined,
  { amountCents, instrument, debtorDocument, creditorDocument }: TaxedPayment,
): Tax => {
  const cbsCents = tax.centsOrNone('cbs_amount')
  const ibsCents = tax.centsOrNone('ibs_amount')
  if (cbsCents + ibsCents > amountCents) {
    tax.refuse('', 'sum', 'cbs_amount and ibs_amount must not exceed amount')
  }
  if (instrument !== '' && !taxedInstruments.includes(instrument)) {
    tax.refuse('', 'forbidden', `is not given with local_instrument ${instrument}`)
  }
  if (debtorDocument !== '' && creditorDocument !== '') {
    if (!isCompany(debtorDocument) || !isCompany(creditorDocument)) {
      tax.refuse('', 'consistency', 'needs a CNPJ as document of debtor and creditor')
    }
  }
  tax.done()
  return { reference, cbsCents, ibsCents }
}

export const writeTax = ({ reference, cbsCents, ibsCents }: Tax, output: XmlOutput): void => {
  output.write`<Tax><RefNb>${reference}</><Rcrd><Tp>CBSSPLIT</><Ctgy>INF</><TaxAmt/TtlAmt Ccy="BRL">${amountOf(cbsCents)}</></><Rcrd><Tp>IBSSPLIT</><Ctgy>INF</><TaxAmt/TtlAmt Ccy="BRL">${amountOf(ibsCents)}</></></>`
}

/** The tax of a charge, which its payment repeats as a {@link Tax}. */
export type ChargeTax = {
  readonly reference: Content | undefined
  readonly cbsCents: number
  readonly ibsCents: number
  /** What counts instead, where it is given. */
  readonly correctedCbsCents: number | undefined
  readonly correctedIbsCents: number | undefined
}

/**
 * @param tax the parameter of this name
 * @param debtorDocument empty where it is missing or wrong
 */
export const chargeTaxOf = (
  tax: Params,
  amountCents: number,
  debtorDocument: Content,
): ChargeTax => {
  const reference = tax.optional('reference', referenceForm)
  const cbsCents = tax.centsOrNone('cbs_amount')
  const ibsCents = tax.centsOrNone('ibs_amount')
  const correctedCbsCents = tax.optionalCents('corrected_cbs_amount')
  const correctedIbsCents = tax.optionalCents('corrected_ibs_amount')
  if ((correctedCbsCents ?? cbsCents) + (correctedIbsCents ?? ibsCents) > amountCents) {
    tax.refuse('', 'sum', 'what counts of CBS and IBS must not exceed amount')
  }
  if (debtorDocument !== '' && !isCompany(debtorDocument)) {
    tax.refuse('', 'consistency', 'needs a CNPJ as document of the debtor')
  }
  tax.done()
  return { reference, cbsCents, ibsCents, correctedCbsCents, correctedIbsCents }
}

export const writeChargeTax = (tax: ChargeTax, output: XmlOutput): void => {
  output.write`<Tax><RefNb>${tax.reference}</>`
  writeRecord('CBSSPLIT', 'INF', tax.cbsCents, output)
  writeRecord('IBSSPLIT', 'INF', tax.ibsCents, output)
  writeRecord('CBSSPLIT', 'COR', tax.correctedCbsCents, output)
  writeRecord('IBSSPLIT', 'COR', tax.correctedIbsCents, output)
  output.write`</Tax>`
}

const writeRecord = (
  type: string,
  category: string,
  cents: number | undefined,
  output: XmlOutput,
): void => {
  if (cents === undefined) return
  output.write`<Rcrd><Tp>${type}</><Ctgy>${category}</><TaxAmt/TtlAmt Ccy="BRL">${amountOf(cents)}</></>`
}
