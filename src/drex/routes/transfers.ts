import { z } from 'zod'
import {
  callerOf,
  httpErrors,
  idParams,
  type Route,
  readJson,
  readParams,
  readQuery,
  respond,
  text,
} from '#src/platform/http/index.ts'
import { formatUnits, transactionStatuses } from '../domain.ts'
import { drexErrors } from '../errors.ts'
import { type AddressForm, abbreviateAddress, checksumAddress } from '../evm/address.ts'
import { amount } from '../templates/fields.ts'
import type { Transfers } from '../transfers/service.ts'
import type { Correction, Step, Transfer } from '../transfers/store.ts'
import { exampleTransfer } from './examples.ts'
import {
  addressSchema,
  fullAddresses,
  metadataSchema,
  networkSchema,
  pageResponse,
  pageResponses,
  pageSchema,
  walletsFrom,
} from './shared.ts'

const tag = 'Digital currency'
const bodyBytesMax = 65_536

const plainFields = {
  from_wallet: addressSchema,
  to_wallet: addressSchema,
  amount,
  reference: text(140).optional(),
  metadata: metadataSchema.default({}),
}

const differs = (body: { readonly from_wallet: string; readonly to_wallet: string }): boolean =>
  body.from_wallet !== body.to_wallet
const mustDiffer = { path: ['to_wallet'], message: 'must differ from from_wallet' }

/** A transfer within one token, as a row of a batch. */
export const plainSchema = z.strictObject(plainFields).refine(differs, mustDiffer)

const createSchema = z
  .strictObject({
    ...plainFields,
    network: networkSchema.optional(),
    swap: z
      .strictObject({
        sender_token: addressSchema,
        receiver_token: addressSchema,
        reserve_wallet: addressSchema,
      })
      .optional(),
  })
  .refine(differs, mustDiffer)

const ofStatus = (status: (typeof transactionStatuses)[number]) => ({
  id: `listTransfers?status=${status}#/transfers/0/transfer_id`,
})
const ofAny = { id: 'listTransfers#/transfers/0/transfer_id' }

const listSchema = z.strictObject({
  ...pageSchema,
  wallet: addressSchema.optional(),
  status: z.enum(transactionStatuses).optional(),
  reference: text(140).optional(),
  full_addresses: fullAddresses,
})

export const showSchema = z.strictObject({ full_addresses: fullAddresses })

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  revert: z.object({ name: z.string(), args: z.array(z.string()) }).optional(),
})

export const createdSchema = z.object({
  transfer_id: z.string(),
  status: z.enum(transactionStatuses),
  from_wallet: z.string().meta({ example: '0x1234…abcd' }),
  to_wallet: z.string(),
  amount: z.string().meta({ example: '150.00' }),
  currency: z.literal('DREX'),
  tx_hash: z.string().nullable(),
  created_at: z.iso.datetime(),
  network: networkSchema,
  reference: z.string().nullable(),
  approval: z
    .enum(['required', 'approved'])
    .nullable()
    .meta({ description: 'Whether the wallet’s policy asks for another key' }),
  attempt: z.int().meta({ description: 'From 1; a failed transfer may be tried again' }),
})

const correctionSchema = z.object({
  at: z.iso.datetime(),
  from: z.enum(transactionStatuses),
  to: z.enum(transactionStatuses),
  code: z.string(),
  message: z.string(),
  tx_hash: z.string().nullable(),
})

export const transferSchema = createdSchema
  .extend({
    updated_at: z.iso.datetime(),
    block_number: z.int().nullable(),
    block_hash: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    approved_by: z.string().nullable(),
    batch_id: z.string().nullable(),
    error: errorSchema.nullable(),
    steps: z
      .array(
        z.object({
          kind: z.string(),
          status: z.enum(transactionStatuses),
          signer: z.string(),
          tx_hash: z.string().nullable(),
          error: errorSchema.nullable(),
          attempt: z.int(),
        }),
      )
      .optional(),
    attempts: z
      .array(
        z.object({
          attempt: z.int(),
          status: z.enum(transactionStatuses),
          tx_hash: z.string().nullable(),
          error: errorSchema.nullable(),
          created_at: z.iso.datetime(),
        }),
      )
      .optional()
      .meta({ description: 'Each ends as its last step does.' }),
    corrections: z
      .array(correctionSchema)
      .optional()
      .meta({ description: 'Ends that the chain took back, and nonces that others used.' }),
  })
  .meta({ id: 'Transfer' })

