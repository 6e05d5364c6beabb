import { type CodeList, codeLists } from '#codecs/iso20022'

/** The names that people use for the elements of SPI messages. */
const elementNames: Readonly<Record<string, string>> = {
  AppHdr: 'header',
  Fr: 'from',
  To: 'to',
  BizMsgIdr: 'business message identifier',
  MsgDefIdr: 'message definition',
  CreDt: 'created',
  CreDtTm: 'created',
  Sgntr: 'signature',
  GrpHdr: 'group header',
  MsgId: 'message identifier',
  NbOfTxs: 'number of transactions',
  SttlmMtd: 'settlement method',
  InstrPrty: 'priority',
  SttlmPrty: 'priority',
  SvcLvl: 'service level',
  CdtTrfTxInf: 'credit transfer',
  TxInfAndSts: 'status of a transaction',
  TxInf: 'return',
  EndToEndId: 'end-to-end identifier',
  OrgnlEndToEndId: 'end-to-end identifier of the original',
  OrgnlInstrId: 'identifier of the instruction answered',
  InstrId: 'instruction identifier',
  TxId: 'transaction identifier',
  RtrId: 'return identifier',
  IntrBkSttlmAmt: 'amount',
  RtrdIntrBkSttlmAmt: 'amount returned',
  AccptncDtTm: 'accepted',
  ChrgBr: 'charge bearer',
  LclInstrm: 'how the payment was started',
  InitgPty: 'initiator',
  Dbtr: 'payer',
  DbtrAcct: 'account of the payer',
  DbtrAgt: 'institution of the payer',
  Cdtr: 'receiver',
  CdtrAcct: 'account of the receiver',
  CdtrAgt: 'institution of the receiver',
  Nm: 'name',
  Prxy: 'PIX key',
  Purp: 'purpose',
  RmtInf: 'remittance',
  Ustrd: 'text',
  TxSts: 'status',
  StsRsnInf: 'reason of the status',
  RtrRsnInf: 'reason of the return',
  AddtlInf: 'additional information',
  MmbId: 'ISPB',
  Issr: 'issuer',
}

/** The code list of an element that holds a code, or of the element around its `Cd` or `Prtry`. */
const codes: Readonly<Record<string, readonly CodeList[]>> = {
  InstrPrty: [codeLists.priority],
  SttlmPrty: [codeLists.priority],
  AddtlTxInf: [codeLists.priority],
  SvcLvl: [codeLists.service_level],
  Ref: [codeLists.service_level],
  LclInstrm: [codeLists.local_instrument],
  Purp: [codeLists.purpose, codeLists.charge_purpose],
  Tp: [codeLists.account_type],
  CdOrPrtry: [codeLists.withdrawal_agent],
  TxSts: [codeLists.transaction_status],
  MndtSts: [codeLists.mandate_status],
  PmtInfCxlSts: [codeLists.cancellation_status],
  CxlPrcgTp: [codeLists.cancellation_processing],
  Sts: [codeLists.entry_status, codeLists.receipt_status, codeLists.party_status],
}

/** Codes that mean the same in every message. */
const constants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SttlmMtd: { CLRG: 'Through the SPI' },
  ChrgBr: { SLEV: 'As the scheme says' },
}

const central = '00038166'

/** The list of a reason code, by an element around it. */
const reasons: readonly (readonly [around: string, list: CodeList])[] = [
  ['RtrRsnInf', codeLists.return_reason],
  ['RtrInf', codeLists.return_reason],
  ['AdjstmntAmtAndRsn', codeLists.adjustment_reason],
  ['RjctRsn', codeLists.mandate_refusal],
  ['CxlStsRsnInf', codeLists.cancellation_refusal],
  ['CxlRsnInf', codeLists.cancellation_reason],
  ['CxlRsn', codeLists.mandate_cancellation_reason],
  ['RctDtls', codeLists.receipt_refusal],
  ['PtySts', codeLists.party_status_reason],
]

const reasonsOf = (element: string, around: readonly string[]): CodeList =>
  reasons.find(([name]) => around.includes(name))?.[1] ??
  (element === 'Prtry' ? codeLists.charge_refusal : codeLists.status_reason)

/** The plain name of an element. */
export const nameOfElement = (element: string): string | undefined => elementNames[element]

/** The meaning of a value that is a code; `around` are the names of the elements around it, nearest first. */
export const meaningOf = (
  element: string,
  value: string,
  around: readonly string[],
): string | undefined => {
  if (value === central) return 'Banco Central, SPI'
  const holder = element === 'Cd' || element === 'Prtry' ? (around[0] ?? '') : element
  if (holder === 'Rsn' || holder === 'RjctRsn') {
    return reasonsOf(element, around).get(value)?.meaning?.en
  }
  const isCharge = holder === 'TxSts' && around.includes('OrgnlPmtInfAndSts')
  const lists = isCharge ? [codeLists.charge_status] : codes[holder]
  const found = lists?.map((list) => list.get(value)).find((entry) => entry !== undefined)
  return found?.meaning?.en ?? constants[holder]?.[value]
}
