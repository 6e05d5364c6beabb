import { formatCents } from '../../amount.ts'
import { type Builder, type Draft, groupHeader } from '../../building/builder.ts'
import { cashOf, remittanceOf } from '../../building/cash.ts'
import { codeForm, type Form, forms, listForm, textForm } from '../../building/forms.ts'
import { endToEndId } from '../../building/identifiers.ts'
import type { Params } from '../../building/params.ts'
import { taxOf } from '../../building/tax.ts'
import { type Piece, template } from '../../building/template.ts'
import { codeLists } from '../../codes/lists.ts'
import { type InstrumentRules, instrumentRules, isMisplaced } from './instruments.ts'

/** Transactions of one message on the priority service levels, and on PAGAGD. */
export const priorityTransactionsMax = 10
export const scheduledTransactionsMax = 500

/** What the schema of a version admits, where versions differ. */
type Edition = {
  readonly instrument: Form
  readonly account: Form
  readonly accountType: Form
  readonly purpose: Form
  readonly hasTax: boolean
  readonly hasInstructionId: boolean
}

const codesOf = (version: string) => ({
  instrument: listForm(codeLists.local_instrument, version),
  // No payment goes to a salary account.
  accountType: listForm(codeLists.account_type, version, ({ code }) => code !== 'SLRY'),
  purpose: listForm(codeLists.purpose, version),
})

const upTo114: Edition = {
  ...codesOf('1.14'),
  account: forms.numericAccount,
  hasTax: false,
  hasInstructionId: false,
}
/** Contactless static codes, PI accounts, IPRT, lettered accounts and the tax split came with 1.15. */
const of115: Edition = {
  ...codesOf('1.15'),
  account: forms.accountNumber,
  hasTax: true,
  hasInstructionId: false,
}
const since116: Edition = { ...of115, hasInstructionId: true }

const editionOf = (version: string): Edition => {
  const minor = Number(version.split('.')[1])
  return minor < 15 ? upTo114 : minor === 15 ? of115 : since116
}

const serviceLevelForm = codeForm(codeLists.service_level.keys())
const name140 = textForm(140)
const key77 = textForm(77)

const header = template(`
  <NbOfTxs>{count}</><SttlmInf/SttlmMtd>CLRG</>
  <PmtTpInf><InstrPrty>{priority}</><SvcLvl/Prtry>{serviceLevel}</></>`)
const transactionTemplate = template(`
  <CdtTrfTxInf>
    <PmtId><InstrId>{instructionId}</><EndToEndId>{id}</><TxId>{transactionId}</></>
    <IntrBkSttlmAmt Ccy="BRL">{amount}</><AccptncDtTm>{accepted}</><ChrgBr>SLEV</>
    <MndtRltdInf/Tp/LclInstrm/Prtry>{instrument}</><InitgPty/Id/OrgId/Othr/Id>{initiator}</>
    <Dbtr><Nm>{name}</><Id/PrvtId/Othr/Id>{debtorDocument}</></>
    <DbtrAcct>
      <Id/Othr><Id>{debtorAccount}</><Issr>{debtorBranch}</></><Tp/Cd>{debtorAccountType}</>
    </>
    <DbtrAgt/FinInstnId/ClrSysMmbId/MmbId>{debtorIspb}</>
    <CdtrAgt/FinInstnId/ClrSysMmbId/MmbId>{creditorIspb}</>
    <Cdtr/Id/PrvtId/Othr/Id>{creditorDocument}</>
    <CdtrAcct>
      <Id/Othr><Id>{creditorAccount}</><Issr>{creditorBranch}</></><Tp/Cd>{creditorAccountType}</>
      <Prxy/Id>{proxy}</>
    </>
    <Purp/Cd>{purpose}</>{tax}{remittance}
  </>`)

/** The parts that all transactions of a message share. */
type Shared = {
  readonly draft: Draft
  readonly edition: Edition
  /** Empty if it is missing or wrong. */
  readonly instrument: string
  readonly rules: InstrumentRules | undefined
  readonly serviceLevel: string
}

