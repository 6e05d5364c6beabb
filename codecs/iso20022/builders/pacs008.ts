import { type Builder, type Content, type Draft, groupHeader } from './context.ts'
import { endToEndId } from './identifiers.ts'
import { codeForm, type Form, forms, type Params, textForm } from './params.ts'
import { account, agent, money, person, tag } from './write.ts'

/** Transactions of one message on the priority service levels, and on PAGAGD. */
export const priorityTransactionsMax = 10
export const scheduledTransactionsMax = 500

const instruments = ['MANU', 'DICT', 'QRES', 'QRDN', 'APES', 'APDN', 'INIC', 'AUTO']
const serviceLevels = codeForm(['PAGPRI', 'PAGFRD', 'PAGAGD'])
const purposes = ['IPAY', 'GSCB', 'OTHR', 'REFU', 'IPRT']
const debtorAccounts = ['CACC', 'SVGS', 'TRAN', 'OTHR']
const agents = codeForm(['AGFSS', 'AGTEC', 'AGTOT'])
const name140 = textForm(140)
const key77 = textForm(77)
const numericAccount: Form = { pattern: /^\d{1,20}$/, expected: '1 to 20 digits' }

/** Whether TxId is given, by local instrument. */
const transactionIdRules: Readonly<
  Record<string, { readonly form: Form | undefined; readonly required: boolean }>
> = {
  MANU: { form: undefined, required: false },
  DICT: { form: undefined, required: false },
  QRES: { form: shortId(), required: false },
  APES: { form: shortId(), required: false },
  INIC: { form: shortId(), required: true },
  QRDN: { form: forms.reconciliationId, required: true },
  APDN: { form: forms.reconciliationId, required: true },
  AUTO: { form: forms.reconciliationId, required: true },
}

function shortId(): Form {
  return { pattern: /^[a-zA-Z0-9]{1,25}$/, expected: '1 to 25 letters or digits' }
}

const withoutKey = ['MANU', 'AUTO']

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
 */
export const pacs008: Builder = {
  type: 'pacs.008',
  build: (params, draft) => {
    const instrument = params.text('local_instrument', codeForm(instrumentsOf(draft)))
    const serviceLevel = params.optional('service_level', serviceLevels) ?? 'PAGPRI'
    const max = serviceLevel === 'PAGAGD' ? scheduledTransactionsMax : priorityTransactionsMax
    const transactions = params.list('transactions', max)
    const built = transactions.map((item) => transaction(item, draft, instrument, serviceLevel))
    params.done()
    const priority = serviceLevel === 'PAGPRI' ? 'HIGH' : 'NORM'
    const xml = `<FIToFICstmrCdtTrf><GrpHdr>${groupHeader(draft)}<NbOfTxs>${built.length}</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf><PmtTpInf><InstrPrty>${priority}</InstrPrty><SvcLvl><Prtry>${serviceLevel}</Prtry></SvcLvl></PmtTpInf></GrpHdr>${built.map(({ xml }) => xml).join('')}</FIToFICstmrCdtTrf>`
    return { xml, endToEndIds: built.flatMap(({ endToEndIds }) => endToEndIds) }
  },
}

/** Contactless static codes, PI accounts, IPRT and lettered accounts came with 1.15. */
const isSince115 = ({ version }: Draft): boolean => Number(version.split('.')[1]) >= 15

const instrumentsOf = (draft: Draft): readonly string[] =>
  isSince115(draft) ? instruments : instruments.filter((code) => code !== 'APES')

const transaction = (
  params: Params,
  draft: Draft,
  instrument: string,
  serviceLevel: string,
): Content => {
  const id =
    params.optional('end_to_end_id', forms.endToEndId) ??
    endToEndId(draft.ispb, draft.nowMs, draft.random)
  const transactionId = transactionIdOf(params, instrument)
  const { cents, text } = params.cents('amount')
  const accepted = params.optional('acceptance_date_time', forms.dateTime) ?? draft.created
  const initiator = params.optional('initiator_document', forms.cnpj)
  if (instrument === 'INIC' && !params.has('initiator_document')) {
    params.refuse('initiator_document', 'required', 'is needed with local_instrument INIC')
  }
  const debtor = partyOf(params.object('debtor'), draft, true)
  const creditor = partyOf(params.object('creditor'), draft, false, instrument)
  const codes = isSince115(draft) ? purposes : purposes.filter((code) => code !== 'IPRT')
  const purpose = params.optional('purpose', codeForm(codes)) ?? 'IPAY'
  purposeRules(params, purpose, instrument, serviceLevel)
  const remittance = remittanceOf(params, purpose, cents)
  params.done()
  const xml = `<CdtTrfTxInf><PmtId><EndToEndId>${id}</EndToEndId>${tag('TxId', transactionId)}</PmtId>${money('IntrBkSttlmAmt', text)}<AccptncDtTm>${accepted}</AccptncDtTm><ChrgBr>SLEV</ChrgBr><MndtRltdInf><Tp><LclInstrm><Prtry>${instrument}</Prtry></LclInstrm></Tp></MndtRltdInf>${initiator === undefined ? '' : `<InitgPty><Id><OrgId><Othr><Id>${initiator}</Id></Othr></OrgId></Id></InitgPty>`}${person('Dbtr', debtor.document, debtor.name)}${account('DbtrAcct', debtor)}${agent('DbtrAgt', debtor.ispb)}${agent('CdtrAgt', creditor.ispb)}${person('Cdtr', creditor.document)}${account('CdtrAcct', creditor)}<Purp><Cd>${purpose}</Cd></Purp>${remittance}</CdtTrfTxInf>`
  return { xml, endToEndIds: [id] }
}

