import { type CodeList, codeLists } from '#codecs/iso20022'
import type { Language } from '#src/platform/http/index.ts'

type InLanguages = readonly [english: string, portuguese: string]

/** Names come from documents: one may be that of something every object has. */
const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const inLanguage = (words: InLanguages | undefined, language: Language): string | undefined =>
  words?.[language === 'en' ? 0 : 1]

/** The names that people use for the elements of SPI messages. */
const elementNames: Readonly<Record<string, InLanguages>> = {
  AppHdr: ['header', 'cabeçalho'],
  Fr: ['from', 'de'],
  To: ['to', 'para'],
  BizMsgIdr: ['business message identifier', 'identificador da mensagem de negócio'],
  MsgDefIdr: ['message definition', 'definição da mensagem'],
  CreDt: ['created', 'criada em'],
  CreDtTm: ['created', 'criada em'],
  Sgntr: ['signature', 'assinatura'],
  GrpHdr: ['group header', 'cabeçalho do grupo'],
  MsgId: ['message identifier', 'identificador da mensagem'],
  NbOfTxs: ['number of transactions', 'número de transações'],
  SttlmMtd: ['settlement method', 'forma de liquidação'],
  InstrPrty: ['priority', 'prioridade'],
  SttlmPrty: ['priority', 'prioridade'],
  SvcLvl: ['service level', 'nível de serviço'],
  CdtTrfTxInf: ['credit transfer', 'transferência de crédito'],
  TxInfAndSts: ['status of a transaction', 'situação de uma transação'],
  TxInf: ['return', 'devolução'],
  EndToEndId: ['end-to-end identifier', 'identificador fim a fim'],
  OrgnlEndToEndId: ['end-to-end identifier of the original', 'identificador fim a fim da original'],
  OrgnlInstrId: ['identifier of the instruction answered', 'identificador da instrução respondida'],
  InstrId: ['instruction identifier', 'identificador da instrução'],
  TxId: ['transaction identifier', 'identificador da transação'],
  RtrId: ['return identifier', 'identificador da devolução'],
  IntrBkSttlmAmt: ['amount', 'valor'],
  RtrdIntrBkSttlmAmt: ['amount returned', 'valor devolvido'],
  AccptncDtTm: ['accepted', 'aceita em'],
  ChrgBr: ['charge bearer', 'responsável pela tarifa'],
  LclInstrm: ['how the payment was started', 'como o pagamento foi iniciado'],
  InitgPty: ['initiator', 'iniciador'],
  Dbtr: ['payer', 'pagador'],
  DbtrAcct: ['account of the payer', 'conta do pagador'],
  DbtrAgt: ['institution of the payer', 'instituição do pagador'],
  Cdtr: ['receiver', 'recebedor'],
  CdtrAcct: ['account of the receiver', 'conta do recebedor'],
  CdtrAgt: ['institution of the receiver', 'instituição do recebedor'],
  Nm: ['name', 'nome'],
  Prxy: ['PIX key', 'chave Pix'],
  Purp: ['purpose', 'finalidade'],
  RmtInf: ['remittance', 'informação ao recebedor'],
  Ustrd: ['text', 'texto'],
  TxSts: ['status', 'situação'],
  StsRsnInf: ['reason of the status', 'motivo da situação'],
  RtrRsnInf: ['reason of the return', 'motivo da devolução'],
  AddtlInf: ['additional information', 'informação adicional'],
  MmbId: ['ISPB', 'ISPB'],
  Issr: ['issuer', 'agência'],
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
const constants: Readonly<Record<string, Readonly<Record<string, InLanguages>>>> = {
  SttlmMtd: { CLRG: ['Through the SPI', 'Pelo SPI'] },
  ChrgBr: { SLEV: ['As the scheme says', 'Conforme o arranjo'] },
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
export const nameOfElement = (element: string, language: Language): string | undefined =>
  inLanguage(own(elementNames, element), language)

/** The meaning of a value that is a code; `around` are the names of the elements around it, nearest first. */
export const meaningOf = (
  element: string,
  value: string,
  around: readonly string[],
  language: Language = 'en',
): string | undefined => {
  const spoken = language === 'en' ? 'en' : 'pt'
  if (value === central) return 'Banco Central, SPI'
  const holder = element === 'Cd' || element === 'Prtry' ? (around[0] ?? '') : element
  if (holder === 'Rsn' || holder === 'RjctRsn') {
    return reasonsOf(element, around).get(value)?.meaning?.[spoken]
  }
  const isCharge = holder === 'TxSts' && around.includes('OrgnlPmtInfAndSts')
  const lists = isCharge ? [codeLists.charge_status] : own(codes, holder)
  const found = lists?.map((list) => list.get(value)).find((entry) => entry !== undefined)
  return found?.meaning?.[spoken] ?? inLanguage(own(own(constants, holder) ?? {}, value), language)
}
