import { type Caller, restrictedBy } from '#src/platform/http/index.ts'
import type { EndpointRow } from './store.ts'

/** What of a caller decides which endpoints are its own. */
export type WebhookRights = Pick<Caller, 'owner' | 'keyId' | 'restrictions'>

/** Whether a list shows it. */
export const isVisible = (row: EndpointRow, by: WebhookRights): boolean =>
  row.account === by.owner && (by.restrictions.ownWebhooks !== true || row.createdBy === by.keyId)

/**
 * The endpoint, if it is the account's.
 *
 * @throws ApiError `restricted` if the key is for endpoints that it made itself, and this is none
 */
export const requireOwn = (
  row: EndpointRow | undefined,
  by: WebhookRights,
): EndpointRow | undefined => {
  if (row?.account !== by.owner) return undefined
  if (!isVisible(row, by)) throw restrictedBy('own_webhooks', 'endpoints that another key made')
  return row
}

/** Whether the key is for less than an endpoint is told of. */
export const isLimited = ({ restrictions }: WebhookRights): boolean =>
  restrictions.merchantIds !== undefined || restrictions.wallets !== undefined

/**
 * An endpoint is told of all that is its account's, which is more than such a key may know.
 *
 * @param what is not for it, in words
 * @throws ApiError `restricted`
 */
export const requireUnlimited = ({ restrictions }: WebhookRights, what: string): void => {
  if (restrictions.merchantIds !== undefined) throw restrictedBy('merchant_ids', what)
  if (restrictions.wallets !== undefined) throw restrictedBy('wallets', what)
}