export const transferRoutes = (transfers: Transfers): readonly Route[] => [
  createRoute(transfers),
  listRoute(transfers),
  readRoute(transfers),
  cancelRoute(transfers),
  approveRoute(transfers),
  retryRoute(transfers),
]

const createRoute = (transfers: Transfers): Route => ({
  method: 'POST',
  path: '/v1/drex/transfers',
  scope: 'drex:transfer',
  accepts: ['application/json'],
  bodyBytesMax: bodyBytesMax,
  errorStyle: 'envelope',
  document: {
    operation: 'createTransfer',
    summary: 'Move currency between wallets',
    description:
      'Accepted for sending: the answer says `pending`, `tx_hash` is null until it is signed.',
    tag: tag,
    idempotent: true,
    query: showSchema,
    body: { 'application/json': createSchema },
    bodyExamples: { plain: exampleTransfer },
    exampleFrom: walletsFrom('', 'from_wallet', 'to_wallet'),
    responses: { 202: { description: 'Accepted', schema: createdSchema } },
    errors: [
      httpErrors.validation_failed,
      drexErrors.wallet_not_found,
      drexErrors.wallet_cannot_sign,
      drexErrors.wallet_disabled,
      drexErrors.policy_refused,
      drexErrors.network_not_configured,
      drexErrors.too_busy,
    ],
  },
  async handle(c) {
    const body = await readJson(c, createSchema)
    const { full_addresses: isFull } = readQuery(c, showSchema)
    const { swap } = body
    const answered = await transfers.create(
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
      callerOf(c),
      addressForm(isFull),
    )
    return respond(answered)
  },
})

const listRoute = (transfers: Transfers): Route => ({
  method: 'GET',
  path: '/v1/drex/transfers',
  scope: 'drex:read',
  errorStyle: 'envelope',
  document: {
    operation: 'listTransfers',
    summary: 'Transfers, newest first',
    tag: tag,
    query: listSchema,
    responses: pageResponses('transfers', transferSchema),
    errors: [httpErrors.validation_failed],
  },
  async handle(c) {
    const query = readQuery(c, listSchema)
    const found = await transfers.list(
      {
        wallet: query.wallet,
        status: query.status,
        reference: query.reference,
        beforeId: query.cursor,
        limit: query.limit + 1,
      },
      callerOf(c),
    )
    return pageResponse('transfers', found, query.limit, (each) =>
      show(each, addressForm(query.full_addresses)),
    )
  },
})

const readRoute = (transfers: Transfers): Route => ({
  method: 'GET',
  path: '/v1/drex/transfers/{id}',
  scope: 'drex:read',
  errorStyle: 'envelope',
  document: {
    operation: 'getTransfer',
    summary: 'One transfer and its steps',
    tag: tag,
    params: idParams,
    exampleFrom: ofAny,
    query: showSchema,
    responses: { 200: { description: 'The transfer', schema: transferSchema } },
    errors: [drexErrors.transfer_not_found],
  },
  async handle(c) {
    const { transfer, steps, corrections } = await transfers.get(
      readParams(c, idParams).id,
      callerOf(c),
    )
    const { full_addresses: isFull } = readQuery(c, showSchema)
    const shown = show(transfer, addressForm(isFull), steps)
    return Response.json({ ...shown, corrections: corrections.map(showCorrection) })
  },
})

const cancelRoute = (transfers: Transfers): Route => ({
  method: 'POST',
  path: '/v1/drex/transfers/{id}/cancel',
  scope: 'drex:transfer',
  errorStyle: 'envelope',
  document: {
    operation: 'cancelTransfer',
    summary: 'Take a transfer back',
    description:
      'At once while it is not signed. Where the network has fees a signed one is replaced at its nonce; the chain decides which of the two counts.',
    tag: tag,
    params: idParams,
    exampleFrom: ofStatus('pending'),
    query: showSchema,
    responses: { 200: { description: 'The transfer as it is now', schema: transferSchema } },
    errors: [drexErrors.transfer_not_found, drexErrors.transfer_not_cancellable],
  },
  async handle(c) {
    const { full_addresses: isFull } = readQuery(c, showSchema)
    const transfer = await transfers.cancel(readParams(c, idParams).id, callerOf(c))
    return Response.json(show(transfer, addressForm(isFull)))
  },
})

