import { z } from 'zod'
import {
  activityQuery,
  activitySchema,
  away,
  type ErrorDefinition,
  idParams,
  instant,
  pageResponse,
  pageResponses,
  type Route,
  type RouteContract,
  requireDay,
  respond,
  route,
  text,
} from '#src/platform/http/index.ts'
import { transactionStatuses } from '../domain.ts'
import { drexErrors, networkErrors, signingErrors } from '../errors.ts'
import type { Transfers } from '../transfers/service.ts'
import { exampleTransfer } from './examples.ts'
import { addressSchema, fullAddresses, pageSchema, transactionHash, walletsFrom } from './shared.ts'
import {
  addressForm,
  createdSchema,
  createSchema,
  show,
  showCorrection,
  showSchema,
  transferSchema,
} from './transfer-form.ts'

const ofStatus = (status: (typeof transactionStatuses)[number]) => ({
  id: `listTransfers?status=${status}#/transfers/0/transfer_id`,
})
const ofAny = { id: 'listTransfers#/transfers/0/transfer_id' }

const amountForm = z
  .string()
  .regex(/^\d{1,16}(\.\d{1,36})?$/, 'must be a decimal string such as 10.00')

const listSchema = z.strictObject({
  ...pageSchema,
  wallet: addressSchema.optional(),
  status: z.enum(transactionStatuses).optional(),
  approval: z.enum(['required']).optional().meta({
    description: 'Those that wait for another key to approve them',
  }),
  reference: text(140).optional(),
  tx_hash: transactionHash.optional().meta({
    description: 'Of any transaction that was signed for it, mined or not',
  }),
  amount: amountForm.optional().meta({
    description: 'Exactly this. Needs from and to, at most a day apart.',
  }),
  amount_from: amountForm.optional().meta({ description: 'As `amount`, or more.' }),
  amount_to: amountForm.optional().meta({ description: 'As `amount`, or less.' }),
  from: instant.optional().meta({ description: 'Asked for at that moment or later.' }),
  to: instant.optional().meta({ description: 'Asked for before.' }),
  full_addresses: fullAddresses,
})

/** An act on one of the transfers, which changes it at once. */
const acting = (act: 'cancel' | 'approve', ...refusals: readonly ErrorDefinition[]) =>
  ({
    at: `POST /v1/drex/transfers/{id}/${act}`,
    scope: 'drex:transfer',
    params: idParams,
    exampleFrom: ofStatus('pending'),
    query: showSchema,
    responses: { 200: { description: 'The transfer as it is now', schema: transferSchema } },
    errors: [drexErrors.transfer_not_found, ...refusals],
  }) as const

