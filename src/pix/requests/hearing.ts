/** What a payer's institution says of a recurrence, and what becomes of it, of its request and of what we answer. */
import { ispbForm, taxIdForm } from '#codecs/taxpayer'
import {
  type Ending,
  endedStatuses,
  isOutlived,
  type Journey,
  journeys,
  movedTo,
  type Payer,
  type Recurrence,
} from '../recurrences/domain.ts'
import { cancellationDraft, type Draft, reportDraft } from '../recurrences/mandate.ts'
import { liveStatuses, payerOf, type RecurrenceRequest } from './domain.ts'

/** What one message says about a mandate, as the reader of instant payments tells it. */
export type MandateFact = {
  readonly kind: 'mandate' | 'charge'
  /** MndtId of a mandate, EndToEndId of a charge. */
  readonly key: string
  readonly type: string
  readonly event: string | null
  readonly requestId: string | null
  readonly reason: string | null
  /** txid of a charge; null where the central bank refuses what we have sent. */
  readonly reconciliationId: string | null
  /** ISPB of the institution that says it, where the message names it. */
  readonly speaker?: string
  readonly mandate?: {
    readonly reference: string | null
    readonly journey: string | null
    readonly debtorDocument: string
    readonly debtorIspb: string
    readonly debtorAccount: string
    readonly debtorBranch: string | null
    readonly debtorTown: string | null
  }
}

/** A recurrence with the last request for it. */
export type Agreement = {
  readonly recurrence: Recurrence
  readonly request: RecurrenceRequest | undefined
}

type Heard = Agreement & { readonly drafts: readonly Draft[] }

type Circumstances = {
  /** Ours. */
  readonly ispb: string
  readonly at: Date
  readonly meaningOf: (code: string) => string
  /** Whether the charge whose payment begins the recurrence is paid. */
  readonly isBegun: boolean
}

/** Where a fact leads; the same agreement if it changes nothing. */
export const hear = (
  agreement: Agreement,
  fact: MandateFact,
  circumstances: Circumstances,
): Heard => {
  const heard = heardAs(fact.event)?.(agreement, fact, circumstances)
  if (heard === undefined) return { ...agreement, drafts: [] }
  return {
    ...heard,
    drafts: [...heard.drafts, ...displaced(agreement, heard, fact, circumstances)],
  }
}

const heardAs = (event: MandateFact['event']) => {
  switch (event) {
    case 'pending':
      return pending
    case 'confirmed':
      return confirmed
    case 'refused':
    case 'unnamed_refused':
      return refused
    case 'cancellation_requested':
      return cancelled
    default:
      return undefined
  }
}

/** A payer who waits for his first payment gets an answer when another takes his place, or the recurrence ends. */
const displaced = (
  { recurrence: before }: Agreement,
  { recurrence: after }: Agreement,
  fact: MandateFact,
  { ispb, at }: Circumstances,
): readonly Draft[] => {
  // His institution takes it back itself.
  if (after === before || fact.event === 'cancellation_requested') return []
  if (before.payer?.waiting === undefined) return []
  const { waiting, ...payer } = before.payer
  const { reference } = waiting
  const isEnded = endedStatuses.has(after.status)
  const isHis = isSamePayer(after.payer, payer) && answeredBy(fact) === reference
  if (isHis && !isEnded) return []
  const reason = isEnded ? 'AP07' : 'AP05'
  return [reportDraft(after, payer, { reason, reference, ispb, at })]
}

const isSamePayer = (one: Payer | null, { taxId, ispb, account }: Payer): boolean =>
  one?.taxId === taxId && one.ispb === ispb && one.account === account

/** A request expires by its time, whenever that is noted. */
const isLive = (request: RecurrenceRequest | undefined, at: Date): request is RecurrenceRequest =>
  request !== undefined && liveStatuses.has(request.status) && at <= request.expiresAt

const forms = {
  document: taxIdForm,
  ispb: ispbForm,
  request: /^(?:SC|IC|IS)[0-9A-Z]{8}\d{4}[0-1]\d[0-3]\d[a-zA-Z0-9]{11}$/,
}

/** The id that we answer; null where it could not be said back. */
const answeredBy = ({ requestId }: MandateFact): string | null =>
  requestId !== null && forms.request.test(requestId) ? requestId : null

