import { codeLists } from '../../codes/lists.ts'
import type { Breach } from '../definition.ts'
import { priorityTransactionsMax, scheduledTransactionsMax } from './build.ts'
import type { CreditTransfer, Pacs008 } from './read.ts'

/** The breach, if the rule does not hold. */
const unless = (holds: boolean, rule: string, path: string, message: string): readonly Breach[] =>
  holds ? [] : [{ rule, path, message }]

const needsProxy: ReadonlySet<string> = new Set(['DICT', 'QRDN', 'QRES', 'APDN', 'APES', 'INIC'])
const needsTransactionId: ReadonlySet<string> = new Set(['QRDN', 'APDN', 'INIC', 'AUTO'])
const withoutTransactionId: ReadonlySet<string> = new Set(['MANU', 'DICT'])

/** The conditional rules of a payment; no schema holds them. */
export const rules = ({ groupHeader, transactions }: Pacs008): readonly Breach[] => {
  const { instructionPriority: priority, serviceLevel } = groupHeader
  const isPriority = serviceLevel === 'PAGPRI'
  const transactionsMax =
    serviceLevel === 'PAGAGD' ? scheduledTransactionsMax : priorityTransactionsMax
  return [
    ...unless(
      codeLists.service_level.has(serviceLevel) && priority === (isPriority ? 'HIGH' : 'NORM'),
      'PmtTpInf',
      '//GrpHdr/PmtTpInf',
      'pairs a priority and a service level that do not go together',
    ),
    ...unless(
      transactions.length <= transactionsMax,
      'NbOfTxs',
      '//GrpHdr/NbOfTxs',
      'is more than the service level allows',
    ),
    ...transactions.flatMap((transaction, index) =>
      transfer(transaction, `//CdtTrfTxInf[${index + 1}]`),
    ),
  ]
}

const transfer = (one: CreditTransfer, path: string): readonly Breach[] => {
  const { localInstrument: instrument, creditorAccount, transactionId } = one
  return [
    ...unless(one.amount.currency === 'BRL', 'Ccy', path, 'is not BRL'),
    ...unless(
      codeLists.local_instrument.has(instrument),
      'LclInstrm',
      path,
      'is no known instrument',
    ),
    ...unless(codeLists.purpose.has(one.purpose), 'Purp', path, 'is no known purpose'),
    ...unless(
      !needsProxy.has(instrument) || creditorAccount.proxyId !== null,
      'Prxy',
      path,
      'is missing where the instrument needs a Pix key',
    ),
    ...unless(
      !(needsTransactionId.has(instrument) && transactionId === null),
      'TxId',
      path,
      'is missing where the instrument needs it',
    ),
    ...unless(
      !(withoutTransactionId.has(instrument) && transactionId !== null),
      'TxId',
      path,
      'is given where the instrument has none',
    ),
  ]
}
