import { amountOf } from './amount.ts'
import { codeForm, forms } from './forms.ts'
import type { XmlOutput } from './output.ts'
import type { Params } from './params.ts'

/** Who hands out cash, and of what the amount consists. */
export type Cash = {
  readonly agentType: string
  readonly agentIspb: string
  readonly cents: number
  /** Of Pix Troco only. */
  readonly purchaseCents: number | undefined
}

const agentForm = codeForm(['AGFSS', 'AGTEC', 'AGTOT'])

/** Reads `withdrawal` of a transaction, which has it with Pix Saque (OTHR) and Pix Troco (GSCB) only. */
export const cashOf = (params: Params, purpose: string, amountCents: number): Cash | undefined => {
  const withdrawal = params.optionalObject('withdrawal')
  const isCash = purpose === 'GSCB' || purpose === 'OTHR'
  if (!isCash && withdrawal !== undefined) {
    params.refuse('withdrawal', 'forbidden', `is not given with purpose ${purpose}`)
  }
  if (isCash && withdrawal === undefined) {
    params.refuse('withdrawal', 'required', `is needed with purpose ${purpose}`)
  }
  if (withdrawal === undefined) return undefined
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
