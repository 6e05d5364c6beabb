/** The SPI's own rules about payments and returns, which hold whatever the receiver decides. */

import type { CreditTransfer, Pacs002, Pacs004, Pacs008, PaymentReturn } from '#codecs/iso20022'
import { dayMs } from '#src/platform/runtime/index.ts'
import type { Refusal } from './drafts.ts'
import type { Operation } from './settlement.ts'

const priorityOperationsMax = 10
const scheduledOperationsMax = 500
const returnDaysMax = 90

/** The reason code for which the SPI rejects a payment, or undefined. */
export const paymentFault = (
  { header, groupHeader, transactions }: Pacs008,
  payment: CreditTransfer,
): string | undefined => {
  const max = groupHeader.serviceLevel === 'PAGAGD' ? scheduledOperationsMax : priorityOperationsMax
  const count = transactions.length
  if (Number(groupHeader.numberOfTransactions) !== count || count > max) return 'AM18'
  if (payment.amount.cents === 0n) return 'AM01'
  if (payment.debtorAgentIspb !== header.fromIspb) return 'AGNT'
  if (payment.creditorAgentIspb === header.fromIspb) return 'AG12'
  return purposeFault(payment)
}

/** Only Saque and Troco state the parts of the amount. */
const purposeFault = ({ purpose, remittance, amount }: CreditTransfer): string | undefined => {
  const structured = remittance?.structured ?? null
  const isCash = purpose === 'GSCB' || purpose === 'OTHR'
  if (isCash !== (structured !== null)) return 'FF07'
  if (purpose !== 'GSCB' || structured === null) return undefined
  const sum = structured.adjustments.reduce((total, each) => total + each.amount.cents, 0n)
  return sum === amount.cents ? undefined : 'AM12'
}

/** The reason code for which the SPI rejects a return, or undefined. */
export const returnFault = (
  { header, groupHeader, transactions }: Pacs004,
  item: PaymentReturn,
  original: Operation | undefined,
  nowMs: number,
): string | undefined => {
  if (Number(groupHeader.numberOfTransactions) !== transactions.length) return 'AM18'
  if (item.amount.cents === 0n) return 'AM01'
  if (item.debtorAgentIspb !== header.fromIspb) return 'AGNT'
  if (original?.kind === 'return') return 'AG13'
  const isOurs =
    original?.state === 'settled' &&
    original.receiver === header.fromIspb &&
    original.payer === item.creditorAgentIspb
  if (!isOurs) return 'CH16'
  if (original.returnedCents + item.amount.cents > original.cents) return 'AM09'
  if (nowMs - (original.settledAtMs ?? nowMs) > returnDaysMax * dayMs) return 'DT05'
  return undefined
}

/** Why the SPI refuses a receiver's answers, all of one message: none of them then has an effect. */
export const answerFault = (
  { header, transactions }: Pacs002,
  operations: ReadonlyMap<string, Operation>,
): Refusal | undefined => {
  for (const { originalInstructionId, status, reasons } of transactions) {
    if (operations.get(originalInstructionId)?.receiver !== header.fromIspb) return unknownOperation
    const isClear = status === 'ACSP' || (status === 'RJCT' && reasons[0]?.code != null)
    if (!isClear) return unclearAnswer
  }
  return undefined
}

const unknownOperation: Refusal = {
  reason: 'unknown_operation',
  description: 'Operação inexistente ou de outro recebedor',
}

const unclearAnswer: Refusal = {
  reason: 'status',
  description: 'O recebedor responde com ACSP, ou com RJCT e um motivo',
}
