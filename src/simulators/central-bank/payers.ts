/** Pix Automático of the payers' institutions that do not read here: the bank answers in their place. */
import { formatCents, parseCents } from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import { putBounded } from '../bounded.ts'
import type { Fault, FaultPlan } from './faults.ts'
import type { OtherMessage } from './intake.ts'
import type { Channel } from './options.ts'
import type { Settlement } from './settlement.ts'
import { bodyOf, childrenOf, copyOf, nodeAt, textAt } from './tree.ts'
import { agent, type Draft, groupHeader, money, tag } from './write.ts'

/** A charge that a payer's institution has agreed to pay, with the parts of its payment. */
type Scheduled = {
  readonly endToEndId: string
  readonly payer: string
  readonly receiver: string
  readonly cents: bigint
  /** NaN: it names no time, or one that is over; it is paid when the bank is asked to. */
  readonly payAtMs: number
  readonly txid: string
  /** CPF or CNPJ. */
  readonly payerTaxId: string
  /** Canonical XML of Cdtr and CdtrAcct. */
  readonly creditor: string
}

/** The oldest leaves when there are more. */
const scheduledMax = 10_000

type PayersDeps = {
  readonly settlement: Settlement
  readonly strike: FaultPlan['strike']
  readonly now: () => number
}

export type Payers = {
  /** To pain.009 and pain.011. */
  readonly answerMandates: (message: OtherMessage, payer: string) => readonly Draft[]
  /** To pain.013. */
  readonly answerCharges: (message: OtherMessage, payer: string) => readonly Draft[]
  /** To camt.055. */
  readonly answerCancellation: (message: OtherMessage) => readonly Draft[]
  /** Pays a charge before its time. @returns false: no such charge waits to be paid */
  readonly payCharge: (endToEndId: string, channel?: Channel) => boolean
  /** Pays the charges whose time has come. */
  readonly payDue: () => void
}

export const createPayers = ({ settlement, strike, now }: PayersDeps): Payers => {
  const scheduled = new Map<string, Scheduled>()
  const schedule = (charge: Scheduled): void => {
    putBounded(scheduled, charge.endToEndId, charge, scheduledMax)
  }
  const pay = (charge: Scheduled, channel: Channel): boolean => {
    scheduled.delete(charge.endToEndId)
    const { endToEndId, payer, receiver, cents } = charge
    const xml = transactionOf(charge, new Date(now()).toISOString())
    return settlement.payScheduled({ endToEndId, payer, receiver, cents, channel, xml })
  }
  /** Why a payer's institution cannot take up a charge. */
  const chargeFault = ({ endToEndId, receiver }: Scheduled, from: string): string | undefined => {
    if (receiver !== from) return 'GRER'
    const state = settlement.operations().get(endToEndId)?.state
    if (scheduled.has(endToEndId) || state === 'waiting') return 'NIEC'
    if (state === 'settled') return 'NIPA'
    return state === 'rejected' ? 'GRER' : undefined
  }
  const cancellationFault = (
    endToEndId: string,
    step: string,
    from: string,
  ): string | undefined => {
    if (settlement.operations().has(endToEndId)) return cancellationRefusal
    if (step === tellsOfItsOwn) return undefined
    return scheduled.get(endToEndId)?.receiver === from ? undefined : 'CH16'
  }
  return {
    answerMandates: ({ type, document, origin: { channel } }, payer) => {
      const report = (verdict: Verdict) => mandateReport(document, payer, verdict)
      if (strike(['mandate_unanswered'], channel) !== undefined) return []
      const refusal = strike(['mandate_refused'], channel)
      if (type === 'pain.011') return [report(refusal === undefined ? 'CCLD' : refusedBy(refusal))]
      const pending = report('PDNG')
      if (strike(['mandate_pending'], channel) !== undefined) return [pending]
      return [pending, report(refusal === undefined ? 'CFDB' : refusedBy(refusal))]
    },
    answerCharges: ({ document, origin: { channel, from } }, payer) => {
      if (strike(['charge_unanswered'], channel) !== undefined) return []
      const answers = childrenOf(document, bodyOf(document), 'PmtInf').map((node) => {
        const charge = chargeOf(document, node, payer, now())
        const struck = strike(['charge_refused'], channel)
        const refusal = struck ? (struck.code ?? chargeRefusal) : chargeFault(charge, from)
        if (refusal === undefined) schedule(charge)
        return answerOf(document, node, refusal)
      })
      return [chargeReport(answers)]
    },
    answerCancellation: ({ document, origin: { channel, from } }) => {
      const transaction = nodeAt(document, bodyOf(document), 'Undrlyg/OrgnlPmtInfAndCxl/TxInf')
      const endToEndId = textAt(document, transaction, 'OrgnlEndToEndId')
      const struck = strike(['cancellation_refused'], channel)
      const step = textAt(document, transaction, 'SplmtryData/Envlp/CxlPrcgDtls/CxlPrcgTp')
      const refusal = struck
        ? (struck.code ?? cancellationRefusal)
        : cancellationFault(endToEndId, step, from)
      if (refusal === undefined && step !== tellsOfItsOwn) scheduled.delete(endToEndId)
      return [cancellationReport(document, refusal)]
    },
    payCharge: (endToEndId, channel = 'secondary') => {
      const charge = scheduled.get(endToEndId)
      return charge !== undefined && pay(charge, channel)
    },
    payDue: () => {
      const due = [...scheduled.values()].filter(({ payAtMs }) => payAtMs <= now())
      for (const charge of due) {
        if (strike(['charge_unpaid'], 'secondary') === undefined) pay(charge, 'secondary')
        else scheduled.delete(charge.endToEndId)
      }
    },
  }
}

