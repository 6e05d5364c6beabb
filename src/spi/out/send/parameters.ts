import type { BuildableMessage } from '#codecs/iso20022'

/** Whether a parameter is needed: always, never, or by a rule that its text states. */
type Need = 'yes' | 'no' | 'rule'

/** Path (`[]` stands for the items of a list), need, and meaning. */
export type Parameter = readonly [path: string, need: Need, what: string]

const account = (
  of: string,
  types: string,
  number = '1 to 20 digits (and capital letters since pacs.008 1.15).',
): readonly Parameter[] => [
  [`${of}.account_num`, 'yes', number],
  [`${of}.branch`, 'no', '1 to 4 digits.'],
  [`${of}.account_type`, 'yes', types],
]

const cash = (of: string): readonly Parameter[] => [
  [`${of}.agent_type`, 'yes', 'AGFSS, AGTEC or AGTOT.'],
  [`${of}.agent_ispb`, 'yes', 'The withdrawal facilitator.'],
  [`${of}.cash_amount`, 'yes', 'In cents; with OTHR the whole amount.'],
  [`${of}.purchase_amount`, 'rule', 'In cents; with GSCB only, where both add up to the amount.'],
]

const split = (of: string): readonly Parameter[] => [
  [`${of}.cbs_amount`, 'yes', 'In cents; may be 0.'],
  [`${of}.ibs_amount`, 'yes', 'In cents; may be 0. Both are no more than the amount.'],
]

/** What a message says once, or of each item of a list. */
const oneOrMany = (
  list: string,
  what: string,
  one: (of: string) => readonly Parameter[],
): readonly Parameter[] => [...one(''), [list, 'rule', what], ...one(`${list}[].`)]

const reportedAccount = (of: string): readonly Parameter[] =>
  account(of, 'CACC, SVGS, TRAN, SLRY or OTHR.', '1 to 20 digits or capital letters.')

const accountTypes = 'CACC, SVGS, TRAN (and OTHR since pacs.008 1.15).'
const now = 'Now when absent.'
const document = 'CPF or CNPJ without punctuation.'
const original = 'EndToEndId of the payment.'
const text140 = 'Up to 140 characters.'

const transfer: readonly Parameter[] = [
  [
    'local_instrument',
    'yes',
    'MANU, DICT, QRES, QRDN, APDN, INIC, AUTO (and APES since 1.15): how the payment was begun.',
  ],
  ['service_level', 'no', 'PAGPRI (when absent; priority HIGH), PAGFRD or PAGAGD (priority NORM).'],
  ['transactions', 'yes', '1 to 10; with PAGAGD 1 to 500.'],
  ['transactions[].amount', 'yes', 'In cents.'],
  [
    'transactions[].purpose',
    'no',
    'IPAY (when absent), GSCB, OTHR, REFU (and IPRT since 1.15). AUTO has IPAY; REFU and IPRT need MANU and PAGPRI.',
  ],
  [
    'transactions[].end_to_end_id',
    'no',
    'Made when absent; one for each transaction. Its minute is real and, but with AUTO, within 12 hours of now; its ISPB is that of the sender or debtor, or the start of the initiator’s CNPJ.',
  ],
  ['transactions[].instruction_id', 'no', 'An EndToEndId or RtrId. Since 1.16.'],
  [
    'transactions[].transaction_id',
    'rule',
    'QRDN, APDN, AUTO: needed, 26 to 35 letters or digits. INIC: needed, up to 25. QRES, APES: up to 25. MANU, DICT: none.',
  ],
  ['transactions[].acceptance_date_time', 'no', now],
  ['transactions[].initiator_document', 'rule', 'CNPJ of the initiator; needed with INIC.'],
  ['transactions[].debtor', 'yes', 'Who pays.'],
  ['transactions[].debtor.ispb', 'yes', 'The paying institution.'],
  ['transactions[].debtor.name', 'yes', text140],
  ['transactions[].debtor.document', 'yes', document],
  ...account('transactions[].debtor', accountTypes),
  ['transactions[].creditor', 'yes', 'Who is paid.'],
  ['transactions[].creditor.ispb', 'yes', 'The receiving institution, never the sender.'],
  ['transactions[].creditor.name', 'no', 'Not sent: the message has no place for it.'],
  ['transactions[].creditor.document', 'yes', document],
  ...account('transactions[].creditor', accountTypes),
  [
    'transactions[].creditor.proxy',
    'rule',
    'The Pix key: needed, but with MANU and AUTO, which have none. Up to 77 characters.',
  ],
  ['transactions[].remittance_information', 'no', text140],
  ['transactions[].withdrawal', 'rule', 'Needed with GSCB and OTHR, else none.'],
  ...cash('transactions[].withdrawal'),
  [
    'transactions[].tax',
    'no',
    'The split of the amount, between two companies, with QRES, APES, MANU or DICT. Since 1.15.',
  ],
  ['transactions[].tax.reference', 'yes', '1 to 50 letters or digits.'],
  ...split('transactions[].tax'),
]

