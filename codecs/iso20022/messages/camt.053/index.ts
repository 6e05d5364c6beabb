import { steady } from '../../catalogue/revisions.ts'
import { many, messageReader, money, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './camt.053.xsd' with { type: 'text' }

/** camt.053, BankToCustomerStatement: the balances of PI accounts. */
export const camt053 = {
  type: 'camt.053',
  revisions: steady('1.4'),
  versions: { '1.4': 'camt.053.xsd' },
  schemas: { 'camt.053.xsd': schema },
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
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
