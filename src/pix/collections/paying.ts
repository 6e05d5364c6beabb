import type { Queryable } from '#src/platform/database/index.ts'
import { pendingAmong } from '../received/pending.ts'
import { type Collection, paymentsOf } from './domain.ts'

/** The attempts, by EndToEndId, that are being paid: whoever takes a payment locks the charge, as the caller does. */
export const payingAttempts = async (
  tx: Queryable,
  collections: readonly Collection[],
): Promise<ReadonlySet<string>> => {
  const ids = collections.flatMap(({ attempts }) => attempts.map(({ endToEndId }) => endToEndId))
  const pending = new Map((await pendingAmong(tx, ids)).map((one) => [one.endToEndId, one]))
  const paying = collections.flatMap((one) => paymentsOf(one, pending))
  return new Set(paying.map(({ endToEndId }) => endToEndId))
}