const documents = {
  createTransfer: {
    at: 'POST /v1/drex/transfers',
    scope: 'drex:transfer',
    operation: 'createTransfer',
    summary: 'Move currency between wallets',
    description:
      'Accepted for sending: the answer says `pending`, `tx_hash` is null until it is signed.',
    idempotent: true,
    query: showSchema,
    body: { 'application/json': createSchema },
    bodyExamples: { plain: exampleTransfer },
    exampleFrom: walletsFrom('', 'from_wallet', 'to_wallet'),
    responses: { 202: { description: 'Accepted', schema: createdSchema } },
    errors: [
      ...signingErrors,
      drexErrors.policy_refused,
      drexErrors.network_not_configured,
      drexErrors.not_in_directory,
      drexErrors.network_unreachable,
      drexErrors.too_busy,
    ],
  },
  listTransfers: {
    at: 'GET /v1/drex/transfers',
    scope: 'drex:read',
    operation: 'listTransfers',
    summary: 'Transfers, newest first',
    query: listSchema,
    responses: pageResponses('transfers', transferSchema, 'One page'),
  },
  readTransferActivity: {
    at: 'GET /v1/drex/transfers/activity',
    scope: 'drex:read',
    operation: 'readTransferActivity',
    summary: 'The transfers of late: how many, how fast, with what outcome',
    description: 'The time of one runs from its request to its end on the chain.',
    query: activityQuery,
    responses: { 200: { description: 'Steps and outcomes', schema: activitySchema } },
  },
  getTransfer: {
    at: 'GET /v1/drex/transfers/{id}',
    scope: 'drex:read',
    operation: 'getTransfer',
    summary: 'One transfer and its steps',
    params: idParams,
    exampleFrom: ofAny,
    query: showSchema,
    responses: { 200: { description: 'The transfer', schema: transferSchema } },
    errors: [drexErrors.transfer_not_found],
  },
  retryTransfer: {
    at: 'POST /v1/drex/transfers/{id}/retry',
    scope: 'drex:transfer',
    operation: 'retryTransfer',
    summary: 'Try a failed transfer again',
    description:
      'The same transfer under the same id, once its end proves that nothing moved: it was never signed, or the block that refused it is below `DREX_WATCH_BLOCKS`. `details.reason` of a 409 is `under_way`, `not_failed`, `may_have_moved` or `end_may_change`; only the last is worth repeating. Wallets, rights and policies are judged anew.',
    params: idParams,
    exampleFrom: ofStatus('failed'),
    query: showSchema,
    idempotent: true,
    responses: { 202: { description: 'Accepted', schema: createdSchema } },
    errors: [
      drexErrors.transfer_not_found,
      drexErrors.transfer_not_retryable,
      drexErrors.wallet_disabled,
      drexErrors.policy_refused,
      ...networkErrors,
    ],
  },
  cancelTransfer: {
    ...acting('cancel', drexErrors.transfer_not_cancellable, drexErrors.network_unreachable),
    operation: 'cancelTransfer',
    summary: 'Take a transfer back',
    description:
      'At once while it is not signed. Where the network has fees a signed one is replaced at its nonce; the chain decides which of the two counts. Where it has none, as on the pilot’s networks (`gas_policy` `zero` of listNetworks), a signed one is never taken back: 409.',
  },
  approveTransfer: {
    ...acting('approve', drexErrors.approval_not_possible),
    operation: 'approveTransfer',
    summary: 'Let a held transfer go',
    description:
      'A transfer beyond `approval_above` of its wallet’s policy waits for another key of the account. To refuse it, cancel it; what nobody approves expires.',
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const transferRoutes = (transfers: Transfers): readonly Route[] => [
  route(
    documents.createTransfer,
    async ({ query: { full_addresses: isFull }, body, caller, c }) => {
      const { swap } = body
      const creation = transfers.create(
        {
          fromWallet: body.from_wallet,
          toWallet: body.to_wallet,
          amount: body.amount,
          network: body.network,
          reference: body.reference,
          metadata: body.metadata,
          swap: swap && {
            senderToken: swap.sender_token,
            receiverToken: swap.receiver_token,
            reserveWallet: swap.reserve_wallet,
          },
        },
        caller,
        addressForm(isFull),
      )
      // Which wallet an institution has is asked of the network's directory.
      const asksOthers = typeof body.to_wallet !== 'string'
      return respond(await (asksOthers ? away(c, creation) : creation))
    },
  ),
  route(documents.readTransferActivity, async ({ query: { minutes }, caller }) =>
    Response.json(await transfers.activity(minutes, caller)),
  ),
  route(documents.listTransfers, async ({ query, caller }) => {
    const { amount, amount_from: amountFrom = amount, amount_to: amountTo = amount } = query
    if (amountFrom !== undefined || amountTo !== undefined) requireDay('amount', query)
    const found = await transfers.list(
      {
        wallet: query.wallet,
        status: query.status,
        approval: query.approval,
        reference: query.reference,
        hash: query.tx_hash,
        amountFrom,
        amountTo,
        from: query.from,
        to: query.to,
        beforeId: query.cursor,
        limit: query.limit + 1,
      },
      caller,
    )
    return pageResponse('transfers', found, query.limit, (each) =>
      show(each, addressForm(query.full_addresses)),
    )
  }),
  route(documents.getTransfer, async ({ params, query: { full_addresses: isFull }, caller }) => {
    const { transfer, steps, corrections } = await transfers.get(params.id, caller)
    const shown = show(transfer, addressForm(isFull), steps)
    return Response.json({ ...shown, corrections: corrections.map(showCorrection) })
  }),
  ...(['cancel', 'approve'] as const).map((act) =>
    route(documents[`${act}Transfer`], async ({ params: { id }, query, caller }) =>
      Response.json(show(await transfers[act](id, caller), addressForm(query.full_addresses))),
    ),
  ),
  route(
    documents.retryTransfer,
    async ({ params: { id }, query: { full_addresses: isFull }, caller, c }) =>
      // A node is asked first whether the last attempt may still come to be.
      respond(await away(c, transfers.retry(id, caller, addressForm(isFull)))),
  ),
]
