/** Rules for what is a concern only after a time. */

import { dayAt } from '#src/platform/runtime/days.ts'

/** A block takes seconds: a transaction that is not mined by then waits for something. */
const minedWithinMs = 600_000
/** It takes days to get a new certificate. */
const soonDays = 30

const overdueMs = (): number => Date.now() - minedWithinMs

/** The path of the list's entries that are old enough to be late. */
export const lateOf = (list: string): string => `${list}&to=${new Date(overdueMs()).toISOString()}`

/** Whether the oldest open transaction is late: it holds up all others of the wallet. */
export const isStuck = ({ oldest_at: at }: { readonly oldest_at: string | null }): boolean =>
  at !== null && Date.parse(at) < overdueMs()

export type Certificate = {
  readonly ispb: string
  readonly type: string
  readonly version: number
  readonly not_after: string
  readonly days_until_expiry: number
}

export type StoredCertificate = Certificate & {
  readonly has_private_key: boolean
  readonly status: 'active' | 'expired' | 'not_yet_valid'
}

export const nameOfCertificate = ({ ispb, type, version }: Certificate): string =>
  `${ispb} ${type} ${version}`

export const expiresSoon = ({
  days_until_expiry: days,
}: Pick<Certificate, 'days_until_expiry'>): boolean => days <= soonDays

const monthsShown = 13

/** How many expire in this month and in each of the twelve after it, by the days that the page shows. */
export const expiries = (
  certificates: readonly Pick<Certificate, 'not_after'>[],
  nowMs: number,
): readonly { readonly at: Date; readonly many: number }[] => {
  const months = certificates.map((one) => monthAt(Date.parse(one.not_after)))
  const [year = '', month = ''] = monthAt(nowMs).split('-')
  return Array.from({ length: monthsShown }, (_, ahead) => {
    const at = new Date(Date.UTC(Number(year), Number(month) - 1 + ahead, 15))
    return { at, many: months.filter((one) => one === monthAt(at)).length }
  })
}

/** As `2026-01`. */
const monthAt = (moment: Date | number): string => dayAt(moment).slice(0, 7)

/** Certificates that expire soon and need a new one: no newer one is active that can do their work. */
export const toBeReplaced = <T extends StoredCertificate>(
  certificates: readonly T[],
): readonly T[] =>
  certificates.filter(
    (one) => expiresSoon(one) && !certificates.some((other) => replaces(other, one)),
  )

const replaces = (other: StoredCertificate, one: StoredCertificate): boolean =>
  other.ispb === one.ispb &&
  other.type === one.type &&
  other.version > one.version &&
  (other.has_private_key || !one.has_private_key) &&
  other.status === 'active'
