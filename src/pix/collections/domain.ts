import { codeLists } from '#codecs/iso20022'
import { addDays, type Day, daysBetween, startOfDay } from '#src/platform/runtime/days.ts'
import type { Calendar } from '../due/calendar.ts'
import type { PaidTo } from '../received/domain.ts'
import { type Ending, movedTo, type RecurrenceTerms, type Step } from '../recurrences/domain.ts'

export const collectionStatuses = [
  'CRIADA',
  'ATIVA',
  'CONCLUIDA',
  'EXPIRADA',
  'REJEITADA',
  'CANCELADA',
] as const

export type CollectionStatus = (typeof collectionStatuses)[number]

/** Statuses of charges that may still be paid. */
export const openStatuses: ReadonlySet<CollectionStatus> = new Set(['CRIADA', 'ATIVA'] as const)

export type AttemptStatus =
  | 'SOLICITADA'
  | 'AGENDADA'
  | 'PAGA'
  | 'EXPIRADA'
  | 'CANCELADA'
  | 'REJEITADA'

/** Statuses of attempts whose payment may still come. */
export const openAttempts: ReadonlySet<AttemptStatus> = new Set(['SOLICITADA', 'AGENDADA'])

/** AGND: scheduled ahead; NTAG: tried again after its day; RIFL: sent again after an error of the payer’s institution. */
export type AttemptKind = 'AGND' | 'NTAG' | 'RIFL'

export type Attempt = {
  readonly endToEndId: string
  readonly kind: AttemptKind
  readonly settlesOn: Day
  readonly status: AttemptStatus
  /** Code of pain.014. */
  readonly reason: string | null
  readonly history: readonly Step<AttemptStatus>[]
}

/** `tipoConta` as messages name it. */
export const accountTypes = { CORRENTE: 'CACC', POUPANCA: 'SVGS', PAGAMENTO: 'TRAN' } as const

/** `recebedor`: the account that is credited. */
type CreditedAccount = {
  readonly conta: string
  readonly agencia?: string | undefined
  readonly tipoConta: keyof typeof accountTypes
}

/** What a receiver says of a charge, beyond what it is found by. */
export type CollectionContent = {
  readonly info?: string | undefined
  /** Where the debtor is: his receiver alone is shown it. */
  readonly debtor?: Readonly<Record<string, string | undefined>> | undefined
  readonly credited: CreditedAccount
  /** True: a day that is no working day moves to the next one. */
  readonly adjusts: boolean
}

/** A charge of a recurrence (`cobr`). */
export type Collection = {
  readonly account: string
  readonly txid: string
  readonly recurrenceId: string
  /** CNPJ of the receiver. */
  readonly taxId: string
  readonly status: CollectionStatus
  readonly dueOn: Day
  readonly cycle: number
  readonly amountCents: bigint
  readonly content: CollectionContent
  readonly history: readonly Step<CollectionStatus>[]
  readonly ending: Ending | null
  readonly nextAt: Date | null
  readonly createdAt: Date
  /** In the order in which they were made. */
  readonly attempts: readonly Attempt[]
}

const monthsOf = { MENSAL: 1, TRIMESTRAL: 3, SEMESTRAL: 6, ANUAL: 12 } as const
const weekDays = 7

/** Which of the periods since the recurrence begins a day is in; those before it are negative. */
export const cycleOf = (
  { startsOn, period }: Pick<RecurrenceTerms, 'startsOn' | 'period'>,
  day: Day,
): number => {
  if (period === 'SEMANAL') return Math.floor(daysBetween(startsOn, day) / weekDays)
  const [year = 0, month = 0, date = 0] = startsOn.split('-').map(Number)
  const [atYear = 0, atMonth = 0, atDate = 0] = day.split('-').map(Number)
  // A period that begins on the 31st begins on the last day of a shorter month.
  const begins = Math.min(date, new Date(Date.UTC(atYear, atMonth, 0)).getUTCDate())
  const months = (atYear - year) * 12 + (atMonth - month) - (atDate < begins ? 1 : 0)
  return Math.floor(months / monthsOf[period])
}

/** The day on which a charge is to be settled. */
export const settlementDay = (dueOn: Day, adjusts: boolean, calendar: Calendar): Day =>
  adjusts ? calendar.nextWorkingDay(dueOn) : dueOn

/** A schedule is taken from ten days ahead to two (reported by others who use it). */
const scheduleDaysMax = 10
const scheduleDaysMin = 2

