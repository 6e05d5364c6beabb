/** The bank's messages about payments, returns and refusals. */

import { formatCents } from '#codecs/iso20022'
import { dayMs } from '#src/platform/runtime/index.ts'
import { agent, type Draft, groupHeader, money, tag } from './write.ts'

/** How one operation ended, as pacs.002 reports it. */
export type Report = {
  /** EndToEndId of a payment, RtrId of a return. */
  readonly id: string
  readonly endToEndId: string
  readonly status: 'ACSC' | 'ACCC' | 'RJCT'
  /** For RJCT. */
  readonly code?: string | undefined
  readonly information?: readonly string[] | undefined
  /** For ACSC and ACCC: milliseconds since the epoch. */
  readonly settledAtMs?: number | undefined
}

const report = ({ id, endToEndId, status, code, information, settledAtMs }: Report): string => {
  const reason =
    code === undefined
      ? ''
      : `<StsRsnInf><Rsn>${tag('Cd', code)}</Rsn>${(information ?? []).map((text) => tag('AddtlInf', text)).join('')}</StsRsnInf>`
  const settled = settledAtMs === undefined ? undefined : new Date(settledAtMs).toISOString()
  const times =
    settled === undefined
      ? ''
      : `<FctvIntrBkSttlmDt><DtTm>${settled}</DtTm></FctvIntrBkSttlmDt><OrgnlTxRef><IntrBkSttlmDt>${settled.slice(0, 10)}</IntrBkSttlmDt></OrgnlTxRef>`
  return `<TxInfAndSts>${tag('OrgnlInstrId', id)}${tag('OrgnlEndToEndId', endToEndId)}<TxSts>${status}</TxSts>${reason}${times}</TxInfAndSts>`
}

/** pacs.002: how operations ended. */
export const statusReport = (reports: readonly Report[]): Draft => ({
  type: 'pacs.002',
  content: (header) =>
    `<FIToFIPmtStsRpt><GrpHdr>${groupHeader(header)}</GrpHdr>${reports.map(report).join('')}</FIToFIPmtStsRpt>`,
})

/** pacs.008 to a receiver: the transactions are XML as the payer wrote them. */
export const creditTransfer = (forwarded: {
  readonly version: string
  readonly priority: string
  readonly serviceLevel: string
  readonly transactions: readonly string[]
}): Draft => ({
  type: 'pacs.008',
  version: forwarded.version,
  content: (header) =>
    `<FIToFICstmrCdtTrf><GrpHdr>${groupHeader(header)}<NbOfTxs>${forwarded.transactions.length}</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf><PmtTpInf><InstrPrty>${forwarded.priority}</InstrPrty><SvcLvl><Prtry>${forwarded.serviceLevel}</Prtry></SvcLvl></PmtTpInf></GrpHdr>${forwarded.transactions.join('')}</FIToFICstmrCdtTrf>`,
})

/** pacs.004 to the participant that gets its money back. */
export const paymentReturn = (version: string, transactions: readonly string[]): Draft => ({
  type: 'pacs.004',
  version,
  content: (header) =>
    `<PmtRtr><GrpHdr>${groupHeader(header)}<NbOfTxs>${transactions.length}</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf></GrpHdr>${transactions.join('')}</PmtRtr>`,
})

/** A charge whose dynamic QR code a virtual participant pays. */
export type PaidCharge = {
  readonly txid: string
  /** CPF or CNPJ of the receiver. */
  readonly taxId: string
  /** Pix key of the receiver. */
  readonly key: string
  /** Cash that the payer takes with him (Pix Saque, Pix Troco), a part of what is paid. */
  readonly cash?: PaidCash | undefined
}

type PaidCash = {
  readonly cents: bigint
  /** The kind of agent that hands it out, as messages name it: AGTEC, AGTOT or AGFSS. */
  readonly agent: string
  /** ISPB of the institution that makes the service possible. */
  readonly facilitator: string
}

/** Purp, and how a payment splits into purchase and cash (Pix Saque: all is cash). */
const purposeOf = (cents: bigint, cash: PaidCash | undefined): string => {
  if (cash === undefined) return '<Purp><Cd>IPAY</Cd></Purp>'
  const purchase = cents - cash.cents
  const part = (reason: string, amount: bigint) =>
    `<AdjstmntAmtAndRsn>${money('Amt', formatCents(amount))}${tag('Rsn', reason)}</AdjstmntAmtAndRsn>`
  const parts = `${purchase > 0n ? part('VLCP', purchase) : ''}${part('VLDN', cash.cents)}`
  return `<Purp><Cd>${purchase > 0n ? 'GSCB' : 'OTHR'}</Cd></Purp><RmtInf><Strd><RfrdDocInf><Tp><CdOrPrtry>${tag('Prtry', cash.agent)}</CdOrPrtry>${tag('Issr', cash.facilitator)}</Tp></RfrdDocInf><RfrdDocAmt>${parts}</RfrdDocAmt></Strd></RmtInf>`
}

const receiverDefault: Omit<PaidCharge, 'txid'> = {
  taxId: '98765432100',
  key: 'recebedor@example.com',
}

