import { envelope, fresh } from '../in/worker/support.ts'

const agent = (tag: string, id: string): string =>
  `<${tag}><FinInstnId><ClrSysMmbId><MmbId>${id}</MmbId></ClrSysMmbId></FinInstnId></${tag}>`
const person = (tag: string, name = ''): string =>
  `<${tag}>${name}<Id><PrvtId><Othr><Id>12345678909</Id></Othr></PrvtId></Id></${tag}>`
const steps = (...types: readonly string[]): string =>
  types
    .map(
      (type) =>
        `<MndtPrcgDtls><MndtPrcgTp>${type}</MndtPrcgTp><PrcgDtTm>2026-03-02T14:05:09.123Z</PrcgDtTm></MndtPrcgDtls>`,
    )
    .join('')

let serial = 0
export const newMandateId = (): string => `RR9999901020260302${String(++serial).padStart(11, '0')}`
const requestId = (letters: string): string =>
  `${letters}9999901020260302${String(++serial).padStart(11, '0')}`

const terms = (mandateId: string, request: string, reference = ''): string =>
  `<MndtId>${mandateId}</MndtId><MndtReqId>${request}</MndtReqId><Ocrncs><SeqTp>RCUR</SeqTp><Frqcy><Tp>MNTH</Tp></Frqcy><FrstColltnDt>2026-04-01</FrstColltnDt></Ocrncs><TrckgInd>true</TrckgInd><ColltnAmt Ccy="BRL">49.90</ColltnAmt>${person('Cdtr', '<Nm>Loja</Nm>')}${agent('CdtrAgt', '99999010')}${person('Dbtr')}<DbtrAcct><Id><Othr><Id>1</Id></Othr></Id></DbtrAcct>${agent('DbtrAgt', '12345678')}${reference}<RfrdDoc><Nb>C-1</Nb></RfrdDoc>`

/** pain.009 */
export const mandateRequest = (mandateId: string): string =>
  envelope(
    'pain.009',
    '1.1',
    `<MndtInitnReq><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T14:05:09.123Z</CreDtTm></GrpHdr><Mndt>${terms(mandateId, requestId('SC'))}<SplmtryData><Envlp>${steps('CRTN', 'CRAT', 'EXPR')}</Envlp></SplmtryData></Mndt></MndtInitnReq>`,
  )

/** pain.012: PDNG, CFDB, CCLD, or a refusal with its reason of a request `SC`, a cancellation `IC`, or of what it does not name. */
export const mandateAnswer = (
  mandateId: string,
  status:
    | 'PDNG'
    | 'CFDB'
    | 'CCLD'
    | { readonly reason: string; readonly of: 'SC' | 'IC' | undefined },
): string => {
  const isRefusal = typeof status === 'object'
  const result = isRefusal
    ? `<Accptd>false</Accptd><RjctRsn><Prtry>${status.reason}</Prtry></RjctRsn>`
    : '<Accptd>true</Accptd>'
  const more = isRefusal
    ? ''
    : `<SplmtryData><Envlp><MndtSts>${status}</MndtSts></Envlp></SplmtryData>`
  const of = isRefusal ? status.of : undefined
  const reference = of === undefined ? '' : `<MndtRef>${requestId(of)}</MndtRef>`
  return envelope(
    'pain.012',
    '1.4',
    `<MndtAccptncRpt><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T14:05:09.123Z</CreDtTm>${agent('InstgAgt', '99999010')}</GrpHdr><UndrlygAccptncDtls><AccptncRslt>${result}</AccptncRslt><OrgnlMndt><OrgnlMndt>${terms(mandateId, requestId('IS'), reference)}</OrgnlMndt></OrgnlMndt>${more}</UndrlygAccptncDtls></MndtAccptncRpt>`,
  )
}

/** pain.011 */
export const mandateCancellation = (mandateId: string, reason = 'SLCR'): string =>
  envelope(
    'pain.011',
    '1.3',
    `<MndtCxlReq><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T14:05:09.123Z</CreDtTm>${agent('InstgAgt', '99999010')}</GrpHdr><UndrlygCxlDtls><CxlRsn>${person('Orgtr')}<Rsn><Prtry>${reason}</Prtry></Rsn></CxlRsn><OrgnlMndt><OrgnlMndt>${terms(mandateId, requestId('IC'))}</OrgnlMndt></OrgnlMndt></UndrlygCxlDtls></MndtCxlReq>`,
    { id: fresh.businessId() },
  )
