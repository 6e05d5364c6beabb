import { many, messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './camt.052.xsd' with { type: 'text' }

/** camt.052, BankToCustomerAccountReport: a file of entries is ready. */
export const camt052 = {
  ...ofOneVersion('camt.052', '1.3', schema),
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
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