const texts105 = 'Up to 105 characters, or 1 to 10 such texts.'

/** A status of PACS002, for the message or for each of `transactions`. */
const status = (of: string): readonly Parameter[] => [
  [`${of}original_end_to_end_id`, 'yes', original],
  [`${of}original_instruction_id`, 'no', 'RtrId, where a return is answered.'],
  [`${of}status`, 'yes', 'ACSP or RJCT.'],
  [`${of}reason`, 'rule', 'Of status_reason in /v1/codes; needed with RJCT, else none.'],
  [`${of}additional_information`, 'no', texts105],
  [`${of}reasons`, 'rule', '1 to 10, instead of one reason.'],
  [`${of}reasons[].reason`, 'yes', 'As above.'],
  [`${of}reasons[].additional_information`, 'no', texts105],
]

/** A return of PACS004, for the message or for each of `transactions`. */
const oneReturn = (of: string): readonly Parameter[] => [
  [`${of}original_end_to_end_id`, 'yes', original],
  [`${of}amount`, 'yes', 'In cents.'],
  [`${of}return_reason`, 'yes', 'Of return_reason in /v1/codes.'],
  [
    `${of}return_id`,
    'no',
    'RtrId, one for each return; made when absent. Its minute is within 12 hours of now, its ISPB that of the sender or of returning_ispb.',
  ],
  [`${of}priority`, 'no', 'HIGH (when absent) or NORM.'],
  [`${of}additional_information`, 'no', 'Up to 105 characters.'],
  [`${of}remittance_information`, 'no', text140],
  [
    `${of}returning_ispb`,
    'no',
    'When absent, who was paid by the payment as it was received; the sender where it is not stored.',
  ],
  [
    `${of}receiving_ispb`,
    'no',
    'When absent, who paid the payment as it was received; where it is not stored, the institution in the EndToEndId, which is another than the one that returns.',
  ],
]

const charges: readonly Parameter[] = [
  ['charges', 'yes', '1 to 500.'],
  ['charges[].reconciliation_id', 'yes', '26 to 35 letters or digits.'],
  ['charges[].mandate_id', 'yes', 'RR, RN, CR or CN, ISPB, date, 11 characters.'],
  [
    'charges[].end_to_end_id',
    'no',
    'Made when absent; the payment repeats it. Its minute is real, its ISPB that of the sender or creditor.',
  ],
  ['charges[].amount', 'yes', 'In cents.'],
  ['charges[].purpose', 'yes', 'AGND schedules; NTAG and RIFL try again.'],
  ['charges[].execution_date_time', 'rule', 'Needed with AGND, else none.'],
  ['charges[].due_date', 'yes', 'YYYY-MM-DD.'],
  ['charges[].debtor', 'yes', 'Who pays.'],
  ['charges[].debtor.ispb', 'yes', 'The paying institution.'],
  ['charges[].debtor.document', 'yes', document],
  ['charges[].ultimate_debtor', 'no', 'For whom is paid.'],
  ['charges[].ultimate_debtor.name', 'yes', text140],
  ['charges[].ultimate_debtor.document', 'yes', document],
  ['charges[].creditor', 'yes', 'Who is paid.'],
  ['charges[].creditor.ispb', 'no', 'The sender when absent.'],
  ['charges[].creditor.document', 'yes', document],
  ...account('charges[].creditor', 'CACC, SVGS or TRAN.', '1 to 20 digits.'),
  ['charges[].tax', 'no', 'The split of the amount; of a debtor with a CNPJ.'],
  ['charges[].tax.reference', 'no', '1 to 50 letters or digits.'],
  ['charges[].tax.cbs_amount', 'yes', 'In cents; may be 0.'],
  [
    'charges[].tax.ibs_amount',
    'yes',
    'In cents; may be 0. What counts is no more than the amount.',
  ],
  ['charges[].tax.corrected_cbs_amount', 'no', 'In cents; counts instead of cbs_amount.'],
  ['charges[].tax.corrected_ibs_amount', 'no', 'In cents; counts instead of ibs_amount.'],
  ['charges[].remittance_information', 'no', text140],
]

