import { amountOf } from './amount.ts'
import { cashOf, writeCash } from './cash.ts'
import type { Builder, Draft } from './context.ts'
import { codeForm, type Form, forms, textForm } from './forms.ts'
import { endToEndId } from './identifiers.ts'
import type { XmlOutput } from './output.ts'
import { type Params, refuseRepeated } from './params.ts'
import { taxOf, writeTax } from './tax.ts'
import { textOf, type Value } from './values.ts'
import { perVersion } from './versions.ts'

/** Transactions of one message on the priority service levels, and on PAGAGD. */
export const priorityTransactionsMax = 10
export const scheduledTransactionsMax = 500

/** What a version's schema admits, where versions differ. */
type Edition = {
  readonly instrument: Form<string>
  readonly account: Form
  readonly accountType: Form<string>
  readonly purpose: Form<string>
  readonly hasTax: boolean
  readonly hasInstructionId: boolean
}

const instruments = ['MANU', 'DICT', 'QRES', 'QRDN', 'APES', 'APDN', 'INIC', 'AUTO']
const purposes = ['IPAY', 'GSCB', 'OTHR', 'REFU', 'IPRT']
const accountTypes = ['CACC', 'SVGS', 'TRAN', 'OTHR']
const without = (codes: readonly string[], one: string): readonly string[] =>
  codes.filter((code) => code !== one)

const upTo114: Edition = {
  instrument: codeForm(without(instruments, 'APES')),
  account: forms.numericAccount,
  accountType: codeForm(without(accountTypes, 'OTHR')),
  purpose: codeForm(without(purposes, 'IPRT')),
  hasTax: false,
  hasInstructionId: false,
}
/** Contactless static codes, PI accounts, IPRT, lettered accounts and the tax split came with 1.15. */
const of115: Edition = {
  instrument: codeForm(instruments),
  account: forms.accountNumber,
  accountType: codeForm(accountTypes),
  purpose: codeForm(purposes),
  hasTax: true,
  hasInstructionId: false,
}
const since116: Edition = { ...of115, hasInstructionId: true }

const editionOf = perVersion('pacs.008', (version) => {
  const minor = Number(version.split('.')[1])
  return minor < 15 ? upTo114 : minor === 15 ? of115 : since116
})

const serviceLevelForm = codeForm(['PAGPRI', 'PAGFRD', 'PAGAGD'])
const name140 = textForm(140)
const key77 = textForm(77)

/** What goes with a local instrument. */
type InstrumentRules = {
  /** Undefined: none is given. */
  readonly transactionId: Form | undefined
  readonly needsTransactionId: boolean
  /** Needed, or else forbidden. */
  readonly proxy: boolean
}

const rules = (
  transactionId: Form | undefined,
  needsTransactionId: boolean,
  proxy: boolean,
): InstrumentRules => ({ transactionId, needsTransactionId, proxy })

const instrumentRules: ReadonlyMap<string, InstrumentRules> = new Map([
  ['MANU', rules(undefined, false, false)],
  ['DICT', rules(undefined, false, true)],
  ['QRES', rules(forms.shortTransactionId, false, true)],
  ['APES', rules(forms.shortTransactionId, false, true)],
  ['INIC', rules(forms.shortTransactionId, true, true)],
  ['QRDN', rules(forms.reconciliationId, true, true)],
  ['APDN', rules(forms.reconciliationId, true, true)],
  ['AUTO', rules(forms.reconciliationId, true, false)],
])

/** What all transactions of a message share. */
type Shared = {
  readonly draft: Draft
  readonly edition: Edition
  /** Empty where it is missing or wrong. */
  readonly instrument: string
  readonly rules: InstrumentRules | undefined
  readonly serviceLevel: string
}