/** When a charge is scheduled at the earliest. */
export const scheduleDay = (settlesOn: Day): Day => addDays(settlesOn, -scheduleDaysMax)

/** The last day on which a charge may be scheduled: later is refused (FCD2). */
export const lastScheduleDay = (settlesOn: Day): Day => addDays(settlesOn, -scheduleDaysMin)

const lastCallHours = 22

/** Until when the receiver may have what is scheduled dropped: 22:00 of the day before (reported as above). */
export const lastCallOf = (settlesOn: Day): Date =>
  new Date(startOfDay(addDays(settlesOn, -1)).getTime() + lastCallHours * 3_600_000)

/** An error of the payer's institution: the instruction may be sent again. */
export const failureReason = 'AB10'
/** How often, and how long after the error. */
export const resendsMax = 3
export const resendAfterMs = 3_600_000

/** `PERMITE_3R_7D` allows so many days and retries. */
const retryDaysMax = 7
export const retriesMax = 3

/** The last day for which another retry may be asked: it is in the cycle of the charge, as the next has its own. */
export const lastRetryDay = ({ dueOn, cycle }: Collection, terms: RecurrenceTerms): Day => {
  let day = addDays(dueOn, retryDaysMax)
  while (day > dueOn && cycleOf(terms, day) !== cycle) day = addDays(day, -1)
  return day
}

/** Codes of pain.014 that refuse the charge itself, whatever may be tried (API Pix 2.9.0, `tentativas`). */
export const fatalReasons: ReadonlySet<string> = new Set(
  'AC05 AM09 DENC DS27 DTED MIDI MSUC NITX RC09'.split(' '),
)

/** `rejeicao`: a code of pain.014, with its meaning. */
export const rejectionOf = (codigo: string) => ({
  codigo,
  descricao: codeLists.charge_refusal.get(codigo)?.meaning?.pt ?? codigo,
})

/** The EndToEndIds of its attempts that are paid. */
export const paidIds = ({ attempts }: Collection): readonly string[] =>
  attempts.flatMap(({ endToEndId, status }) => (status === 'PAGA' ? [endToEndId] : []))

/** Codes of pacs.002. */
type Refusal = 'BE17' | 'CN01' | 'DUPL' | 'UPAY'

/**
 * Whether the payment of an attempt may be accepted.
 *
 * @returns undefined: it may
 */
export const refusalOfCollection = (
  { status, amountCents, attempts }: Collection,
  payment: { readonly endToEndId: string; readonly amountCents: bigint },
): Refusal | undefined => {
  if (status === 'CONCLUIDA') return 'DUPL'
  if (status === 'CANCELADA') return 'CN01'
  const attempt = attempts.find(({ endToEndId }) => endToEndId === payment.endToEndId)
  if (attempt?.status === 'CANCELADA') return 'CN01'
  const isOpen = attempt !== undefined && openAttempts.has(attempt.status)
  if (!isOpen || !openStatuses.has(status)) return 'UPAY'
  return payment.amountCents === amountCents ? undefined : 'BE17'
}

/**
 * The payments that pay it, among those with EndToEndIds of attempts: one for another receiver, or of another
 * amount, is a payment like any other.
 */
export const paymentsOf = <Payment extends PaidTo>(
  { account, taxId, amountCents, attempts }: Collection,
  payments: ReadonlyMap<string, Payment>,
): readonly Payment[] =>
  attempts.flatMap(({ endToEndId }) => {
    const one = payments.get(endToEndId)
    const isOwn = one?.account === account && (one.receiverTaxId ?? taxId) === taxId
    return isOwn && one.amountCents === amountCents ? [one] : []
  })

/**
 * A payment of one of its attempts has settled, which ends it whatever was known of it.
 *
 * @param isReplaced another charge is the one of its cycle: its attempt is paid, and it stays cancelled or rejected
 */
export const paidCollection = (
  collection: Collection,
  settled: readonly string[],
  isReplaced: boolean,
  at: Date,
): Collection => {
  const attempts = collection.attempts.map((attempt) =>
    settled.includes(attempt.endToEndId) && attempt.status !== 'PAGA'
      ? movedTo(attempt, 'PAGA', at)
      : attempt,
  )
  const paid = { ...collection, attempts, nextAt: null }
  if (isReplaced || collection.status === 'CONCLUIDA') return paid
  return movedTo({ ...paid, ending: null }, 'CONCLUIDA', at)
}
