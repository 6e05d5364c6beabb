/** Refund requests (MED): the payer's institution asks, the receiver's gives back or says why not. */

import { randomUUID } from 'node:crypto'
import {
  type DirectoryRefund,
  type RefundAnalysis,
  type RefundRequest,
  refundReasons,
  refundRejectionReasons,
} from '#codecs/dict'
import { dayMs } from '#src/platform/runtime/index.ts'
import { createRecords, type ListFilter } from './records.ts'
import { Refusal } from './refusal.ts'
import type { FindTransaction } from './transactions.ts'

/** A payment can be given back for so long. */
const refundDays = 90

type Role = 'requesting' | 'contested'

const isSame = (one: DirectoryRefund, other: RefundAnalysis): boolean =>
  one.result === other.result &&
  one.analysis === other.analysis &&
  one.rejectionReason === other.rejectionReason &&
  one.returnId === other.returnId

/** @throws Refusal */
const refuseMalformed = ({ result, rejectionReason, returnId }: RefundAnalysis): void => {
  const isRejected = result === 'REJECTED'
  const isExplained = (refundRejectionReasons as readonly string[]).includes(rejectionReason ?? '')
  if (isRejected ? !isExplained : returnId === undefined) throw new Refusal('RefundInvalid')
}

export const createRefunds = (
  now: () => number,
  transactions: FindTransaction,
  isAgreed: (transactionId: string) => boolean,
) => {
  const records = createRecords<Role, DirectoryRefund>(now, ['requesting', 'contested'])
  const { demand, change } = records

  return {
    put: records.put,
    all: records.all,
    create: (request: RefundRequest, participant: string): DirectoryRefund => {
      const { transactionId, reason, amountCents, details } = request
      const isKnown = (refundReasons as readonly string[]).includes(reason)
      const transaction = transactions(transactionId)
      if (transaction === undefined) throw new Refusal('RefundTransactionNotFound')
      const { debited, credited, settledMs } = transaction
      if (debited !== participant) throw new Refusal('Forbidden')
      if (settledMs === undefined) throw new Refusal('RefundTransactionNotSettled')
      if (now() > settledMs + refundDays * dayMs) throw new Refusal('RefundPeriodExpired')
      const isPossible = amountCents > 0n && amountCents <= transaction.amountCents
      const isExplained = reason !== 'OPERATIONAL_FLAW' || details !== undefined
      if (!isKnown || !isPossible || !isExplained) throw new Refusal('RefundInvalid')
      if (reason === 'FRAUD' && !isAgreed(transactionId)) {
        throw new Refusal('RefundInfractionReportNotFound')
      }
      const others = records.all().filter((one) => one.transactionId === transactionId)
      if (others.some(({ status }) => status === 'OPEN')) {
        throw new Refusal('RefundAlreadyBeingProcessedForTransaction')
      }
      if (others.some(({ status }) => status === 'CLOSED')) {
        throw new Refusal('RefundAlreadyProcessedForTransaction')
      }
      const at = records.moment()
      return records.put({
        ...request,
        id: randomUUID(),
        status: 'OPEN',
        requesting: debited,
        contested: credited,
        createdMs: at,
        modifiedMs: at,
        recoveryId: undefined,
        result: undefined,
        analysis: undefined,
        rejectionReason: undefined,
        returnId: undefined,
        effectiveCents: undefined,
      })
    },
    find: (id: string, participant: string) => demand(id, participant),
    close: (id: string, participant: string, analysis: RefundAnalysis): DirectoryRefund => {
      const refund = demand(id, participant, 'contested')
      refuseMalformed(analysis)
      if (refund.status === 'CLOSED' && isSame(refund, analysis)) return refund
      if (refund.status !== 'OPEN') throw new Refusal('RefundOperationInvalid')
      return change(refund, { ...analysis, status: 'CLOSED' })
    },
    cancel: (id: string, participant: string): DirectoryRefund => {
      const refund = demand(id, participant, 'requesting')
      if (refund.status === 'CANCELLED') return refund
      if (refund.status !== 'OPEN') throw new Refusal('RefundOperationInvalid')
      return change(refund, { status: 'CANCELLED' })
    },
    list: (participant: string, role: Role, filter: ListFilter) =>
      records.list((refund) => refund[role] === participant, filter),
  }
}

export type Refunds = ReturnType<typeof createRefunds>
