import { amountOf } from './amount.ts'
import { patternForm } from './forms.ts'
import type { XmlOutput } from './output.ts'
import type { Params } from './params.ts'

/** The parts of an amount that go to the tax authorities when it is settled. */
export type Tax = {
  readonly reference: string
  readonly cbsCents: number
  readonly ibsCents: number
}

/** What a tax split has to agree with. */
export type TaxedPayment = {
  readonly amountCents: number
  readonly instrument: string
  /** Empty where it is missing or wrong. */
  readonly debtorDocument: string
  readonly creditorDocument: string
}

const referenceForm = patternForm(/^[a-zA-Z0-9]{1,50}$/, '1 to 50 letters or digits')
const taxedInstruments = ['QRES', 'APES', 'MANU', 'DICT']
const CNPJ_LENGTH = 14

const isCompany = (document: string): boolean => document.length === CNPJ_LENGTH

/** @param tax the parameter of this name */
export const taxOf = (
  tax: Params,
  { amountCents, instrument, debtorDocument, creditorDocument }: TaxedPayment,
): Tax => {
  const reference = tax.text('reference', referenceForm)
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
