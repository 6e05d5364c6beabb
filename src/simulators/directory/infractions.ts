/** Infraction reports (MED): made by one institution of a payment, judged by the other. */

import { randomUUID } from 'node:crypto'
import {
  fraudTypes,
  type InfractionReport,
  type InfractionRequest,
  type InfractionResult,
  infractionReasons,
  situationTypes,
} from '#codecs/dict'
import { dayMs } from '#src/platform/runtime/index.ts'
import { createRecords, type ListFilter } from './records.ts'
import { Refusal } from './refusal.ts'
import type { FindTransaction } from './transactions.ts'

/** A payment may be reported for so long. */
const reportDays = 80

export type InfractionClosing = {
  readonly result: InfractionResult
  readonly fraudType: string | undefined
  readonly analysis: string | undefined
}

const isOneOf = (words: readonly string[], text: string): boolean => words.includes(text)

/** @throws Refusal */
const refuseMalformed = ({ reason, situation, details }: InfractionRequest): void => {
  const isKnown = isOneOf(infractionReasons, reason) && isOneOf(situationTypes, situation)
  const isExplained = situation !== 'OTHER' || details !== undefined
  const isFitting = reason !== 'REFUND_CANCELLED' || situation === 'OTHER'
  if (!isKnown || !isExplained || !isFitting) throw new Refusal('InfractionReportInvalid')
}

/** @throws Refusal if any report about the payment goes on, or one for the same reason has ended */
const refuseRepeated = (
  all: readonly InfractionReport[],
  { transactionId, reason }: InfractionRequest,
): void => {
  const others = all.filter((one) => one.transactionId === transactionId)
  if (others.some(({ status }) => status === 'OPEN' || status === 'ACKNOWLEDGED')) {
    throw new Refusal('InfractionReportAlreadyBeingProcessedForTransaction')
  }
  if (others.some((one) => one.reason === reason && one.status === 'CLOSED')) {
    throw new Refusal('InfractionReportAlreadyProcessedForTransaction')
  }
}

/** The reporting institution and the asked one. @throws Refusal if the payment cannot be reported */
const partiesOf = (
  { transactionId, reason }: InfractionRequest,
  transactions: FindTransaction,
  nowMs: number,
): readonly [reporter: string, counterparty: string] => {
  const transaction = transactions(transactionId)
  if (transaction === undefined) throw new Refusal('InfractionReportTransactionNotFound')
  const { settledMs, debited, credited } = transaction
  if (settledMs === undefined) throw new Refusal('InfractionReportTransactionNotSettled')
  if (nowMs > settledMs + reportDays * dayMs) throw new Refusal('InfractionReportPeriodExpired')
  return reason === 'REFUND_REQUEST' ? [debited, credited] : [credited, debited]
}

const isParty = ({ reporter, counterparty }: InfractionReport, participant: string): boolean =>
  reporter === participant || counterparty === participant

type Side = { readonly isReporter: boolean; readonly isCounterparty: boolean }

const isOfSide = (
  report: InfractionReport,
  participant: string,
  { isReporter, isCounterparty }: Side,
): boolean =>
  isParty(report, participant) &&
  (!isReporter || report.reporter === participant) &&
  (!isCounterparty || report.counterparty === participant)

export const createInfractions = (now: () => number, transactions: FindTransaction) => {
  const records = createRecords<'reporter' | 'counterparty', InfractionReport>(now, [
    'reporter',
    'counterparty',
  ])
  const { demand, change } = records

  return {
    put: records.put,
    all: records.all,
    /** An institution agrees that the payment was a fraud. */
    isAgreed: (transactionId: string): boolean =>
      records
        .all()
        .some(
          ({ transactionId: id, status, result }) =>
            id === transactionId && status === 'CLOSED' && result === 'AGREED',
        ),
    create: (request: InfractionRequest, participant: string): InfractionReport => {
      refuseMalformed(request)
      const [reporter, counterparty] = partiesOf(request, transactions, now())
      if (reporter !== participant) throw new Refusal('Forbidden')
      refuseRepeated(records.all(), request)
      const at = records.moment()
      return records.put({
        ...request,
        id: randomUUID(),
        status: 'OPEN',
        reporter,
        counterparty,
        createdMs: at,
        modifiedMs: at,
        result: undefined,
        analysis: undefined,
        fraudType: undefined,
        fraudMarkerId: undefined,
      })
    },
    find: (id: string, participant: string) => demand(id, participant),
    acknowledge: (id: string, participant: string): InfractionReport => {
      const report = demand(id, participant, 'counterparty')
      if (report.status === 'ACKNOWLEDGED') return report
      if (report.status !== 'OPEN') throw new Refusal('InfractionReportOperationInvalid')
      return change(report, { status: 'ACKNOWLEDGED' })
    },
    close: (id: string, participant: string, closing: InfractionClosing): InfractionReport => {
      const report = demand(id, participant, 'counterparty')
      const { result, fraudType, analysis } = closing
      const isMarked = result === 'AGREED'
      if (isMarked !== (fraudType !== undefined && isOneOf(fraudTypes, fraudType))) {
        throw new Refusal('InfractionReportInvalid', 'FraudType')
      }
      const isSame =
        report.result === result && report.fraudType === fraudType && report.analysis === analysis
      if (report.status === 'CLOSED' && isSame) return report
      if (report.status !== 'ACKNOWLEDGED') throw new Refusal('InfractionReportOperationInvalid')
      const fraudMarkerId = isMarked ? randomUUID() : undefined
      return change(report, { ...closing, status: 'CLOSED', fraudMarkerId })
    },
    cancel: (id: string, participant: string): InfractionReport => {
      const report = demand(id, participant, 'reporter')
      return report.status === 'CANCELLED' ? report : change(report, { status: 'CANCELLED' })
    },
    list: (participant: string, side: Side, filter: ListFilter) =>
      records.list((report) => isOfSide(report, participant, side), filter),
  }
}

export type Infractions = ReturnType<typeof createInfractions>
