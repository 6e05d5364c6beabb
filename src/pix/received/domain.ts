import type { Charge, ChargeTerms } from '../charges/domain.ts'
import { txidForm } from '../charges/domain.ts'
import { isWithdrawalOf, type PaidWithdrawal } from '../charges/withdrawal.ts'

/** A payment to this institution, as the SPI tells of it. */
export type IncomingPayment = {
  readonly endToEndId: string
  readonly txid: string | null
  readonly amountCents: bigint
  /** MANU, DICT, QRDN … */
  readonly localInstrument: string
  readonly creditorDocument: string
  readonly creditorKey: string | null
  readonly debtorDocument: string
  readonly text: string | null
  /** The cash of a Pix Saque or Pix Troco. */
  readonly withdrawal: PaidWithdrawal | null
}

/** Who is paid, and how much. */
export type PaidTo = {
  readonly endToEndId: string
  readonly account: string
  /** Null: not known. */
  readonly receiverTaxId: string | null
  readonly amountCents: bigint
}

/** What the SPI says of a payment, or of the return of one. */
export type IncomingEnd = {
  readonly endToEndId: string
  /** RtrId; null: of the payment itself. */
  readonly returnId: string | null
  readonly isSettled: boolean
  readonly reason: string | null
  /** Set when a person may have told otherwise before. */
  readonly isCorrection?: boolean | undefined
}

/** Codes of pacs.002. */
export type Refusal = 'BE15' | 'BE17' | 'DUPL'

/** What a charge with a due date takes now. */
export type Owed = {
  /** After its last day. */
  readonly isPast: boolean
  readonly amountsCents: readonly bigint[]
}

/** How a payment of a dynamic QR code begins: its txid names a charge. */
const ofDynamicCode: readonly string[] = ['QRDN', 'APDN']

/**
 * Whether a payment may be accepted. A charge that is paid, or is being paid, takes no other payment; one that is
 * removed or has expired takes none. A static code may carry a forged txid, so whatever names a charge is judged by it.
 *
 * @param charge that the receiver's tax id and the txid name
 * @param isPending another payment of the charge has no end yet
 * @param owed of a charge with a due date
 * @returns undefined: it may
 */
export const refusalOf = (
  payment: IncomingPayment,
  charge: Charge | undefined,
  isPending: boolean,
  now: Date,
  owed?: Owed,
): Refusal | undefined => {
  const { txid, localInstrument, amountCents } = payment
  const isDynamic = ofDynamicCode.includes(localInstrument)
  if (isDynamic && (txid === null || !txidForm.test(txid))) return 'BE15'
  if (charge === undefined) return isDynamic ? 'BE17' : undefined
  const { status, createdAt, terms } = charge
  if (status === 'CONCLUIDA') return 'DUPL'
  if (status !== 'ATIVA') return 'BE17'
  const expiresAtMs = createdAt.getTime() + terms.expiresSeconds * 1_000
  if (owed === undefined ? now.getTime() > expiresAtMs : owed.isPast) return 'BE17'
  if (isPending) return 'DUPL'
  const isOwed =
    owed === undefined
      ? isOwedFor(terms, payment)
      : payment.withdrawal === null && owed.amountsCents.includes(amountCents)
  return isOwed ? undefined : 'BE17'
}

/** Whether a payment is what a charge that is to be paid at once asks for, in cash too. */
const isOwedFor = (
  { originalCents, isOpen, withdrawal }: ChargeTerms,
  { amountCents, withdrawal: paid }: IncomingPayment,
): boolean => {
  if (withdrawal === undefined) {
    return paid === null && (isOpen ? amountCents > 0n : amountCents === originalCents)
  }
  return (
    paid !== null &&
    isWithdrawalOf(withdrawal, originalCents, paid) &&
    amountCents === paid.cashCents + paid.purchaseCents
  )
}

/** What receivers ask for. */
export type ReturnNature = 'ORIGINAL' | 'RETIRADA'

/** What the institution makes under the special return mechanism (MED). */
type SpecialNature = 'MED_OPERACIONAL' | 'MED_FRAUDE'

const natures: Readonly<Record<string, ReturnNature | SpecialNature>> = {
  BE08: 'MED_OPERACIONAL',
  FR01: 'MED_FRAUDE',
  SL02: 'RETIRADA',
}

/** @param reason code of a pacs.004 */
export const natureOf = (reason: string): PixReturn['nature'] => natures[reason] ?? 'ORIGINAL'

type ReturnStatus = 'EM_PROCESSAMENTO' | 'DEVOLVIDO' | 'NAO_REALIZADO'

export type PixReturn = {
  readonly endToEndId: string
  readonly id: string
  /** RtrId. */
  readonly returnId: string
  readonly amountCents: bigint
  readonly nature: ReturnNature | SpecialNature
  readonly description: string | null
  readonly status: ReturnStatus
  readonly reason: string | null
  readonly requestedAt: Date
  readonly settledAt: Date | null
}

/** A payment that is settled. */
export type Pix = {
  readonly endToEndId: string
  readonly account: string
  readonly key: string | null
  readonly txid: string | null
  readonly chargeId: string | null
  readonly amountCents: bigint
  readonly info: string | null
  /** JSON of componentesValor; null: the amount is the whole. */
  readonly components: string | null
  readonly settledAt: Date
  readonly returns: readonly PixReturn[]
}
