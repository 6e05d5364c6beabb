import { many, messageReader, money, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './camt.053.xsd' with { type: 'text' }

/** camt.053, BankToCustomerStatement: the balances of PI accounts. */
export const camt053 = {
  ...ofOneVersion('camt.053', '1.4', schema),
  read: messageReader('camt.053', 'BkToCstmrStmt', {
    groupHeader,
    statements: many('Stmt+', {
      /** MsgId of the camt.060 that asked. */
      id: text('Id'),
      accountOwnerIspb: text('Acct/Id/Othr/Id'),
      balances: many('Bal+', {
        type: text('Tp/CdOrPrtry/Prtry'),
        amount: money('Amt'),
        creditDebit: text('CdtDbtInd'),
        dateTime: text('Dt/DtTm'),
      }),
    }),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
