import { rowCount, type Transaction } from '#src/platform/database/index.ts'
import { ApiError } from '#src/platform/http/index.ts'
import { ownedMax } from './documents.ts'
import { webhookErrors } from './errors.ts'

/**
 * Until the end of the transaction nobody else asks for the same account.
 *
 * @throws ApiError `webhooks_full`: the account has as many of types as it may
 */
export const requireRoom = async (tx: Transaction, account: string): Promise<void> => {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`webhooks:${account}`}, 0))`
  const owned = await tx`
    select from webhook_endpoints where account = ${account} and topic is null
    limit ${rowCount(tx, ownedMax)}`
  if (owned.count < ownedMax) return
  throw new ApiError(webhookErrors.webhooks_full, `The account has ${ownedMax} webhooks.`)
}