/**
 * PACS008: credit transfers.
 *
 * ```json
 * { "local_instrument": "DICT", "service_level": "PAGPRI",
 *   "transactions": [{ "amount": 12345, "purpose": "IPAY",
 *     "debtor": { "ispb": "12345678", "name": "…", "document": "12345678909",
 *                 "account_num": "500100", "branch": "0001", "account_type": "CACC" },
 *     "creditor": { "ispb": "87654321", "document": "98765432100",
 *                   "account_num": "600200", "account_type": "TRAN", "proxy": "key@example.com" },
 *     "remittance_information": "Order 42" }] }
 * ```
 *
 * Further fields of a transaction: `end_to_end_id` (made when absent), `transaction_id`,
 * `acceptance_date_time` (now when absent), `initiator_document`, and `withdrawal` with `agent_type`,
 * `agent_ispb`, `cash_amount` and `purchase_amount` (cents) for Pix Saque (OTHR) and Pix Troco (GSCB).
 *
 * Since 1.15, between two companies: `tax`, the parts of the amount that are split off when it is settled.
 *
 * ```json
 * { "tax": { "reference": "NF0000123", "cbs_amount": 109, "ibs_amount": 12 } }
 * ```
 *
 * Since 1.16: `instruction_id`.
 */
export const pacs008: Builder = {
  type: 'pacs.008',
  root: 'FIToFICstmrCdtTrf',
  isGroup: true,
  build: (params, draft, output) => {
    const edition = editionOf(draft.version)
    const instrument = params.text('local_instrument', edition.instrument)
    const serviceLevel = params.optional('service_level', serviceLevelForm) ?? 'PAGPRI'
    const max = serviceLevel === 'PAGAGD' ? scheduledTransactionsMax : priorityTransactionsMax
    const transactions = params.list('transactions', max)
    const priority = serviceLevel === 'PAGPRI' ? 'HIGH' : 'NORM'
    output.write`<NbOfTxs>${String(transactions.length)}</><SttlmInf/SttlmMtd>CLRG</><PmtTpInf><InstrPrty>${priority}</><SvcLvl/Prtry>${serviceLevel}</></></GrpHdr>`
    const shared: Shared = {
      draft,
      edition,
      instrument,
      rules: instrumentRules.get(instrument),
      serviceLevel,
    }
    const ids: string[] = []
    for (const item of transactions) ids.push(writeTransaction(item, shared, output))
    refuseRepeated(transactions, 'end_to_end_id', ids)
    params.done()
    return ids
  },
}

const writeTransaction = (params: Params, shared: Shared, output: XmlOutput): string => {
  const { draft, edition, instrument, serviceLevel } = shared
  const id =
    params.optional('end_to_end_id', forms.endToEndId) ??
    endToEndId(draft.ispb, draft.nowMs, draft.random)
  const instructionId = params.optional('instruction_id', forms.instructionId)
  if (!edition.hasInstructionId && params.has('instruction_id')) {
    params.refuse('instruction_id', 'version', 'needs pacs.008 1.16 or later', '1.16 or later')
  }
  const transactionId = transactionIdOf(params, shared)
  const cents = params.cents('amount')
  const accepted = params.optional('acceptance_date_time', forms.dateTime) ?? draft.created
  const initiator = params.optional('initiator_document', forms.cnpj)
  if (instrument === 'INIC' && !params.has('initiator_document')) {
    params.refuse('initiator_document', 'required', 'is needed with local_instrument INIC')
  }
  const debtor = debtorOf(params.object('debtor'), edition)
  const creditor = creditorOf(params.object('creditor'), shared)
  const purpose = params.optional('purpose', edition.purpose) ?? 'IPAY'
  purposeRules(params, purpose, instrument, serviceLevel)
  const taxParams = params.optionalObject('tax')
  const tax =
    taxParams === undefined
      ? undefined
      : taxOf(taxParams, {
          amountCents: cents,
          instrument,
          debtorDocument: debtor.document,
          creditorDocument: creditor.document,
        })
  if (tax !== undefined && !edition.hasTax) {
    params.refuse('tax', 'version', 'needs pacs.008 1.15 or later', '1.15 or later')
  }
  const text = params.optional('remittance_information', name140)
  const cash = cashOf(params, purpose, cents)
  params.done()
  output.write`<CdtTrfTxInf><PmtId><InstrId>${instructionId}</><EndToEndId>${id}</><TxId>${transactionId}</></><IntrBkSttlmAmt Ccy="BRL">${amountOf(cents)}</><AccptncDtTm>${accepted}</><ChrgBr>SLEV</><MndtRltdInf/Tp/LclInstrm/Prtry>${instrument}</><InitgPty/Id/OrgId/Othr/Id>${initiator}</><Dbtr><Nm>${debtor.name}</><Id/PrvtId/Othr/Id>${debtor.document}</></><DbtrAcct><Id/Othr><Id>${debtor.account}</><Issr>${debtor.branch}</></><Tp/Cd>${debtor.type}</></><DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>${debtor.ispb}</><CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>${creditor.ispb}</><Cdtr/Id/PrvtId/Othr/Id>${creditor.document}</><CdtrAcct><Id/Othr><Id>${creditor.account}</><Issr>${creditor.branch}</></><Tp/Cd>${creditor.type}</><Prxy/Id>${creditor.proxy}</></><Purp/Cd>${purpose}</>`
  if (tax !== undefined) writeTax(tax, output)
  if (cash !== undefined) {
    output.write`<RmtInf><Ustrd>${text}</>`
    writeCash(cash, output)
    output.write`</RmtInf></CdtTrfTxInf>`
  } else output.write`<RmtInf/Ustrd>${text}</></CdtTrfTxInf>`
  return textOf(id)
}