const transactionIdOf = (params: Params, instrument: string): string | undefined => {
  const rule = transactionIdRules[instrument]
  const value = params.optional('transaction_id', rule?.form ?? forms.transactionId)
  if (rule === undefined) return value
  if (rule.form === undefined && params.has('transaction_id')) {
    params.refuse('transaction_id', 'forbidden', `is not given with local_instrument ${instrument}`)
  }
  if (rule.required && !params.has('transaction_id')) {
    params.refuse('transaction_id', 'required', `is needed with local_instrument ${instrument}`)
  }
  return value
}

const partyOf = (params: Params, draft: Draft, isDebtor: boolean, instrument = '') => {
  const types = isSince115(draft)
    ? debtorAccounts
    : debtorAccounts.filter((code) => code !== 'OTHR')
  const number = isSince115(draft) ? forms.accountNumber : numericAccount
  const party = {
    ispb: params.text('ispb', forms.ispb),
    // The schema has a name for the debtor only; the creditor's may be given and is not sent.
    name: isDebtor ? params.text('name', name140) : params.optional('name', name140),
    document: params.text('document', forms.cpfCnpj),
    number: params.text('account_num', number),
    branch: params.optional('branch', forms.branch),
    type: params.text('account_type', codeForm(types)),
    proxy: isDebtor ? undefined : params.optional('proxy', key77),
  }
  if (!isDebtor && instrument !== '') {
    const forbidden = withoutKey.includes(instrument)
    if (forbidden && params.has('proxy')) {
      params.refuse('proxy', 'forbidden', `is not given with local_instrument ${instrument}`)
    } else if (!forbidden && !params.has('proxy')) {
      params.refuse('proxy', 'required', `is needed with local_instrument ${instrument}`)
    }
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

/** Ustrd and Strd: who hands out the cash, and of what the amount consists. */
const remittanceOf = (params: Params, purpose: string, cents: bigint): string => {
  const text = params.optional('remittance_information', name140)
  const withdrawal = params.optionalObject('withdrawal')
  const isCash = purpose === 'GSCB' || purpose === 'OTHR'
  if (!isCash && withdrawal !== undefined) {
    params.refuse('withdrawal', 'forbidden', `is not given with purpose ${purpose}`)
  }
  if (isCash && withdrawal === undefined) {
    params.refuse('withdrawal', 'required', `is needed with purpose ${purpose}`)
  }
  const structured = withdrawal === undefined ? '' : structuredOf(withdrawal, purpose, cents)
  return text === undefined && structured === ''
    ? ''
    : `<RmtInf>${tag('Ustrd', text)}${structured}</RmtInf>`
}

const structuredOf = (params: Params, purpose: string, cents: bigint): string => {
  const type = params.text('agent_type', agents)
  const ispb = params.text('agent_ispb', forms.ispb)
  const cash = params.cents('cash_amount')
  const purchase = purpose === 'GSCB' ? params.cents('purchase_amount') : undefined
  const sum = cash.cents + (purchase?.cents ?? 0n)
  if (purpose === 'GSCB' && sum !== cents) {
    params.refuse('', 'sum', 'cash_amount and purchase_amount must add up to amount')
  }
  params.done()
  const part = (amount: string, reason: string): string =>
    `<AdjstmntAmtAndRsn>${money('Amt', amount)}<Rsn>${reason}</Rsn></AdjstmntAmtAndRsn>`
  return `<Strd><RfrdDocInf><Tp><CdOrPrtry><Prtry>${type}</Prtry></CdOrPrtry><Issr>${ispb}</Issr></Tp></RfrdDocInf><RfrdDocAmt>${purchase === undefined ? '' : part(purchase.text, 'VLCP')}${part(cash.text, 'VLDN')}</RfrdDocAmt></Strd>`
}
