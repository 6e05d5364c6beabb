/** The SPI's own rules about payments and returns, which hold whatever the receiver decides. */

import type { CreditTransfer, Pacs002, Pacs004, Pacs008, PaymentReturn } from '#codecs/iso20022'
import { dayMs } from '#src/platform/runtime/index.ts'
import type { Refusal } from './drafts.ts'
import type { Operation } from './settlement.ts'

const priorityOperationsMax = 10
const scheduledOperationsMax = 500
const returnDaysMax = 90

/** When ids are judged; undefined: they may be of anybody and any time, as those of old samples are. */
type IdsAtMs = number | undefined

/** The reason code for which the SPI rejects a payment, or undefined. */
export const paymentFault = (
  { header, groupHeader, transactions }: Pacs008,
  payment: CreditTransfer,
  idsAtMs: IdsAtMs,
): string | undefined => {
  const { instructionPriority: priority, serviceLevel, numberOfTransactions } = groupHeader
  const max = serviceLevel === 'PAGAGD' ? scheduledOperationsMax : priorityOperationsMax
  const count = transactions.length
  if (Number(numberOfTransactions) !== count || count > max) return 'AM18'
  if ((priority === 'HIGH') !== (serviceLevel === 'PAGPRI')) return 'CH16'
  if (payment.amount.cents === 0n) return 'AM01'
  if (payment.debtorAgentIspb !== header.fromIspb) return 'AGNT'
  if (payment.creditorAgentIspb === header.fromIspb) return 'AG12'
  return (
    paymentIdFault(payment, idsAtMs) ??
    instrumentFault(payment, serviceLevel) ??
    purposeFault(payment)
  )
}

/** The id of a payment names its sender or its initiator; that of a charge its sender or the payee's institution. */
const paymentIdFault = (payment: CreditTransfer, idsAtMs: IdsAtMs): string | undefined => {
  const { endToEndId, debtorAgentIspb, creditorAgentIspb, initiatingPartyDocument } = payment
  const isCharge = payment.localInstrument === 'AUTO'
  const other = isCharge ? creditorAgentIspb : initiatingPartyDocument?.slice(0, 8)
  return idFault(endToEndId, [debtorAgentIspb, other], idsAtMs, isCharge)
}

const idToleranceMs = dayMs / 2

/** @param isOfAnyTime the operation may have been agreed on long before */
const idFault = (
  id: string,
  ispbs: readonly (string | undefined)[],
  idsAtMs: IdsAtMs,
  isOfAnyTime = false,
): string | undefined => {
  if (idsAtMs === undefined) return undefined
  const minute = id.slice(9, 21).replace(/(....)(..)(..)(..)(..)/, '$1-$2-$3T$4:$5:00.000Z')
  const atMs = Date.parse(minute)
  const isMinute = !Number.isNaN(atMs) && new Date(atMs).toISOString() === minute
  const isNear = isOfAnyTime || Math.abs(atMs - idsAtMs) <= idToleranceMs
  return isMinute && isNear && ispbs.includes(id.slice(1, 9)) ? undefined : 'FF08'
}

/** By how a payment was begun: the form of its TxId, empty if it has none, and whether it names a Pix key. */
const instruments: Readonly<Record<string, { readonly txid: RegExp; readonly hasKey: boolean }>> = {
  MANU: { txid: /^$/, hasKey: false },
  DICT: { txid: /^$/, hasKey: true },
  QRES: { txid: /^.{0,25}$/, hasKey: true },
  APES: { txid: /^.{0,25}$/, hasKey: true },
  QRDN: { txid: /^.{26,35}$/, hasKey: true },
  APDN: { txid: /^.{26,35}$/, hasKey: true },
  INIC: { txid: /^.{1,25}$/, hasKey: true },
  AUTO: { txid: /^.{26,35}$/, hasKey: false },
}

const instrumentFault = (payment: CreditTransfer, serviceLevel: string): string | undefined => {
  const { localInstrument, transactionId, purpose, creditorAccount } = payment
  const rule = instruments[localInstrument]
  const holds =
    rule?.txid.test(transactionId ?? '') === true &&
    rule.hasKey === (creditorAccount.proxyId !== null) &&
    (localInstrument !== 'INIC' || payment.initiatingPartyDocument !== null) &&
    (localInstrument !== 'AUTO' || purpose === 'IPAY') &&
    (!givesBack.has(purpose) || (localInstrument === 'MANU' && serviceLevel === 'PAGPRI')) &&
    creditorAccount.type !== 'SLRY'
  return holds ? undefined : 'CH16'
}

/** Money that comes back by the special return mechanism. */
const givesBack: ReadonlySet<string> = new Set(['REFU', 'IPRT'])

/** The parts of the amount that a purpose has. */
const partsOf: Readonly<Record<string, string>> = { GSCB: 'VLCP,VLDN', OTHR: 'VLDN' }

/** Only Saque and Troco state the parts of the amount. */
const purposeFault = ({ purpose, remittance, amount }: CreditTransfer): string | undefined => {
  const adjustments = remittance?.structured?.adjustments
  const reasons = (adjustments ?? []).map(({ reason }) => reason).sort()
  if (reasons.join() !== (partsOf[purpose] ?? '')) return 'FF07'
  if (adjustments === undefined) return undefined
  const sum = adjustments.reduce((total, each) => total + each.amount.cents, 0n)
  return sum === amount.cents ? undefined : 'AM12'
}

/** The reason code for which the SPI rejects a return, or undefined. */
export const returnFault = (
  { header, groupHeader, transactions }: Pacs004,
  item: PaymentReturn,
  original: Operation | undefined,
  nowMs: number,
  idsAtMs: IdsAtMs,
): string | undefined => {
  if (Number(groupHeader.numberOfTransactions) !== transactions.length) return 'AM18'
  if (item.amount.cents === 0n) return 'AM01'
  if (item.debtorAgentIspb !== header.fromIspb) return 'AGNT'
  const idWrong = idFault(item.returnId, [header.fromIspb], idsAtMs)
  if (idWrong !== undefined) return idWrong
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
