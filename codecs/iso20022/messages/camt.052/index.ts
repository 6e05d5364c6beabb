import { steady } from '../../catalogue/revisions.ts'
import { many, messageReader, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './camt.052.xsd' with { type: 'text' }

/** camt.052, BankToCustomerAccountReport: a file of entries is ready. */
export const camt052 = {
  type: 'camt.052',
  revisions: steady('1.3'),
  versions: { '1.3': 'camt.052.xsd' },
  schemas: { 'camt.052.xsd': schema },
  read: messageReader('camt.052', 'BkToCstmrAcctRpt', {
    groupHeader,
    reports: many('Rpt+', {
      /** MsgId of the camt.060 that asked. */
      id: text('Id'),
      accountOwnerIspb: text('Acct/Id/Othr/Id'),
      numberOfEntries: text('TxsSummry/TtlNtries/NbOfNtries'),
      /** The hash of the file, which comes by the file interface. */
      hash: text('AddtlRptInf'),
    }),
  }),
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
