import { ApiError, type Caller, httpErrors, restrictedBy } from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import type { CardTransaction } from '../transactions/store.ts'

/** The parts of a caller that decide which transactions are its own. */
export type CardRights = Pick<Caller, 'owner' | 'restrictions'>

/** @throws ApiError `restricted` if the key is for other merchants */
export const requireMerchant = ({ restrictions }: CardRights, merchantId: string): void => {
  if (restrictions.merchantIds?.has(merchantId) !== false) return
  throw restrictedBy('merchant_ids', 'transactions of this merchant')
}

/** Rights follow the effect: an authorization that captures at once takes the money. @throws ApiError `forbidden` */
export const requireCapture = ({ scopes }: Pick<Caller, 'scopes'>): void => {
  if (scopes.has('cards:capture')) return
  throw new ApiError(
    httpErrors.forbidden,
    'The API key lacks the scope cards:capture: this authorization captures at once.',
  )
}

/** @throws ApiError `restricted` if the key is for some merchants: what belongs to none may be any other's */
export const requireAllMerchants = ({ restrictions }: CardRights): void => {
  if (restrictions.merchantIds !== undefined) {
    throw restrictedBy('merchant_ids', 'what is of all merchants')
  }
}

/** @throws ApiError `transaction_not_found` unless it is the account's, `restricted` if the key is for other merchants */
export const requireOwn = (
  transaction: CardTransaction | undefined,
  by: CardRights,
): CardTransaction => {
  if (transaction?.account !== by.owner) {
    throw new ApiError(cardErrors.transaction_not_found, 'No such transaction.', {
      details: { field: 'id', value: null },
    })
  }
  requireMerchant(by, transaction.merchantId)
  return transaction
}
