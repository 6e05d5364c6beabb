import { ABSENT, type XmlDocument } from '#codecs/xml'
import { type BusinessHeader, readEnvelope } from '../envelope.ts'
import { chain, type MessageReader, type Money, shape } from '../reader.ts'

/**
 * pacs.008, FIToFICustomerCreditTransfer, as the SPI restricts it.
 *
 * ```
 * GrpHdr      MsgId CreDtTm NbOfTxs SttlmInf/SttlmMtd PmtTpInf(InstrPrty SvcLvl/Prtry)
 * CdtTrfTxInf 1..n
 *   PmtId(InstrId? EndToEndId TxId?) IntrBkSttlmAmt@Ccy AccptncDtTm ChrgBr
 *   MndtRltdInf/Tp/LclInstrm/Prtry InitgPty/Id/OrgId/Othr/Id?
 *   Dbtr(Nm Id/PrvtId/Othr/Id) DbtrAcct(Id/Othr(Id Issr?) Tp/Cd) DbtrAgt CdtrAgt
 *   Cdtr(Id/PrvtId/Othr/Id) CdtrAcct(Id/Othr(Id Issr?) Tp/Cd Prxy/Id?) Purp/Cd
 *   Tax(RefNb Rcrd{2}(Tp Ctgy TaxAmt/TtlAmt@Ccy))?
 *   RmtInf(Ustrd? Strd(RfrdDocInf/Tp(CdOrPrtry/Prtry Issr) RfrdDocAmt/AdjstmntAmtAndRsn{1,2}(Amt@Ccy Rsn))?)?
 * ```
 *
 * Versions: `InstrId` since 1.16, `Tax` since 1.15; the others are in every version read.
 */
export type Pacs008 = {
  readonly type: 'pacs.008'
  readonly version: string
  readonly header: BusinessHeader
  readonly groupHeader: {
    readonly messageId: string
    readonly creationDateTime: string
    readonly numberOfTransactions: string
    readonly settlementMethod: string
    readonly instructionPriority: string
    readonly serviceLevel: string
  }
  readonly transactions: readonly CreditTransfer[]
}

/** One `CdtTrfTxInf`. Amounts are cents; date-times are the message's own text (UTC, three decimals). */
export type CreditTransfer = {
  readonly instructionId: string | null
  readonly endToEndId: string
  readonly transactionId: string | null
  readonly amount: Money
  readonly acceptanceDateTime: string
  readonly chargeBearer: string
  readonly localInstrument: string
  readonly initiatingPartyDocument: string | null
  readonly debtor: Party
  readonly debtorAccount: Account
  readonly debtorAgentIspb: string
  readonly creditorAgentIspb: string
  readonly creditor: Party
  readonly creditorAccount: Account
  readonly purpose: string
  readonly tax: Tax | null
  readonly remittance: Remittance | null
}

/** `name` is null where the message gives none: the SPI's `Cdtr` never has one. */
export type Party = {
  readonly name: string | null
  readonly document: string
}

export type Account = {
  readonly id: string
  readonly branch: string | null
  readonly type: string
  /** The PIX key; only a creditor's account has one. */
  readonly proxyId: string | null
}

/** The tax split of a payment between two companies (catalogue 5.12 and later). */
export type Tax = {
  readonly referenceNumber: string
  readonly records: readonly {
    readonly type: string
    readonly category: string
    readonly amount: Money
  }[]
}

export type Remittance = {
  readonly unstructured: string | null
  readonly structured: {
    readonly documentType: string
    readonly issuerIspb: string
    readonly adjustments: readonly { readonly amount: Money; readonly reason: string }[]
  } | null
}

const documentShape = shape('FIToFICstmrCdtTrf')
const messageShape = shape('GrpHdr CdtTrfTxInf+')
const groupHeaderShape = shape('MsgId CreDtTm NbOfTxs SttlmInf PmtTpInf')
const paymentTypeShape = shape('InstrPrty SvcLvl')
const transactionShape = shape(
  'PmtId IntrBkSttlmAmt AccptncDtTm ChrgBr MndtRltdInf InitgPty? Dbtr DbtrAcct DbtrAgt CdtrAgt Cdtr CdtrAcct Purp Tax? RmtInf?',
)
const paymentIdShape = shape('InstrId? EndToEndId TxId?')
/** The schema asks a name of the debtor; a payment without one is still a payment, so it reads as null. */
const partyShape = shape('Nm? Id')
const accountShape = shape('Id Tp Prxy?')
const accountIdShape = shape('Othr')
const accountNumberShape = shape('Id Issr?')
const taxShape = shape('RefNb Rcrd+')
const taxRecordShape = shape('Tp Ctgy TaxAmt')
const taxAmountShape = shape('TtlAmt')
const remittanceShape = shape('Ustrd? Strd?')
const structuredShape = shape('RfrdDocInf RfrdDocAmt')
const referredDocumentShape = shape('Tp')
const documentTypeShape = shape('CdOrPrtry Issr')
const adjustmentsShape = shape('AdjstmntAmtAndRsn+')
const adjustmentShape = shape('Amt Rsn')

