/** What is a concern only after a time. */

/** A block takes seconds: what is not mined by then waits for something. */
const minedWithinMs = 600_000
/** A new certificate takes days to come by. */
const soonDays = 30

const isOverdue = (at: string): boolean => Date.parse(at) < Date.now() - minedWithinMs

/** It was sent, and is in no block. */
export const isLate = ({ created_at: at }: { readonly created_at: string }): boolean =>
  isOverdue(at)

/** What the wallet sends waits for a transaction that does not go on. */
export const isStuck = ({ oldest_at: at }: { readonly oldest_at: string | null }): boolean =>
  at !== null && isOverdue(at)

export type Certificate = {
  readonly ispb: string
  readonly type: string
  readonly version: number
  readonly not_after: string
  readonly days_until_expiry: number
}

export const nameOfCertificate = ({ ispb, type, version }: Certificate): string =>
  `${ispb} ${type} ${version}`

export const expiresSoon = ({
  days_until_expiry: days,
}: Pick<Certificate, 'days_until_expiry'>): boolean => days <= soonDays

/** Those to be followed by a new one: where there is one already, it is used in place of the old. */
export const toBeReplaced = <T extends Certificate>(certificates: readonly T[]): readonly T[] => {
  const newest = new Map<string, T>()
  for (const one of certificates) {
    const use = `${one.ispb} ${one.type}`
    if (one.version > (newest.get(use)?.version ?? -1)) newest.set(use, one)
  }
  return [...newest.values()].filter(expiresSoon)
}

/** How many transactions that are sent and not mined are looked at, the newest. */
const broadcastMax = 200
export const broadcastList = `/v1/drex/transfers?status=broadcast&limit=${broadcastMax}` as const
