import {
  ApiError,
  actorOf,
  httpErrors,
  pageOf,
  type Route,
  route,
} from '#src/platform/http/index.ts'
import { receiverErrors } from '../errors.ts'
import { documents } from './documents.ts'
import type { Receiver } from './domain.ts'
import type { ReceiverService } from './service.ts'

const viewOf = ({ taxId, postalCode, createdAt, ...receiver }: Receiver) => {
  const { accountNumber, branch, accountType, ...rest } = receiver
  return {
    ...rest,
    tax_id: taxId,
    postal_code: postalCode,
    account_number: accountNumber,
    branch,
    account_type: accountType,
    created_at: createdAt.toISOString(),
  }
}

const noReceiver = (): ApiError => new ApiError(httpErrors.not_found, 'No such Pix key.')

/** Which account may charge with which Pix key: the operator says so, because a key moves money. */
export const receiverRoutes = (service: ReceiverService): readonly Route[] => [
  route(documents.put, async ({ body, caller }) => {
    const { tax_id: taxId, street = null, state = null, postal_code: postalCode = null } = body
    const { account_number: accountNumber = null, branch = null } = body
    const { key, account, name, city, account_type: accountType = null } = body
    const wanted = {
      key,
      account,
      taxId,
      name,
      city,
      street,
      state,
      postalCode,
      accountNumber,
      branch,
      accountType,
    }
    const put = await service.put(wanted, actorOf(caller))
    if (put !== undefined) return Response.json(viewOf(put))
    const message = 'The key is another account’s: remove it first.'
    throw new ApiError(receiverErrors.pix_key_of_another_account, message)
  }),
  route(documents.list, async ({ query: { limit, cursor } }) => {
    const { items, next } = pageOf(await service.list(limit + 1, cursor), limit, ({ key }) => key)
    return Response.json({ receivers: items.map(viewOf), next_cursor: next })
  }),
  route(documents.find, async ({ params }) => {
    const found = await service.find(params.key)
    if (found === undefined) throw noReceiver()
    return Response.json(viewOf(found))
  }),
  route(documents.remove, async ({ params, caller }) => {
    if (!(await service.remove(params.key, actorOf(caller)))) throw noReceiver()
    return new Response(null, { status: 204 })
  }),
]
