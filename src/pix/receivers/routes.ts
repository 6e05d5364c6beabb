import {
  ApiError,
  actorOf,
  callerOf,
  httpErrors,
  pageOf,
  type RequestContext,
  type Route,
  readJson,
  readParams,
  readQuery,
  route,
} from '#src/platform/http/index.ts'
import { receiverErrors } from '../errors.ts'
import { documents, receiverBody, receiverParams, receiversQuery } from './documents.ts'
import type { Receiver } from './domain.ts'
import type { ReceiverService } from './service.ts'

const base = '/v1/pix/receivers'
const bodyBytesMax = 4_096

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

const keyOf = (c: RequestContext): string => readParams(c, receiverParams).key

/** Which account may charge with which Pix key: the operator says so, because a key moves money. */
export const receiverRoutes = (service: ReceiverService): readonly Route[] => [
  {
    method: 'PUT',
    path: base,
    scope: 'ops:admin',
    bodyBytesMax,
    ofInstitution: true,
    document: documents.put,
    handle: async (c) => {
      const body = await readJson(c, receiverBody)
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
      const put = await service.put(wanted, actorOf(callerOf(c)))
      if (put !== undefined) return Response.json(viewOf(put))
      const message = 'The key is another account’s: remove it first.'
      throw new ApiError(receiverErrors.pix_key_of_another_account, message)
    },
  },
  route(`GET ${base}`, 'ops:read', documents.list, async (c) => {
    const { limit, cursor } = readQuery(c, receiversQuery)
    const { items, next } = pageOf(await service.list(limit + 1, cursor), limit, ({ key }) => key)
    return Response.json({ receivers: items.map(viewOf), next_cursor: next })
  }),
  route(`GET ${base}/{key}`, 'ops:read', documents.find, async (c) => {
    const found = await service.find(keyOf(c))
    if (found === undefined) throw noReceiver()
    return Response.json(viewOf(found))
  }),
  {
    method: 'DELETE',
    path: `${base}/{key}`,
    scope: 'ops:admin',
    ofInstitution: true,
    document: documents.remove,
    handle: async (c) => {
      if (!(await service.remove(keyOf(c), actorOf(callerOf(c))))) throw noReceiver()
      return new Response(null, { status: 204 })
    },
  },
]
