import {
  type CreditTransfer,
  createMessageScanner,
  identifyMessage,
  salvageMessage,
} from '#codecs/iso20022'
import { nativeText } from '#src/platform/runtime/index.ts'
import type { CashParts } from './domain.ts'

/** We read one document completely before we scan the next. */
const scanner = createMessageScanner(nativeText)

/** The parts of a Pix Saque or Pix Troco within a pacs.008; undefined for any other payment. */
export const cashOf = (document: Uint8Array, endToEndId: string): CashParts | undefined => {
  const xml = scanner.scan(document)
  const identity = identifyMessage(xml)
  if (identity?.type !== 'pacs.008') return undefined
  const reading = salvageMessage(xml, { ...identity, type: 'pacs.008' })
  if (!reading.ok) return undefined
  const payment = reading.message.transactions.find((one) => one.endToEndId === endToEndId)
  return payment && cashPartsOf(payment)
}

/** The same of a payment that has been read. */
export const cashPartsOf = ({ remittance }: CreditTransfer): CashParts | undefined => {
  const structured = remittance?.structured
  if (!structured) return undefined
  const cents = (wanted: string): bigint =>
    structured.adjustments.reduce(
      (sum, { reason, amount }) => (reason === wanted ? sum + amount.cents : sum),
      0n,
    )
  return { cashCents: cents('VLDN'), purchaseCents: cents('VLCP') }
}
