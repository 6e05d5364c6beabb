/** The bank's answers to messages that move no money, each in schema order. */
import { formatCents } from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import { dayAt } from '#src/platform/runtime/index.ts'
import { type Account, entriesOf } from './ledger.ts'
import type { Operation } from './settlement.ts'
import { bodyOf, childrenOf, nodeAt, textAt } from './tree.ts'
import { agent, type Draft, groupHeader, money, nest, tag } from './write.ts'

/** Confirmations of one camt.025. */
const receiptsMax = 500

/** pibr.002: the echo of a pibr.001. */
export const echoReport = (document: XmlDocument): Draft => {
  const data = textAt(document, bodyOf(document), 'EchoTxInf/Data')
  return {
    type: 'pibr.002',
    content: (header) =>
      `<EchoRpt><GrpHdr>${groupHeader(header)}</GrpHdr><EchoTxInf>${tag('OrgnlData', data)}</EchoTxInf></EchoRpt>`,
  }
}

/** reda.016: a request about a participant is complete. */
export const partyStatus = (originalId: string): Draft => ({
  type: 'reda.016',
  content: (header) =>
    `<PtyStsAdvc><MsgHdr>${groupHeader(header)}<OrgnlBizInstr><MsgId>${originalId}</MsgId></OrgnlBizInstr></MsgHdr><PtySts><Sts>COMP</Sts></PtySts></PtyStsAdvc>`,
})

/** camt.025: the book transfers of a trck.002 confirmed; as many messages as it takes. */
export const receipts = (document: XmlDocument, originalId: string): readonly Draft[] => {
  const transfers = nodeAt(document, bodyOf(document), 'TrckrStsAndTx')
  const ids = childrenOf(document, transfers, 'Tx').map(
    (transfer) =>
      textAt(document, transfer, 'PmtId/InstrId') || textAt(document, transfer, 'PmtId/EndToEndId'),
  )
  const drafts: Draft[] = []
  for (let from = 0; from < ids.length; from += receiptsMax) {
    const details = ids
      .slice(from, from + receiptsMax)
      .map(
        (id) =>
          `<RctDtls><OrgnlMsgId><MsgId>${originalId}</MsgId></OrgnlMsgId><OrgnlPmtId>${tag('PrtryId', id)}</OrgnlPmtId><ReqHdlg><Sts><Cd>ACPT</Cd></Sts></ReqHdlg></RctDtls>`,
      )
      .join('')
    drafts.push({
      type: 'camt.025',
      content: (header) => `<Rct><MsgHdr>${groupHeader(header)}</MsgHdr>${details}</Rct>`,
    })
  }
  return drafts
}

/** camt.052: how many entries of the day the account has; all that it has where no day is named. */
export const accountReport = (account: Account, askedBy: string, day: string): Draft => ({
  type: 'camt.052',
  content: (header) =>
    `<BkToCstmrAcctRpt><GrpHdr>${groupHeader(header)}</GrpHdr><Rpt><Id>${askedBy}</Id><Acct>${nest('Id/Othr/Id', account.ispb)}</Acct><TxsSummry>${nest('TtlNtries/NbOfNtries', String(entriesOf(account, day)))}</TxsSummry><AddtlRptInf>Arquivo não gerado pelo simulador</AddtlRptInf></Rpt></BkToCstmrAcctRpt>`,
})

/** camt.053: the available and the held balance. */
export const accountStatement = ({ ispb, available, held }: Account, askedBy: string): Draft => ({
  type: 'camt.053',
  content: (header) => {
    const balance = (type: string, cents: bigint): string =>
      `<Bal><Tp>${nest('CdOrPrtry/Prtry', type)}</Tp>${money('Amt', formatCents(cents))}<CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>${header.created}</DtTm></Dt></Bal>`
    return `<BkToCstmrStmt><GrpHdr>${groupHeader(header)}</GrpHdr><Stmt><Id>${askedBy}</Id><Acct>${nest('Id/Othr/Id', ispb)}</Acct>${balance('SADP', available)}${balance('SABK', held)}</Stmt></BkToCstmrStmt>`
  },
})

/** camt.054: one entry, or an empty one that tells that none has the requested id. */
export const entryNotification = (
  ispb: string,
  { askedBy, asked }: { readonly askedBy: string; readonly asked: string },
  operation: Operation | undefined,
): Draft => ({
  type: 'camt.054',
  content: (header) => {
    const entry =
      operation === undefined
        ? `${noEntryOf(ispb, asked)}<AddtlNtfctnInf>Lançamento não encontrado</AddtlNtfctnInf>`
        : entryOf(ispb, operation)
    return `<BkToCstmrDbtCdtNtfctn><GrpHdr>${groupHeader(header)}</GrpHdr><Ntfctn><Id>${askedBy}</Id><Acct>${nest('Id/Othr/Id', ispb)}</Acct>${entry}</Ntfctn></BkToCstmrDbtCdtNtfctn>`
  },
})

/** For a return or a control number, the id has the form of entries without a payment. */
const noEntryOf = (ispb: string, asked: string): string => {
  const id =
    asked.length === 32 ? asked.replace(/^[^E]/, 'L') : `L${ispb}202001010000${'0'.repeat(11)}`
  return `<Ntry>${money('Amt', '0.00')}<CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>INFO</Cd></Sts><BkTxCd><Domn><Cd>CAMT</Cd><Fmly><Cd>MCOP</Cd><SubFmlyCd>NTAV</SubFmlyCd></Fmly></Domn></BkTxCd><AddtlInfInd><MsgNmId>camt.060</MsgNmId></AddtlInfInd><NtryDtls><TxDtls><Refs>${tag('EndToEndId', id)}</Refs><RltdAgts></RltdAgts></TxDtls></NtryDtls></Ntry>`
}

const entryOf = (ispb: string, operation: Operation): string => {
  const { id, endToEndId, kind, payer, receiver, cents, state, settledAtMs } = operation
  const times =
    settledAtMs === undefined
      ? ''
      : `<BookgDt><Dt>${dayAt(settledAtMs)}</Dt></BookgDt><ValDt><DtTm>${new Date(settledAtMs).toISOString()}</DtTm></ValDt>`
  const isDebit = payer === ispb
  const family = `<Fmly><Cd>${isDebit ? 'IRCT' : 'RRCT'}</Cd><SubFmlyCd>${kind === 'return' ? 'RRTN' : 'DMCT'}</SubFmlyCd></Fmly>`
  return `<Ntry>${money('Amt', formatCents(cents))}<CdtDbtInd>${isDebit ? 'DBIT' : 'CRDT'}</CdtDbtInd><Sts><Cd>${state === 'settled' ? 'BOOK' : 'INFO'}</Cd></Sts>${times}<BkTxCd><Domn><Cd>PMNT</Cd>${family}</Domn></BkTxCd><AddtlInfInd><MsgNmId>${kind === 'return' ? 'pacs.004' : 'pacs.008'}</MsgNmId></AddtlInfInd><NtryDtls><TxDtls><Refs>${kind === 'return' ? tag('InstrId', id) : ''}${tag('EndToEndId', endToEndId)}</Refs><RltdAgts>${agent('DbtrAgt', payer)}${agent('CdtrAgt', receiver)}</RltdAgts></TxDtls></NtryDtls></Ntry>`
}

/** admi.004: says in words what has no message of its own. */
export const systemEvent = (description: string): Draft => ({
  type: 'admi.004',
  content: () =>
    `<SysEvtNtfctn><EvtInf><EvtCd>SPI</EvtCd>${tag('EvtDesc', description)}</EvtInf></SysEvtNtfctn>`,
})