/** An answer of PAIN014, for the message or for each of `transactions`. */
const oneAnswer = (of: string): readonly Parameter[] => [
  [`${of}reconciliation_id`, 'yes', 'That of the charge.'],
  [`${of}original_end_to_end_id`, 'yes', 'That of the charge.'],
  [`${of}status`, 'yes', 'ACSP or RJCT.'],
  [`${of}reason`, 'rule', 'Of charge_refusal in /v1/codes; needed with RJCT, else none.'],
  [`${of}decision_date_time`, 'no', now],
  [`${of}creditor`, 'yes', 'Who is paid.'],
  [`${of}creditor.ispb`, 'yes', 'The receiving institution.'],
  [`${of}creditor.document`, 'yes', document],
]

const cancellation: readonly Parameter[] = [
  ['cancellation_id', 'yes', 'CA, ISPB, date, 11 characters.'],
  ['reconciliation_id', 'yes', 'That of the charge.'],
  ['original_end_to_end_id', 'yes', 'That of the charge.'],
  ['counterparty_ispb', 'yes', 'The other institution.'],
  ['processing_date_time', 'no', now],
]

/** An entry of CAMT054, for the message or for each of `notifications`. */
const entry = (of: string): readonly Parameter[] => [
  [`${of}notification_id`, 'no', 'MsgId of the CAMT060 that is answered; made when absent.'],
  [`${of}account_ispb`, 'yes', 'Whose PI account it is.'],
  [`${of}amount`, 'yes', 'In cents.'],
  [`${of}direction`, 'yes', 'CRDT or DBIT.'],
  [`${of}status`, 'yes', 'BOOK or INFO.'],
  [`${of}booking_date`, 'no', 'YYYY-MM-DD.'],
  [`${of}value_date_time`, 'no', 'YYYY-MM-DDThh:mm:ss.sssZ.'],
  [`${of}domain`, 'yes', 'PMNT or CAMT.'],
  [`${of}family`, 'yes', 'IRCT, RRCT, MCOP or MDOP.'],
  [`${of}sub_family`, 'yes', 'DMCT, RRTN or NTAV.'],
  [`${of}origin_message`, 'yes', 'pacs.008, say.'],
  [`${of}error_code`, 'no', 'Of a query that failed: up to 4 characters.'],
  [`${of}error_description`, 'no', 'Of a query that failed: up to 105 characters.'],
  [`${of}instruction_id`, 'no', 'A RtrId, since 1.16 also an EndToEndId.'],
  [`${of}end_to_end_id`, 'yes', 'As of a payment; with L in front of an entry that has none.'],
  [`${of}transaction_id`, 'no', 'Up to 35 characters.'],
  [
    `${of}clearing_system_reference`,
    'no',
    '3 capital letters, date, 9 characters: the STR’s own number of the transfer.',
  ],
  [`${of}service_level`, 'no', 'PAGPRI, PAGFRD or PAGAGD.'],
  [`${of}priority`, 'rule', 'HIGH or NORM; beside a service_level HIGH with PAGPRI only.'],
  [`${of}initiator_document`, 'rule', 'CNPJ of the initiator; beside debtor and creditor.'],
  [`${of}debtor`, 'rule', 'Who pays; beside the creditor, or neither.'],
  [`${of}debtor.name`, 'yes', text140],
  [`${of}debtor.document`, 'yes', document],
  ...reportedAccount(`${of}debtor`),
  [`${of}creditor`, 'rule', 'Who is paid; beside the debtor, or neither.'],
  [`${of}creditor.document`, 'yes', document],
  ...reportedAccount(`${of}creditor`),
  [`${of}creditor.proxy`, 'no', 'The Pix key, up to 77 characters.'],
  [`${of}debtor_ispb`, 'no', 'The paying institution.'],
  [`${of}creditor_ispb`, 'no', 'The receiving institution.'],
  [`${of}counterparty`, 'no', 'Of a transfer from or to another system.'],
  [`${of}counterparty.type`, 'yes', 'ContraparteSTR or ContraparteSelic.'],
  [`${of}counterparty.ispb`, 'yes', 'Its participant.'],
  [`${of}local_instrument`, 'no', 'MANU, DICT, QRES, QRDN, APES, APDN, INIC or AUTO.'],
  [`${of}purpose`, 'no', 'IPAY, GSCB, OTHR, REFU or IPRT.'],
  [`${of}remittance_information`, 'no', text140],
  [`${of}acceptance_date_time`, 'no', 'YYYY-MM-DDThh:mm:ss.sssZ.'],
  [`${of}withdrawal`, 'rule', 'With GSCB and OTHR only.'],
  ...cash(`${of}withdrawal`),
  [
    `${of}tax`,
    'rule',
    'The split of the amount; with a local_instrument that is split, of companies.',
  ],
  [`${of}tax.reference`, 'no', '1 to 50 letters or digits.'],
  ...split(`${of}tax`),
  [`${of}return_reason`, 'rule', 'Of return_reason in /v1/codes; with RRTN only.'],
  [`${of}additional_information`, 'rule', 'Up to 105 characters, beside a return_reason.'],
]

