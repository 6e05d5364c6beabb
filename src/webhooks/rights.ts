import { type ApiError, type Caller, restrictedBy } from '#src/platform/http/index.ts'
import type { EndpointRow } from './store.ts'

/** The facts about a caller that decide which endpoints are its own. */
export type WebhookRights = Pick<Caller, 'owner' | 'keyId' | 'restrictions'>

/** The endpoints that a list shows; with `createdBy` null, those of every maker. */
export type Visible = { readonly account: string; readonly createdBy: string | null }

export const visibleTo = ({ owner: account, keyId, restrictions }: WebhookRights): Visible => ({
  account,
  createdBy: restrictions.ownWebhooks === true ? keyId : null,
})

/** The error of a key that may only use endpoints that it made itself. */
export const madeByAnother = (): ApiError =>
  restrictedBy('own_webhooks', 'endpoints that another key made')

/**
 * The endpoint, if it is the account's.
 *
 * @throws ApiError `restricted` if the key is for endpoints that it made itself, and this is none
 */
export const requireOwn = <Row extends Pick<EndpointRow, 'account' | 'createdBy'>>(
  row: Row | undefined,
  by: WebhookRights,
): Row | undefined => {
  if (row?.account !== by.owner) return undefined
  const { createdBy } = visibleTo(by)
  if (createdBy !== null && row.createdBy !== createdBy) throw madeByAnother()
  return row
}

/** Whether the key may know less than an endpoint is told. */
export const isLimited = ({ restrictions }: WebhookRights): boolean =>
  restrictions.merchantIds !== undefined || restrictions.wallets !== undefined

/**
 * An endpoint gets everything of its account, which is more than such a key may know.
 *
 * @param what is not for it, in words
 * @throws ApiError `restricted`
 */
export const requireUnlimited = ({ restrictions }: WebhookRights, what: string): void => {
  if (restrictions.merchantIds !== undefined) throw restrictedBy('merchant_ids', what)
  if (restrictions.wallets !== undefined) throw restrictedBy('wallets', what)
}