/** The payer has refused; the account has no limit for it; the rules’ time is over. */
const [mandateRefusal, chargeRefusal, cancellationRefusal] = ['AP13', 'AM02', 'FBRD'] as const

/** CxlPrcgTp of a payer's institution that has cancelled its own schedule: there is nothing to ask. */
const tellsOfItsOwn = 'DHIP'

/** MndtSts of an accepted request, or the reason of a refusal. */
type Verdict = 'PDNG' | 'CFDB' | 'CCLD' | { readonly refusal: string }

const refusedBy = ({ code = mandateRefusal }: Fault): Verdict => ({ refusal: code })

const mandateParts = 'Ocrncs TrckgInd ColltnAmt Cdtr CdtrAgt Dbtr DbtrAcct DbtrAgt UltmtDbtr'.split(
  ' ',
)

/** pain.012: about the mandates of a pain.009, or the cancellations of a pain.011. */
const mandateReport = (document: XmlDocument, payer: string, verdict: Verdict): Draft => {
  const body = bodyOf(document)
  const cancelled = childrenOf(document, body, 'UndrlygCxlDtls').map((details) =>
    nodeAt(document, details, 'OrgnlMndt/OrgnlMndt'),
  )
  const mandates = [...childrenOf(document, body, 'Mndt'), ...cancelled].map((mandate) => {
    const part = (name: string) => copyOf(document, nodeAt(document, mandate, name))
    return {
      id: part('MndtId'),
      request: textAt(document, mandate, 'MndtReqId'),
      parts: mandateParts.map(part).join(''),
      contract: part('RfrdDoc'),
    }
  })
  return {
    type: 'pain.012',
    content: (header) => {
      const day = header.created.slice(0, 10).replaceAll('-', '')
      const said = verdictOf(verdict, header.created)
      const report = ({ id, request, parts, contract }: (typeof mandates)[number], index: number) =>
        `<UndrlygAccptncDtls>${said.result}<OrgnlMndt><OrgnlMndt>${id}${tag('MndtReqId', `IS${payer}${day}${header.id.slice(-8)}${String(index % 1000).padStart(3, '0')}`)}${parts}${tag('MndtRef', request)}${contract}</OrgnlMndt></OrgnlMndt>${said.status}</UndrlygAccptncDtls>`
      return `<MndtAccptncRpt><GrpHdr>${groupHeader(header)}${agent('InstgAgt', payer)}</GrpHdr>${mandates.map(report).join('')}</MndtAccptncRpt>`
    },
  }
}

const verdictOf = (verdict: Verdict, at: string) => {
  if (typeof verdict !== 'string') {
    const reason = `<RjctRsn>${tag('Prtry', verdict.refusal)}</RjctRsn>`
    return {
      result: `<AccptncRslt><Accptd>false</Accptd>${reason}</AccptncRslt>`,
      status: '',
    }
  }
  // AUT1: the receiver has asked.
  const journey =
    verdict === 'CCLD'
      ? ''
      : `<MndtPrcgDtls><MndtPrcgTp>AUT1</MndtPrcgTp>${tag('PrcgDtTm', at)}</MndtPrcgDtls>`
  return {
    result: '<AccptncRslt><Accptd>true</Accptd></AccptncRslt>',
    status: `<SplmtryData><Envlp>${journey}${tag('MndtSts', verdict)}</Envlp></SplmtryData>`,
  }
}

type ChargeAnswer = {
  readonly id: string
  readonly endToEndId: string
  readonly refusal: string | undefined
  /** Canonical XML. */
  readonly creditor: string
}

const answerOf = (
  document: XmlDocument,
  charge: number,
  refusal: string | undefined,
): ChargeAnswer => ({
  id: textAt(document, charge, 'PmtInfId'),
  endToEndId: textAt(document, charge, 'CdtTrfTx/PmtId/EndToEndId'),
  refusal,
  creditor:
    copyOf(document, nodeAt(document, charge, 'CdtTrfTx/CdtrAgt')) +
    copyOf(document, nodeAt(document, charge, 'CdtTrfTx/Cdtr')),
})

