import { formatCents } from '../amount.ts'
import { codeLists } from '../codes/lists.ts'
import { codeForm, forms } from './forms.ts'
import type { Params } from './params.ts'
import { type Piece, template } from './template.ts'

const agentForm = codeForm(codeLists.withdrawal_agent.keys())

const adjustment = template('<AdjstmntAmtAndRsn><Amt Ccy="BRL">{amount}</><Rsn>{reason}</></>')
const structured = template(`
  <Strd>
    <RfrdDocInf/Tp><CdOrPrtry/Prtry>{agentType}</><Issr>{agentIspb}</></>
    <RfrdDocAmt>{purchase}{cash}</>
  </>`)
const remittance = template('<RmtInf><Ustrd>{text}</>{cash}</>')

/** Only Pix Troco and Pix Saque hand out cash. */
export const isCash = (purpose: string | undefined): boolean =>
  purpose === 'GSCB' || purpose === 'OTHR'

/**
 * Reads `withdrawal`, which only transactions of Pix Saque (OTHR) and Pix Troco (GSCB) have: who hands out cash, and
 * what the amount consists of.
 *
 * @returns `Strd`
 */
export const cashOf = (params: Params, purpose: string, amountCents: number): Piece | undefined => {
  const withdrawal = params.optionalObject('withdrawal')
  if (isCash(purpose) && withdrawal === undefined) {
    params.refuse('withdrawal', 'required', `is needed with purpose ${purpose}`)
  }
  if (withdrawal === undefined) return undefined
  if (!isCash(purpose)) {
    params.refuse('withdrawal', 'forbidden', `is not given with purpose ${purpose}`)
  }
  return structuredOf(withdrawal, purpose, amountCents)
}

/** As {@link cashOf}, for a report of a transaction, which may be incomplete. */
export const reportedCashOf = (
  params: Params,
  purpose: string | undefined,
  amountCents: number,
): Piece | undefined => {
  const withdrawal = params.optionalObject('withdrawal')
  if (withdrawal === undefined) return undefined
  if (!isCash(purpose)) {
    params.refuse('withdrawal', 'forbidden', 'is given with purpose GSCB or OTHR only')
  }
  return structuredOf(withdrawal, purpose, amountCents)
}

const structuredOf = (
  withdrawal: Params,
  purpose: string | undefined,
  amountCents: number,
): Piece => {
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
  const purchase =
    purchaseCents === undefined
      ? undefined
      : adjustment({ amount: formatCents(purchaseCents), reason: 'VLCP' })
  const cash = adjustment({ amount: formatCents(cents), reason: 'VLDN' })
  return structured({ agentType, agentIspb, purchase, cash })
}

/** `RmtInf` with a text and what {@link cashOf} gives; undefined if there is neither. */
export const remittanceOf = (
  text: string | undefined,
  cash: Piece | undefined,
): Piece | undefined =>
  text === undefined && cash === undefined ? undefined : remittance({ text, cash })
