import { type Form, forms } from '../../building/forms.ts'

/** The fields that a local instrument takes. */
export type InstrumentRules = {
  /** Undefined if it must be absent. */
  readonly transactionId: Form | undefined
  readonly needsTransactionId: boolean
  /** True if it is required; false if it is forbidden. */
  readonly proxy: boolean
}

const rules = (
  transactionId: Form | undefined,
  needsTransactionId: boolean,
  proxy: boolean,
): InstrumentRules => ({ transactionId, needsTransactionId, proxy })

export const instrumentRules: ReadonlyMap<string, InstrumentRules> = new Map([
  ['MANU', rules(undefined, false, false)],
  ['DICT', rules(undefined, false, true)],
  ['QRES', rules(forms.shortTransactionId, false, true)],
  ['APES', rules(forms.shortTransactionId, false, true)],
  ['INIC', rules(forms.shortTransactionId, true, true)],
  ['QRDN', rules(forms.reconciliationId, true, true)],
  ['APDN', rules(forms.reconciliationId, true, true)],
  ['AUTO', rules(forms.reconciliationId, true, false)],
])

/** Whether a payment of this purpose is made in another way. */
export const isMisplaced = (purpose: string, instrument: string, serviceLevel: string): boolean => {
  if (instrument === 'AUTO') return purpose !== 'IPAY'
  const isRefund = purpose === 'REFU' || purpose === 'IPRT'
  return isRefund && (instrument !== 'MANU' || serviceLevel !== 'PAGPRI')
}