type Transaction = { readonly xml: Piece; readonly id: string }

/** PACS008 is made of credit transfers. */
export const builder: Builder = {
  root: 'FIToFICstmrCdtTrf',
  build: (params, draft) => {
    const edition = editionOf(draft.version)
    const instrument = params.text('local_instrument', edition.instrument)
    const serviceLevel = params.optional('service_level', serviceLevelForm) ?? 'PAGPRI'
    const max = serviceLevel === 'PAGAGD' ? scheduledTransactionsMax : priorityTransactionsMax
    const items = params.list('transactions', max)
    const priority = serviceLevel === 'PAGPRI' ? 'HIGH' : 'NORM'
    const its = instrumentRules.get(instrument)
    const shared: Shared = { draft, edition, instrument, rules: its, serviceLevel }
    const transactions = items.map((item) => transactionOf(item, shared))
    const ids = transactions.map(({ id }) => id)
    params.refuseRepeated('transactions', 'end_to_end_id', ids)
    params.done()
    const group = header({ count: String(items.length), priority, serviceLevel })
    return { xml: [groupHeader(draft, group), ...transactions.map(({ xml }) => xml)], ids }
  },
}

const transactionOf = (params: Params, shared: Shared): Transaction => {
  const { draft, edition, instrument, serviceLevel } = shared
  const id = params.optional('end_to_end_id', forms.endToEndId) ?? endToEndId(draft)
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
  const parties = {
    ...debtorOf(params.object('debtor'), edition),
    ...creditorOf(params.object('creditor'), shared),
  }
  const purpose = params.optional('purpose', edition.purpose) ?? 'IPAY'
  refusePurpose(params, purpose, instrument, serviceLevel)
  const taxParams = params.optionalObject('tax')
  const tax = taxParams && taxOf(taxParams, { amountCents: cents, instrument, ...parties })
  if (tax !== undefined && !edition.hasTax) {
    params.refuse('tax', 'version', 'needs pacs.008 1.15 or later', '1.15 or later')
  }
  const text = params.optional('remittance_information', name140)
  const remittance = remittanceOf(text, cashOf(params, purpose, cents))
  params.done()
  const ids = { id, instructionId, transactionId }
  const payment = { amount: formatCents(cents), accepted, instrument, initiator, purpose }
  const xml = transactionTemplate({ ...ids, ...payment, ...parties, tax, remittance })
  return { xml, id }
}

const transactionIdOf = (
  params: Params,
  { instrument, rules: its }: Shared,
): string | undefined => {
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
    debtorIspb: params.text('ispb', forms.ispb),
    name: params.text('name', name140),
    debtorDocument: params.text('document', forms.cpfCnpj),
    debtorAccount: params.text('account_num', account),
    debtorBranch: params.optional('branch', forms.branch),
    debtorAccountType: params.text('account_type', accountType),
  }
  params.done()
  return party
}

const creditorOf = (params: Params, { edition, instrument, rules: its }: Shared) => {
  const creditorIspb = params.text('ispb', forms.ispb)
  // The schema has a name for the debtor only: callers may give the creditor's, but it is not sent.
  params.optional('name', name140)
  const party = {
    creditorIspb,
    creditorDocument: params.text('document', forms.cpfCnpj),
    creditorAccount: params.text('account_num', edition.account),
    creditorBranch: params.optional('branch', forms.branch),
    creditorAccountType: params.text('account_type', edition.accountType),
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

const refusePurpose = (
  params: Params,
  purpose: string,
  instrument: string,
  serviceLevel: string,
): void => {
  if (!isMisplaced(purpose, instrument, serviceLevel)) return
  if (instrument === 'AUTO') {
    params.refuse('purpose', 'consistency', 'must be IPAY with local_instrument AUTO', 'IPAY')
  }
  if (purpose === 'REFU' || purpose === 'IPRT') {
    params.refuse('purpose', 'consistency', `${purpose} needs local_instrument MANU and PAGPRI`)
  }
}