/** pain.014. */
const chargeReport = (answers: readonly ChargeAnswer[]): Draft => ({
  type: 'pain.014',
  content: (header) => {
    const answered = answers.map(({ id, endToEndId, refusal, creditor }) => {
      const reason =
        refusal === undefined ? '' : `<StsRsnInf><Rsn>${tag('Prtry', refusal)}</Rsn></StsRsnInf>`
      return `<OrgnlPmtInfAndSts>${tag('OrgnlPmtInfId', id)}<TxInfAndSts>${tag('OrgnlEndToEndId', endToEndId)}<TxSts>${refusal === undefined ? 'ACSP' : 'RJCT'}</TxSts>${reason}<DbtrDcsnDtTm>${header.created}</DbtrDcsnDtTm><OrgnlTxRef>${creditor}</OrgnlTxRef></TxInfAndSts></OrgnlPmtInfAndSts>`
    })
    return `<CdtrPmtActvtnReqStsRpt><GrpHdr>${groupHeader(header)}<InitgPty><Id><OrgId><Othr><Id>00000000000000</Id></Othr></OrgId></Id></InitgPty></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>${'0'.repeat(32)}</OrgnlMsgId><OrgnlMsgNmId>00000000</OrgnlMsgNmId></OrgnlGrpInfAndSts>${answered.join('')}</CdtrPmtActvtnReqStsRpt>`
  },
})

/** camt.029: a cancellation asked for by camt.055 is accepted, or not. */
const cancellationReport = (document: XmlDocument, refusal: string | undefined): Draft => {
  const body = bodyOf(document)
  const original = nodeAt(document, body, 'Undrlyg/OrgnlPmtInfAndCxl')
  const member = 'Agt/FinInstnId/ClrSysMmbId/MmbId'
  const asking = textAt(document, body, `Assgnmt/Assgnr/${member}`)
  const asked = textAt(document, body, `Assgnmt/Assgne/${member}`)
  const cancellation = textAt(document, original, 'PmtCxlId')
  const payment = textAt(document, original, 'OrgnlPmtInfId')
  const endToEndId = textAt(document, original, 'TxInf/OrgnlEndToEndId')
  const [status, step] = refusal === undefined ? ['ACCR', 'DHAC'] : ['RJCR', 'DHRC']
  const reason =
    refusal === undefined ? '' : `<CxlStsRsnInf><Rsn>${tag('Prtry', refusal)}</Rsn></CxlStsRsnInf>`
  return {
    type: 'camt.029',
    content: ({ id, created }) =>
      `<RsltnOfInvstgtn><Assgnmt><Id>${id}</Id><Assgnr>${agent('Agt', asked)}</Assgnr><Assgne>${agent('Agt', asking)}</Assgne><CreDtTm>${created}</CreDtTm></Assgnmt><Sts><Conf>INFO</Conf></Sts><CxlDtls><OrgnlPmtInfAndSts>${tag('OrgnlPmtInfCxlId', cancellation)}${tag('OrgnlPmtInfId', payment)}<PmtInfCxlSts>${status}</PmtInfCxlSts>${reason}<TxInfAndSts>${tag('OrgnlEndToEndId', endToEndId)}</TxInfAndSts></OrgnlPmtInfAndSts></CxlDtls><SplmtryData><Envlp><CxlPrcgDtls><CxlPrcgTp>${step}</CxlPrcgTp><PrcgDtTm>${created}</PrcgDtTm></CxlPrcgDtls></Envlp></SplmtryData></RsltnOfInvstgtn>`,
  }
}

/** Reads the charge of one PmtInf of a pain.013. */
const chargeOf = (
  document: XmlDocument,
  charge: number,
  payer: string,
  nowMs: number,
): Scheduled => {
  const text = (path: string) => textAt(document, charge, path)
  const part = (path: string) => copyOf(document, nodeAt(document, charge, path))
  const payAtMs = Date.parse(text('ReqdExctnDt/DtTm'))
  return {
    endToEndId: text('CdtTrfTx/PmtId/EndToEndId'),
    payer,
    receiver: text('CdtTrfTx/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
    cents: parseCents(text('CdtTrfTx/Amt/InstdAmt')),
    payAtMs: payAtMs > nowMs ? payAtMs : Number.NaN,
    txid: text('PmtInfId'),
    payerTaxId: text('Dbtr/Id/PrvtId/Othr/Id'),
    creditor: part('CdtTrfTx/Cdtr') + part('CdtTrfTx/CdtrAcct'),
  }
}

/** The one transaction of its pacs.008. */
const transactionOf = (charge: Scheduled, accepted: string): string =>
  `<CdtTrfTxInf><PmtId>${tag('EndToEndId', charge.endToEndId)}${tag('TxId', charge.txid)}</PmtId>${money('IntrBkSttlmAmt', formatCents(charge.cents))}<AccptncDtTm>${accepted}</AccptncDtTm><ChrgBr>SLEV</ChrgBr><MndtRltdInf><Tp><LclInstrm><Prtry>AUTO</Prtry></LclInstrm></Tp></MndtRltdInf><Dbtr><Nm>Pagador Virtual</Nm><Id><PrvtId><Othr>${tag('Id', charge.payerTaxId)}</Othr></PrvtId></Id></Dbtr><DbtrAcct><Id><Othr><Id>1</Id><Issr>1</Issr></Othr></Id><Tp><Cd>CACC</Cd></Tp></DbtrAcct>${agent('DbtrAgt', charge.payer)}${agent('CdtrAgt', charge.receiver)}${charge.creditor}<Purp><Cd>IPAY</Cd></Purp></CdtTrfTxInf>`
