import { amountOf } from './amount.ts'
import { codeForm, forms } from './forms.ts'
import type { XmlOutput } from './output.ts'
import type { Params } from './params.ts'
import type { Content } from './values.ts'

/** Who hands out cash, and of what the amount consists. */
export type Cash = {
  readonly agentType: string
  readonly agentIspb: Content
  readonly cents: number
  /** Of Pix Troco only. */
  readonly purchaseCents: number | undefined
}

const agentForm = codeForm(['AGFSS', 'AGTEC', 'AGTOT'])

/** With Pix Troco and with Pix Saque, of all purposes. */
const isCash = (purpose: string | undefined): boolean => purpose === 'GSCB' || purpose === 'OTHR'

/** Reads `withdrawal` of a transaction, which has it with Pix Saque (OTHR) and Pix Troco (GSCB) only. */
export const cashOf = (params: Params, purpose: string, amountCents: number): Cash | undefined => {
  const withdrawal = params.optionalObject('withdrawal')
  if (isCash(purpose) && withdrawal === undefined) {
    params.refuse('withdrawal', 'required', `is needed with purpose ${purpose}`)
  }
  if (withdrawal === undefined) return undefined
  if (!isCash(purpose)) {
    params.refuse('withdrawal', 'forbidden', `is not given with purpose ${purpose}`)
  }
  return read(withdrawal, purpose, amountCents)
}

/** As {@link cashOf}, where a transaction is told of and need not be told of whole. */
export const reportedCashOf = (
  params: Params,
  purpose: string | undefined,
  amountCents: number,
): Cash | undefined => {
  const withdrawal = params.optionalObject('withdrawal')
  if (withdrawal === undefined) return undefined
  if (!isCash(purpose)) {
    params.refuse('withdrawal', 'forbidden', 'is given with purpose GSCB or OTHR only')
  }
  return read(withdrawal, purpose, amountCents)
}

const read = (withdrawal: Params, purpose: string | undefined, amountCents: number): Cash => {
  const agentType = withdrawal.text('agent_type', agentForm)
  const agentIspb = withdrawal.text('agent_ispb', forms.ispb)
  const cents = withdrawal.cents('cash_amount')
  const purchaseCents = purpose === 'GSCB' ? withdrawal.cents('purchase_amount') : undefined
  if (purchaseCents !== undefined && cents + purchaseCents !== amountCents) {
    withdrawal.refuse('', 'sum', 'cash_amount and purchase_amount must add up to amount')
  }
  if (purpose === 'OTHR' && cents !== amountCents) {
    withdrawal.refuse('cash_amount', 'sum', 'must be amount with purpose OTHR')
  }
  withdrawal.done()
  return { agentType, agentIspb, cents, purchaseCents }
}

export const writeCash = (cash: Cash, output: XmlOutput): void => {
  output.write`<Strd><RfrdDocInf/Tp><CdOrPrtry/Prtry>${cash.agentType}</><Issr>${cash.agentIspb}</></><RfrdDocAmt>`
  if (cash.purchaseCents !== undefined) {
    output.write`<AdjstmntAmtAndRsn><Amt Ccy="BRL">${amountOf(cash.purchaseCents)}</><Rsn>VLCP</></>`
  }
  output.write`<AdjstmntAmtAndRsn><Amt Ccy="BRL">${amountOf(cash.cents)}</><Rsn>VLDN</></></RfrdDocAmt></Strd>`
}
