import type { Charge } from '../charges/domain.ts'
import { txidForm } from '../charges/domain.ts'

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
}

/** What the SPI says of a payment, or of the return of one. */
export type IncomingEnd = {
  readonly endToEndId: string
  /** RtrId; null: of the payment itself. */
  readonly returnId: string | null
  readonly isSettled: boolean
  readonly reason: string | null
}

/** Codes of pacs.002. */
export type Refusal = 'BE15' | 'BE17' | 'DUPL'

/** How a payment of a dynamic QR code begins: its txid names a charge. */
const ofDynamicCode: readonly string[] = ['QRDN', 'APDN']

/**
 * Whether a payment may be accepted. A charge that is paid, or is being paid, takes no other payment; one that is
 * removed or has expired takes none. A static code may carry a forged txid, so whatever names a charge is judged by it.
 *
 * @param charge that the receiver's tax id and the txid name
 * @param isPending another payment of the charge has no end yet
 * @returns undefined: it may
 */
export const refusalOf = (
  { txid, localInstrument, amountCents }: IncomingPayment,
  charge: Charge | undefined,
  isPending: boolean,
  now: Date,
): Refusal | undefined => {
  const isDynamic = ofDynamicCode.includes(localInstrument)
  if (isDynamic && (txid === null || !txidForm.test(txid))) return 'BE15'
  if (charge === undefined) return isDynamic ? 'BE17' : undefined
  const { status, createdAt, terms } = charge
  if (status === 'CONCLUIDA') return 'DUPL'
  if (status !== 'ATIVA') return 'BE17'
  if (now.getTime() > createdAt.getTime() + terms.expiresSeconds * 1_000) return 'BE17'
  if (isPending) return 'DUPL'
  const isOwed = terms.isOpen ? amountCents > 0n : amountCents === terms.originalCents
  return isOwed ? undefined : 'BE17'
}

export type ReturnNature = 'ORIGINAL' | 'RETIRADA'

type ReturnStatus = 'EM_PROCESSAMENTO' | 'DEVOLVIDO' | 'NAO_REALIZADO'

export type PixReturn = {
  readonly endToEndId: string
  readonly id: string
  /** RtrId. */
  readonly returnId: string
  readonly amountCents: bigint
  readonly nature: ReturnNature
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
  readonly settledAt: Date
  readonly returns: readonly PixReturn[]
}