const approveRoute = (transfers: Transfers): Route => ({
  method: 'POST',
  path: '/v1/drex/transfers/{id}/approve',
  scope: 'drex:transfer',
  errorStyle: 'envelope',
  document: {
    operation: 'approveTransfer',
    summary: 'Let a held transfer go',
    description:
      'A transfer beyond `approval_above` of its wallet’s policy waits for another key of the account. To refuse it, cancel it; what nobody approves expires.',
    tag: tag,
    params: idParams,
    exampleFrom: ofStatus('pending'),
    query: showSchema,
    responses: { 200: { description: 'The transfer as it is now', schema: transferSchema } },
    errors: [drexErrors.transfer_not_found, drexErrors.approval_not_possible],
  },
  async handle(c) {
    const { full_addresses: isFull } = readQuery(c, showSchema)
    const transfer = await transfers.approve(readParams(c, idParams).id, callerOf(c))
    return Response.json(show(transfer, addressForm(isFull)))
  },
})

const retryRoute = (transfers: Transfers): Route => ({
  method: 'POST',
  path: '/v1/drex/transfers/{id}/retry',
  scope: 'drex:transfer',
  errorStyle: 'envelope',
  document: {
    operation: 'retryTransfer',
    summary: 'Try a failed transfer again',
    description:
      'The same transfer under the same id, once its end proves that nothing moved: it was never signed, or the block that refused it is below `DREX_WATCH_BLOCKS`. `details.reason` of a 409 is `under_way`, `not_failed`, `may_have_moved` or `end_may_change`; only the last is worth repeating. Wallets, rights and policies are judged anew.',
    tag: tag,
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
      drexErrors.network_not_configured,
      drexErrors.network_unreachable,
    ],
  },
  async handle(c) {
    const { full_addresses: isFull } = readQuery(c, showSchema)
    const { id } = readParams(c, idParams)
    return respond(await transfers.retry(id, callerOf(c), addressForm(isFull)))
  },
})

export const addressForm = (isFull: boolean): AddressForm =>
  isFull ? checksumAddress : abbreviateAddress

const showCorrection = ({ at, from, to, reason, hash }: Correction) => ({
  at: at.toISOString(),
  from,
  to,
  code: reason.code,
  message: reason.message,
  tx_hash: hash ?? null,
})

export const show = (transfer: Transfer, form: AddressForm, steps?: readonly Step[]) => ({
  transfer_id: transfer.id,
  status: transfer.status,
  from_wallet: form(transfer.fromWallet),
  to_wallet: form(transfer.toWallet),
  amount: formatUnits(transfer.amount, transfer.decimals),
  currency: 'DREX',
  tx_hash: transfer.hash ?? null,
  created_at: transfer.createdAt.toISOString(),
  updated_at: transfer.updatedAt.toISOString(),
  network: transfer.network,
  reference: transfer.reference ?? null,
  metadata: transfer.metadata,
  approval: transfer.approval ?? null,
  attempt: transfer.attempt,
  approved_by: transfer.approvedBy ?? null,
  batch_id: transfer.batch ?? null,
  block_number: transfer.blockNumber ?? null,
  block_hash: transfer.blockHash ?? null,
  error: transfer.error ?? null,
  ...(steps === undefined
    ? {}
    : {
        steps: steps.map((step) => ({
          kind: step.kind,
          status: step.status,
          signer: form(step.sender),
          tx_hash: step.hash ?? null,
          error: step.error ?? null,
          attempt: step.attempt,
        })),
        attempts: attemptsOf(steps),
      }),
})

/** The last step of an attempt, but for those that only take back allowances, tells its end. */
const attemptsOf = (steps: readonly Step[]) => {
  const last = new Map(
    steps.filter(({ kind }) => kind !== 'revoke').map((step) => [step.attempt, step]),
  )
  return [...last.values()].map(({ attempt, status, hash, error, createdAt }) => ({
    attempt,
    status,
    tx_hash: hash ?? null,
    error: error ?? null,
    created_at: createdAt.toISOString(),
  }))
}