const settlementMethod = chain('SttlmMtd')
const proprietary = chain('Prtry')
const code = chain('Cd')
const localInstrument = chain('Tp/LclInstrm/Prtry')
const organisationId = chain('Id/OrgId/Othr/Id')
const privateId = chain('PrvtId/Othr/Id')
const memberId = chain('FinInstnId/ClrSysMmbId/MmbId')
const proxyId = chain('Id')

/** Reads a scanned pacs.008; problems are left in `reader`. */
export const readPacs008 = (reader: MessageReader, xml: XmlDocument, version: string): Pacs008 => {
  const { header, document } = readEnvelope(reader, xml)
  const [root = ABSENT] = reader.slots(document, documentShape)
  const [groupHeader = ABSENT, first = ABSENT] = reader.slots(root, messageShape)
  return {
    type: 'pacs.008',
    version,
    header,
    groupHeader: readGroupHeader(reader, groupHeader),
    transactions: reader.each(root, first, (node) => readTransaction(reader, node)),
  }
}

const readGroupHeader = (reader: MessageReader, node: number): Pacs008['groupHeader'] => {
  const [messageId, created, count, settlement, paymentType = ABSENT] = reader.slots(
    node,
    groupHeaderShape,
  )
  const [priority, serviceLevel] = reader.slots(paymentType, paymentTypeShape)
  return {
    messageId: reader.text(messageId),
    creationDateTime: reader.text(created),
    numberOfTransactions: reader.text(count),
    settlementMethod: reader.leaf(settlement, settlementMethod),
    instructionPriority: reader.text(priority),
    serviceLevel: reader.leaf(serviceLevel, proprietary),
  }
}

const readTransaction = (reader: MessageReader, node: number): CreditTransfer => {
  const slots = reader.slots(node, transactionShape)
  const ids = reader.slots(slots[0] ?? ABSENT, paymentIdShape)
  const tax = slots[13] ?? ABSENT
  const remittance = slots[14] ?? ABSENT
  // By position in the shape, not by destructuring: an iterator over fifteen places costs more than reading them.
  return {
    instructionId: reader.optionalText(ids[0]),
    endToEndId: reader.text(ids[1]),
    transactionId: reader.optionalText(ids[2]),
    amount: reader.money(slots[1]),
    acceptanceDateTime: reader.text(slots[2]),
    chargeBearer: reader.text(slots[3]),
    localInstrument: reader.leaf(slots[4], localInstrument),
    initiatingPartyDocument: reader.optionalLeaf(slots[5], organisationId),
    debtor: readParty(reader, slots[6] ?? ABSENT),
    debtorAccount: readAccount(reader, slots[7] ?? ABSENT),
    debtorAgentIspb: reader.leaf(slots[8], memberId),
    creditorAgentIspb: reader.leaf(slots[9], memberId),
    creditor: readParty(reader, slots[10] ?? ABSENT),
    creditorAccount: readAccount(reader, slots[11] ?? ABSENT),
    purpose: reader.leaf(slots[12], code),
    tax: tax === ABSENT ? null : readTax(reader, tax),
    remittance: remittance === ABSENT ? null : readRemittance(reader, remittance),
  }
}

const readParty = (reader: MessageReader, node: number): Party => {
  const [name, id] = reader.slots(node, partyShape)
  return { name: reader.optionalText(name), document: reader.leaf(id, privateId) }
}

const readAccount = (reader: MessageReader, node: number): Account => {
  const [id = ABSENT, type, proxy] = reader.slots(node, accountShape)
  const [other = ABSENT] = reader.slots(id, accountIdShape)
  const [number, branch] = reader.slots(other, accountNumberShape)
  return {
    id: reader.text(number),
    branch: reader.optionalText(branch),
    type: reader.leaf(type, code),
    proxyId: reader.optionalLeaf(proxy, proxyId),
  }
}

const readTax = (reader: MessageReader, node: number): Tax => {
  const [reference, first = ABSENT] = reader.slots(node, taxShape)
  return {
    referenceNumber: reader.text(reference),
    records: reader.each(node, first, (record) => {
      const [type, category, amount = ABSENT] = reader.slots(record, taxRecordShape)
      const [total] = reader.slots(amount, taxAmountShape)
      return {
        type: reader.text(type),
        category: reader.text(category),
        amount: reader.money(total),
      }
    }),
  }
}

const readRemittance = (reader: MessageReader, node: number): Remittance => {
  const [unstructured, structured = ABSENT] = reader.slots(node, remittanceShape)
  return {
    unstructured: reader.optionalText(unstructured),
    structured: structured === ABSENT ? null : readStructured(reader, structured),
  }
}

const readStructured = (
  reader: MessageReader,
  node: number,
): NonNullable<Remittance['structured']> => {
  const [information = ABSENT, amounts = ABSENT] = reader.slots(node, structuredShape)
  const [type = ABSENT] = reader.slots(information, referredDocumentShape)
  const [documentType, issuer] = reader.slots(type, documentTypeShape)
  const [first = ABSENT] = reader.slots(amounts, adjustmentsShape)
  return {
    documentType: reader.leaf(documentType, proprietary),
    issuerIspb: reader.text(issuer),
    adjustments: reader.each(amounts, first, (adjustment) => {
      const [amount, reason] = reader.slots(adjustment, adjustmentShape)
      return { amount: reader.money(amount), reason: reader.text(reason) }
    }),
  }
}
