/** A payer who reads the code of a recurrence: his institution tells the receiver's that he authorises it. */

import { z } from 'zod'
import { ispbForm } from '#codecs/taxpayer'
import { jsonOnce } from '#src/platform/http/index.ts'
import { agent, type Draft, groupHeader, money, tag } from './write.ts'

/** Journey 2 is the code alone; 3 pays an immediate charge with it, 4 a charge with a due date or a static code. */
export const readingJourneys = [2, 3, 4] as const

const frequencies = {
  SEMANAL: 'WEEK',
  MENSAL: 'MNTH',
  TRIMESTRAL: 'QURT',
  SEMESTRAL: 'MIAN',
  ANUAL: 'YEAR',
} as const

const day = z.iso.date()

/** A recurrence as its payload shows it, beyond the members that every payload has. */
const recurrence = z.object({
  idRec: z.string().regex(/^R[RN][0-9A-Z]{8}\d{8}[a-zA-Z0-9]{11}$/),
  vinculo: z.object({
    contrato: z.string().min(1).max(35),
    objeto: z.string().min(1).max(35).optional(),
  }),
  calendario: z.object({
    dataInicial: day,
    dataFinal: day.optional(),
    periodicidade: z.enum(['SEMANAL', 'MENSAL', 'TRIMESTRAL', 'SEMESTRAL', 'ANUAL']),
  }),
  valor: z
    .object({ valorRec: z.string().regex(/^\d{1,10}\.\d\d$/) })
    .partial()
    .optional(),
  politicaRetentativa: z.enum(['NAO_PERMITE', 'PERMITE_3R_7D']),
  recebedor: z.object({
    cnpj: z.string().regex(/^[0-9A-Z]{14}$/),
    nome: z.string().min(1).max(140),
    ispbParticipante: z.string().regex(ispbForm),
  }),
})

export type ShownRecurrence = z.infer<typeof recurrence>

/** The content of a payload, a compact JWS from a location; we do not judge its signature. Undefined if it is none. */
export const readRecurrencePayload = (jws: string): ShownRecurrence | undefined => {
  try {
    const [, payload = ''] = jws.split('.')
    return recurrence.safeParse(jsonOnce(Buffer.from(payload, 'base64url').toString())).data
  } catch {
    return undefined
  }
}

/** pain.012: the payer has authorised it, and waits for the receiver's institution to confirm. */
export const mandateAuthorized = (
  { idRec, vinculo, calendario, valor, politicaRetentativa, recebedor }: ShownRecurrence,
  asked: {
    readonly requestId: string
    readonly from: string
    readonly journey: (typeof readingJourneys)[number]
  },
): Draft => ({
  type: 'pain.012',
  content: (header) => {
    const period = `<Ocrncs><SeqTp>RCUR</SeqTp><Frqcy><Tp>${frequencies[calendario.periodicidade]}</Tp></Frqcy>${tag('FrstColltnDt', calendario.dataInicial)}${tag('FnlColltnDt', calendario.dataFinal)}</Ocrncs>`
    const amount = valor?.valorRec === undefined ? '' : money('ColltnAmt', valor.valorRec)
    const receiver = `<Cdtr>${tag('Nm', recebedor.nome)}<Id><PrvtId><Othr>${tag('Id', recebedor.cnpj)}</Othr></PrvtId></Id></Cdtr>${agent('CdtrAgt', recebedor.ispbParticipante)}`
    const payer = `<Dbtr><PstlAdr><TwnNm>3550308</TwnNm></PstlAdr><Id><PrvtId><Othr><Id>12345678909</Id></Othr></PrvtId></Id></Dbtr><DbtrAcct><Id><Othr><Id>1</Id></Othr></Id></DbtrAcct>${agent('DbtrAgt', asked.from)}`
    const contract = `<RfrdDoc>${tag('Nb', vinculo.contrato)}${tag('CdtrRef', vinculo.objeto)}</RfrdDoc>`
    const mandate = `${tag('MndtId', idRec)}${tag('MndtReqId', asked.requestId)}${period}<TrckgInd>${politicaRetentativa !== 'NAO_PERMITE'}</TrckgInd>${amount}${receiver}${payer}${contract}`
    return `<MndtAccptncRpt><GrpHdr>${groupHeader(header)}${agent('InstgAgt', asked.from)}</GrpHdr><UndrlygAccptncDtls><AccptncRslt><Accptd>true</Accptd></AccptncRslt><OrgnlMndt><OrgnlMndt>${mandate}</OrgnlMndt></OrgnlMndt><SplmtryData><Envlp><MndtPrcgDtls><MndtPrcgTp>AUT${asked.journey}</MndtPrcgTp>${tag('PrcgDtTm', header.created)}</MndtPrcgDtls><MndtSts>PDNG</MndtSts></Envlp></SplmtryData></UndrlygAccptncDtls></MndtAccptncRpt>`
  },
})