const transactionIdOf = (params: Params, { instrument, rules: its }: Shared): Value | undefined => {
  const value = params.optional('transaction_id', its?.transactionId ?? forms.transactionId)
  if (its === undefined) return value
  if (its.transactionId === undefined && params.has('transaction_id')) {
    params.refuse('transaction_id', 'forbidden', `is not given with local_instrument ${instrument}`)
  }
  if (its.needsTransactionId && !params.has('transaction_id')) {
    params.refuse('transaction_id', 'required', `is needed with local_instrument ${instrument}`)
  }
  return value
}

const debtorOf = (params: Params, { account, accountType }: Edition) => {
  const party = {
    ispb: params.text('ispb', forms.ispb),
    name: params.text('name', name140),
    document: params.text('document', forms.cpfCnpj),
    account: params.text('account_num', account),
    branch: params.optional('branch', forms.branch),
    type: params.text('account_type', accountType),
  }
  params.done()
  return party
}

const creditorOf = (params: Params, { edition, instrument, rules: its }: Shared) => {
  const ispb = params.text('ispb', forms.ispb)
  // The schema has a name for the debtor only; the creditor's may be given and is not sent.
  params.optional('name', name140)
  const party = {
    ispb,
    document: params.text('document', forms.cpfCnpj),
    account: params.text('account_num', edition.account),
    branch: params.optional('branch', forms.branch),
    type: params.text('account_type', edition.accountType),
    proxy: params.optional('proxy', key77),
  }
  if (its?.proxy === false && params.has('proxy')) {
    params.refuse('proxy', 'forbidden', `is not given with local_instrument ${instrument}`)
  } else if (its?.proxy === true && !params.has('proxy')) {
    params.refuse('proxy', 'required', `is needed with local_instrument ${instrument}`)
  }
  params.done()
  return party
}

const purposeRules = (
  params: Params,
  purpose: string,
  instrument: string,
  serviceLevel: string,
): void => {
  if (instrument === 'AUTO' && purpose !== 'IPAY') {
    params.refuse('purpose', 'consistency', 'must be IPAY with local_instrument AUTO', 'IPAY')
  }
  const isRefund = purpose === 'REFU' || purpose === 'IPRT'
  if (isRefund && (instrument !== 'MANU' || serviceLevel !== 'PAGPRI')) {
    params.refuse('purpose', 'consistency', `${purpose} needs local_instrument MANU and PAGPRI`)
  }
}