/** Undefined where what is said of him could not be said back. */
const payerIn = ({ mandate }: MandateFact): Payer | undefined => {
  if (mandate === undefined) return undefined
  const { debtorDocument, debtorIspb, debtorAccount, debtorBranch, debtorTown } = mandate
  const isWhole =
    forms.document.test(debtorDocument) &&
    forms.ispb.test(debtorIspb) &&
    /^\d{1,20}$/.test(debtorAccount) &&
    (debtorBranch === null || /^\d{1,4}$/.test(debtorBranch)) &&
    (debtorTown === null || /^\d{7}$/.test(debtorTown))
  if (!isWhole) return undefined
  return {
    taxId: debtorDocument,
    ispb: debtorIspb,
    account: debtorAccount,
    branch: debtorBranch,
    town: debtorTown,
  }
}

/** Whether the institution that speaks is the one that the payer was asked at. The central bank speaks of none. */
const isAsked = ({ recipient }: RecurrenceRequest, { mandate }: MandateFact): boolean =>
  mandate === undefined || mandate.debtorIspb === recipient.ispbParticipante

const isJourney = (code: string | null | undefined): code is keyof typeof journeys =>
  typeof code === 'string' && Object.hasOwn(journeys, code)

/** Whether nobody may authorise it any more: it has ended, or its last day is past. */
const isOver = (recurrence: Recurrence, at: Date): boolean =>
  endedStatuses.has(recurrence.status) ||
  (recurrence.status === 'CRIADA' && isOutlived(recurrence, at))

/** The payer's institution has the request, or its payer has read a code and waits for us. */
const pending = (
  { recurrence, request }: Agreement,
  fact: MandateFact,
  { ispb, at, isBegun }: Circumstances,
): Heard | undefined => {
  const code = fact.mandate?.journey
  if (code === 'AUT1' || !isJourney(code)) {
    const isNews = isLive(request, at) && request.status !== 'RECEBIDA'
    return isNews && isAsked(request, fact)
      ? { recurrence, request: movedTo(request, 'RECEBIDA', at), drafts: [] }
      : undefined
  }
  const payer = payerIn(fact)
  if (payer === undefined) return undefined
  const report = { reference: answeredBy(fact), ispb, at }
  if (isOver(recurrence, at)) {
    // If it waits for its first payment, the outcome of that payment answers it.
    if (recurrence.payer?.waiting?.reference === report.reference) return undefined
    const refusal = reportDraft(recurrence, payer, { reason: 'AP07', ...report })
    return { recurrence, request, drafts: [refusal] }
  }
  if (recurrence.status !== 'CRIADA') {
    // It is authorised already, by this payer or by another.
    const isHis = isSamePayer(recurrence.payer, payer)
    const said = isHis ? ({ status: 'CFDB' } as const) : { reason: 'AP05' }
    return { recurrence, request, drafts: [reportDraft(recurrence, payer, { ...said, ...report })] }
  }
  if (code === 'AUT3' && !isBegun) {
    // His payment may come after his authorisation.
    const waiting = { reference: report.reference, since: at.toISOString() }
    const held = { ...recurrence, payer: { ...payer, waiting }, journey: journeys[code] }
    return { recurrence: held, request, drafts: [] }
  }
  const approved = approve(recurrence, payer, journeys[code], at)
  const confirmation = reportDraft(approved, payer, { status: 'CFDB', ...report })
  if (!isLive(request, at)) return { recurrence: approved, request, drafts: [confirmation] }
  // The payer authorised it in another way than by our request.
  const takenBack = cancellationDraft(recurrence, payerOf(request.recipient), {
    reason: 'PCFD',
    ispb,
    at,
  })
  return {
    recurrence: approved,
    request: movedTo(request, 'CANCELADA', at),
    drafts: [confirmation, takenBack],
  }
}

/** How long a payer's institution waits for us to see the first charge paid. */
export const firstPaymentMs = 3_600_000

/** A recurrence that waits for the payment of its first charge; undefined: it goes on waiting. */
export const seeFirstPayment = (
  recurrence: Recurrence,
  { ispb, at, isBegun }: Omit<Circumstances, 'meaningOf'>,
): { readonly recurrence: Recurrence; readonly drafts: readonly Draft[] } | undefined => {
  const { payer, status } = recurrence
  if (payer?.waiting === undefined || status !== 'CRIADA') return undefined
  const { waiting, ...known } = payer
  const report = { reference: waiting.reference, ispb, at }
  if (isBegun) {
    const approved = approve(recurrence, known, 'JORNADA_3', at)
    const drafts = [reportDraft(approved, known, { status: 'CFDB', ...report })]
    return { recurrence: approved, drafts }
  }
  if (at.getTime() - Date.parse(waiting.since) < firstPaymentMs) return undefined
  const drafts = [reportDraft(recurrence, known, { reason: 'AP08', ...report })]
  return { recurrence: { ...recurrence, payer: null, journey: null }, drafts }
}