/** The one transaction of a payment that a virtual participant makes. */
export const payInTransaction = ({
  charge,
  ...payment
}: {
  readonly endToEndId: string
  readonly cents: bigint
  readonly from: string
  readonly to: string
  readonly accepted: string
  readonly charge: PaidCharge | undefined
}): string => {
  const { taxId, key } = charge ?? receiverDefault
  return `<CdtTrfTxInf><PmtId><EndToEndId>${payment.endToEndId}</EndToEndId>${tag('TxId', charge?.txid)}</PmtId>${money('IntrBkSttlmAmt', formatCents(payment.cents))}<AccptncDtTm>${payment.accepted}</AccptncDtTm><ChrgBr>SLEV</ChrgBr><MndtRltdInf><Tp><LclInstrm><Prtry>${charge === undefined ? 'DICT' : 'QRDN'}</Prtry></LclInstrm></Tp></MndtRltdInf><Dbtr><Nm>Pagador Virtual</Nm><Id><PrvtId><Othr><Id>12345678909</Id></Othr></PrvtId></Id></Dbtr><DbtrAcct><Id><Othr><Id>1</Id><Issr>1</Issr></Othr></Id><Tp><Cd>CACC</Cd></Tp></DbtrAcct>${agent('DbtrAgt', payment.from)}${agent('CdtrAgt', payment.to)}<Cdtr><Id><PrvtId><Othr><Id>${taxId}</Id></Othr></PrvtId></Id></Cdtr><CdtrAcct><Id><Othr><Id>1</Id><Issr>1</Issr></Othr></Id><Tp><Cd>CACC</Cd></Tp><Prxy>${tag('Id', key)}</Prxy></CdtrAcct>${purposeOf(payment.cents, charge?.cash)}</CdtTrfTxInf>`
}

/** The one transaction of a return that a virtual participant makes. */
export const giveBackTransaction = (returned: {
  readonly returnId: string
  readonly endToEndId: string
  readonly cents: bigint
  readonly reason: string
  readonly from: string
  readonly to: string
}): string =>
  `<TxInf><RtrId>${returned.returnId}</RtrId><OrgnlEndToEndId>${returned.endToEndId}</OrgnlEndToEndId>${money('RtrdIntrBkSttlmAmt', formatCents(returned.cents))}<SttlmPrty>HIGH</SttlmPrty><ChrgBr>SLEV</ChrgBr><RtrRsnInf><Rsn><Cd>${returned.reason}</Cd></Rsn></RtrRsnInf><OrgnlTxRef>${agent('DbtrAgt', returned.from)}${agent('CdtrAgt', returned.to)}</OrgnlTxRef></TxInf>`

const mandateSteps = ['CRTN', 'CRAT', 'EXPR']
const mandateDays = 30

/** pain.009: a virtual participant asks a payer of `to` to authorise recurring charges. */
export const mandateRequest = (mandate: {
  readonly id: string
  readonly requestId: string
  readonly from: string
  readonly to: string
}): Draft => ({
  type: 'pain.009',
  content: (header) => {
    const expires = new Date(Date.parse(header.created) + mandateDays * dayMs).toISOString()
    const steps = mandateSteps.map(
      (type) =>
        `<MndtPrcgDtls><MndtPrcgTp>${type}</MndtPrcgTp><PrcgDtTm>${type === 'EXPR' ? expires : header.created}</PrcgDtTm></MndtPrcgDtls>`,
    )
    return `<MndtInitnReq><GrpHdr>${groupHeader(header)}</GrpHdr><Mndt><MndtId>${mandate.id}</MndtId><MndtReqId>${mandate.requestId}</MndtReqId><Ocrncs><SeqTp>RCUR</SeqTp><Frqcy><Tp>MNTH</Tp></Frqcy><FrstColltnDt>${expires.slice(0, 10)}</FrstColltnDt></Ocrncs><TrckgInd>false</TrckgInd>${money('ColltnAmt', '49.90')}<Cdtr><Nm>Recebedor Virtual</Nm><Id><PrvtId><Othr><Id>98765432100</Id></Othr></PrvtId></Id></Cdtr>${agent('CdtrAgt', mandate.from)}<Dbtr><Id><PrvtId><Othr><Id>12345678909</Id></Othr></PrvtId></Id></Dbtr><DbtrAcct><Id><Othr><Id>1</Id></Othr></Id></DbtrAcct>${agent('DbtrAgt', mandate.to)}<RfrdDoc><Nb>CONTRATO1</Nb></RfrdDoc><SplmtryData><Envlp>${steps.join('')}</Envlp></SplmtryData></Mndt></MndtInitnReq>`
  },
})

/** Why the bank refused a message; the sender reads the texts. */
export type Refusal = {
  /** 1 to 35 characters. */
  readonly reason: string
  readonly description: string
  readonly location?: string | undefined
}

const shownCharsMax = 350

/** admi.002. `reference` is the MsgId, or the PI-ResourceId where none can be read. */
export const messageReject = (reference: string, refusal: Refusal): Draft => ({
  type: 'admi.002',
  content: ({ created }) =>
    `<admi.002.001.01><RltdRef>${tag('Ref', reference)}</RltdRef><Rsn>${tag('RjctgPtyRsn', refusal.reason)}${tag('RjctnDtTm', created)}${tag('ErrLctn', refusal.location?.slice(0, shownCharsMax))}${tag('RsnDesc', refusal.description.slice(0, shownCharsMax))}</Rsn></admi.002.001.01>`,
})