const refusal: readonly Parameter[] = [
  ['reference', 'yes', 'MsgId of what is refused, or its PI-ResourceId.'],
  ['reason', 'yes', 'Up to 35 characters.'],
  ['rejected_at', 'no', now],
  ['location', 'no', 'Up to 350 characters.'],
  ['description', 'no', 'Up to 350 characters.'],
  ['additional_data', 'no', 'Up to 1000 characters.'],
]

/** All parameters of each message, for people; the builders decide. */
export const sendParameters: Readonly<Record<BuildableMessage, readonly Parameter[]>> = {
  PACS008: transfer,
  PACS002: oneOrMany('transactions', '1 to 500 answers, instead of one.', status),
  PACS004: oneOrMany(
    'transactions',
    '1 to 10 returns, also of one payment, instead of one.',
    oneReturn,
  ),
  PAIN013: charges,
  PAIN014: oneOrMany('transactions', '1 to 500 answers, instead of one.', oneAnswer),
  CAMT029: [
    ...cancellation,
    ['status', 'yes', 'ACCR or RJCR.'],
    ['reason', 'rule', 'Of cancellation_refusal in /v1/codes; needed with RJCR, else none.'],
  ],
  CAMT054: oneOrMany('notifications', '1 to 500 entries, instead of one.', entry),
  CAMT055: [
    ...cancellation,
    ['requester_document', 'yes', document],
    ['reason', 'yes', 'Of cancellation_reason in /v1/codes; CCLD and FAIL with DHIP only.'],
    ['processing_type', 'yes', 'DHSR asks for it, DHIP says that it was done.'],
  ],
  ADMI002: refusal,
}

const needs: Readonly<Record<Need, string>> = { yes: 'yes', no: '', rule: 'by rule' }

/** The parameters as tables in Markdown. */
export const parameterTables = (): string =>
  Object.entries(sendParameters)
    .map(([name, parameters]) => {
      const rows = parameters.map(
        ([path, need, what]) => `| \`${path}\` | ${needs[need]} | ${what} |`,
      )
      return [`#### ${name}`, '', '| parameter | needed | what |', '|---|---|---|', ...rows].join(
        '\n',
      )
    })
    .join('\n\n')