const approve = (recurrence: Recurrence, payer: Payer, journey: Journey, at: Date): Recurrence => ({
  ...movedTo(recurrence, 'APROVADA', at),
  payer,
  journey,
  // Only the third journey begins with a charge.
  ...(journey === 'JORNADA_3' ? {} : { terms: { ...recurrence.terms, firstTxid: undefined } }),
})

const confirmed = (
  { recurrence, request }: Agreement,
  fact: MandateFact,
  { ispb, at }: Circumstances,
): Heard | undefined => {
  const isTooLate = isOver(recurrence, at)
  if ((recurrence.status !== 'CRIADA' && !isTooLate) || request === undefined) return undefined
  const payer = payerIn(fact)
  if (payer === undefined) return undefined
  const refusal =
    refusalOfConfirmation(request, payer, fact, at) ?? (isTooLate ? 'AP07' : undefined)
  if (refusal !== undefined) {
    const refused = { reason: refusal, reference: answeredBy(fact), ispb, at }
    return { recurrence, request, drafts: [reportDraft(recurrence, payer, refused)] }
  }
  return {
    recurrence: approve(recurrence, payer, 'JORNADA_1', at),
    request: movedTo(request, 'ACEITA', at),
    drafts: [],
  }
}

/** Returns why a confirmation is refused: another institution or payer was asked, or the request is over. */
const refusalOfConfirmation = (
  request: RecurrenceRequest,
  payer: Payer,
  fact: MandateFact,
  at: Date,
): 'AP11' | 'AP02' | 'AP07' | undefined => {
  if (!isAsked(request, fact)) return 'AP11'
  if (payer.taxId !== payerOf(request.recipient).taxId) return 'AP02'
  const reference = fact.mandate?.reference
  const isOfAnother = reference?.startsWith('SC') === true && reference !== request.id
  return isLive(request, at) && !isOfAnother ? undefined : 'AP07'
}

/** The payer's own refusals: he may be asked anew after any other. */
const finalRefusals: ReadonlySet<string> = new Set(['AP13', 'AP14'])

const refused = (
  { recurrence, request }: Agreement,
  fact: MandateFact,
  { at, meaningOf }: Circumstances,
): Heard | undefined => {
  if (!isLive(request, at) || !isAsked(request, fact)) return undefined
  const { reason, mandate } = fact
  // The central bank refuses a message of ours: the request is its own.
  const reference = mandate === undefined ? fact.requestId : mandate.reference
  if (reference?.startsWith('SC') === true && reference !== request.id) return undefined
  const answered = { request: movedTo(request, 'REJEITADA', at), drafts: [] }
  if (reason === null || !finalRefusals.has(reason) || recurrence.status !== 'CRIADA') {
    return { recurrence, ...answered }
  }
  const ending: Ending = { rejeicao: { codigo: reason, descricao: meaningOf(reason) } }
  return { recurrence: { ...movedTo(recurrence, 'REJEITADA', at), ending }, ...answered }
}

/** By whom, as the standard names them. */
const requesters: Readonly<Record<string, string>> = {
  SLDB: 'USUARIO_PAGADOR',
  DCSD: 'USUARIO_PAGADOR',
  SLCR: 'USUARIO_RECEBEDOR',
}

export const cancellationEnding = (
  code: string,
  meaning: string,
  requester = requesters[code] ?? 'PSP_PAGADOR',
): Ending => ({ cancelamento: { solicitante: requester, codigo: code, descricao: meaning } })

/** The payer, or his institution, ends it. */
const cancelled = (
  { recurrence, request }: Agreement,
  fact: MandateFact,
  { ispb, at, meaningOf }: Circumstances,
): Heard | undefined => {
  const payer = payerIn(fact)
  // Other messages that end it only repeat what we asked for ourselves.
  if (payer === undefined || fact.type !== 'pain.011') return undefined
  const report = { reference: answeredBy(fact), ispb, at }
  const known = recurrence.payer ?? (request && payerOf(request.recipient))
  if (known?.ispb !== payer.ispb) {
    const reason = known === undefined ? 'MD01' : 'AP11'
    return { recurrence, request, drafts: [reportDraft(recurrence, payer, { reason, ...report })] }
  }
  const accepted = [reportDraft(recurrence, payer, { status: 'CCLD', ...report })]
  if (endedStatuses.has(recurrence.status)) return { recurrence, request, drafts: accepted }
  const code = fact.reason ?? 'OTHS'
  const ending = cancellationEnding(code, meaningOf(code))
  return {
    recurrence: { ...movedTo(recurrence, 'CANCELADA', at), payer, ending },
    request: isLive(request, at) ? movedTo(request, 'CANCELADA', at) : request,
    drafts: accepted,
  }
}
