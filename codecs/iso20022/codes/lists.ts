import table from './codes.tsv' with { type: 'text' }
import type { CodeCertainty, CodeEntry, CodeList, RaisedBy } from './entry.ts'

const raisers: readonly RaisedBy[] = ['R', 'P', 'S']

/** A row of `codes.tsv`: a code of one list. Unknown facts stay empty. */
const entryOf = (row: string): readonly [list: string, entry: CodeEntry] => {
  const [list = '', code = '', raisedBy = '', certainty, since, until, ...texts] = row.split('\t')
  const [meaningEn, meaningPt, remedyEn, remedyPt] = texts
  const entry: CodeEntry = {
    code,
    certainty: certainty as CodeCertainty,
    meaning: meaningEn && meaningPt ? { en: meaningEn, pt: meaningPt } : undefined,
    remedy: remedyEn && remedyPt ? { en: remedyEn, pt: remedyPt } : undefined,
    raisedBy: raisers.filter((one) => raisedBy.includes(one)),
    ...(since && { since }),
    ...(until && { until }),
  }
  return [list, entry]
}

const rows = table.trimEnd().split('\n').slice(1).map(entryOf)

const listOf = (name: string): CodeList =>
  new Map(rows.filter(([list]) => list === name).map(([, entry]) => [entry.code, entry]))

/**
 * Every list of codes by name, with the codes in the order of `codes.tsv`; see {@link CodeEntry} for the parts of an
 * entry. If several messages give a reason, it has a row for each, because the remedy differs.
 *
 * @example codeLists.purpose.get('GSCB')?.meaning?.en // 'Pix Troco: purchase with cash back'
 */
export const codeLists = {
  transaction_status: listOf('transaction_status'),
  mandate_status: listOf('mandate_status'),
  charge_status: listOf('charge_status'),
  cancellation_status: listOf('cancellation_status'),
  cancellation_processing: listOf('cancellation_processing'),
  receipt_status: listOf('receipt_status'),
  party_status: listOf('party_status'),
  entry_status: listOf('entry_status'),
  /** `StsRsnInf/Rsn/Cd` of pacs.002: why a payment or a return was refused (catalogues up to pacs.002 1.17). */
  status_reason: listOf('status_reason'),
  /** `RtrRsnInf/Rsn/Cd` of pacs.004: why money is given back. */
  return_reason: listOf('return_reason'),
  /** `CxlRsn/Rsn/Prtry` of pain.011: why an authorisation of Pix Automático is ended. */
  mandate_cancellation_reason: listOf('mandate_cancellation_reason'),
  /** `RjctRsn/Prtry` of pain.012: why an authorisation of Pix Automático, or its end, is refused. */
  mandate_refusal: listOf('mandate_refusal'),
  /** `StsRsnInf/Rsn/Prtry` of pain.014: why a charge of Pix Automático is refused. */
  charge_refusal: listOf('charge_refusal'),
  /** `StsRsn/Rsn/Prtry` of camt.025: why a reported book transfer is refused. */
  receipt_refusal: listOf('receipt_refusal'),
  /** `CxlStsRsnInf/Rsn/Prtry` of camt.029: why a scheduled charge is not cancelled. */
  cancellation_refusal: listOf('cancellation_refusal'),
  /** `CxlRsnInf/Rsn/Prtry` of camt.055: why a scheduled charge is to be cancelled, or was. */
  cancellation_reason: listOf('cancellation_reason'),
  /** `StsRsn/Rsn/Prtry` of reda.016: why a change of participants is refused, or has to wait. */
  party_status_reason: listOf('party_status_reason'),
  local_instrument: listOf('local_instrument'),
  purpose: listOf('purpose'),
  charge_purpose: listOf('charge_purpose'),
  account_type: listOf('account_type'),
  priority: listOf('priority'),
  service_level: listOf('service_level'),
  withdrawal_agent: listOf('withdrawal_agent'),
  adjustment_reason: listOf('adjustment_reason'),
} as const satisfies Readonly<Record<string, CodeList>>
