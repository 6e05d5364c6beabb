/** What requests and answers of transfers look like. */
import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { formatUnits, transactionStatuses } from '../domain.ts'
import { type AddressForm, abbreviateAddress, checksumAddress } from '../evm/address.ts'
import { amount } from '../templates/fields.ts'
import type { Receiver } from '../transfers/service.ts'
import type { Correction, Step, Transfer } from '../transfers/store.ts'
import { addressSchema, fullAddresses, metadataSchema, networkSchema } from './shared.ts'

const cnpj8Length = 8

/** An address, or the first eight digits of the CNPJ of an institution: no address is so short. */
export const receiverSchema = z
  .string()
  .regex(/^(0x[0-9a-fA-F]{40}|\d{8})$/, {
    error: 'must be 0x and 40 hexadecimal digits, or the first eight digits of a CNPJ',
    abort: true,
  })
  .transform((value, context): Receiver => {
    if (value.length === cnpj8Length) return { cnpj8: value }
    const parsed = addressSchema.safeParse(value)
    if (parsed.success) return parsed.data
    const message = 'has a wrong checksum'
    context.addIssue({ code: 'custom', message, params: { rule: 'checksum' } })
    return z.NEVER
  })
  .meta({
    description:
      'An address, whose digits of both cases are a checksum (EIP-55); or the first eight digits of an institution’s CNPJ, whose wallet the network’s address directory tells.',
  })

const plainFields = {
  from_wallet: addressSchema,
  to_wallet: addressSchema,
  amount,
  reference: text(140).optional(),
  metadata: metadataSchema.default({}),
}

const differs = (body: { readonly from_wallet: string; readonly to_wallet: unknown }): boolean =>
  body.from_wallet !== body.to_wallet
const mustDiffer = { path: ['to_wallet'], message: 'must differ from from_wallet' }

/** A transfer within one token, as a row of a batch. */
export const plainSchema = z.strictObject(plainFields).refine(differs, mustDiffer)

export const createSchema = z
  .strictObject({
    ...plainFields,
    to_wallet: receiverSchema,
    network: networkSchema.optional(),
    swap: z
      .strictObject({
        sender_token: addressSchema,
        receiver_token: addressSchema,
        reserve_wallet: addressSchema,
      })
      .optional(),
  })
  .refine(({ swap, to_wallet }) => swap === undefined || typeof to_wallet === 'string', {
    path: ['to_wallet'],
    message: 'must be an address in a swap: an institution takes wholesale currency',
  })
  .refine(differs, mustDiffer)

export const showSchema = z.strictObject({ full_addresses: fullAddresses })

export const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  revert: z.object({ name: z.string(), args: z.array(z.string()) }).optional(),
})

export const stepSchema = z.object({
  kind: z.string(),
  status: z.enum(transactionStatuses),
  signer: z.string(),
  tx_hash: z.string().nullable(),
  error: errorSchema.nullable(),
  attempt: z.int(),
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
  approval: z.enum(['required', 'approved', 'lapsed']).nullable().meta({
    description:
      'Where the wallet’s policy asks for another key: it waits for that, has it, or ended without',
  }),
  attempt: z.int().meta({ description: 'From 1; a failed transfer may be tried again' }),
})

export const correctionsSchema = z
  .array(
    z.object({
      at: z.iso.datetime(),
      from: z.enum(transactionStatuses),
      to: z.enum(transactionStatuses),
      code: z.string(),
      message: z.string(),
      tx_hash: z.string().nullable(),
    }),
  )
  .meta({ description: 'Ends that the chain took back, and nonces that others used.' })

export const transferSchema = createdSchema
  .extend({
    updated_at: z.iso.datetime(),
    block_number: z.int().nullable(),
    block_hash: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    requested_by: z.string().meta({
      description: 'The key that asked for this attempt, and so cannot approve it',
    }),
    approved_by: z.string().nullable(),
    batch_id: z.string().nullable(),
    error: errorSchema.nullable(),
    steps: z.array(stepSchema).optional(),
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
    corrections: correctionsSchema.optional(),
  })
  .meta({ id: 'Transfer' })

export const addressForm = (isFull: boolean): AddressForm =>
  isFull ? checksumAddress : abbreviateAddress

export const showCorrection = ({ at, from, to, reason, hash }: Correction) => ({
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
  requested_by: transfer.retriedBy ?? transfer.createdBy,
  approved_by: transfer.approvedBy ?? null,
  batch_id: transfer.batch ?? null,
  block_number: transfer.blockNumber ?? null,
  block_hash: transfer.blockHash ?? null,
  error: transfer.error ?? null,
  ...(steps === undefined
    ? {}
    : {
        steps: steps.map((step) => showStep(step, form)),
        attempts: attemptsOf(steps),
      }),
})

export const showStep = (step: Step, form: AddressForm) => ({
  kind: step.kind,
  status: step.status,
  signer: form(step.sender),
  tx_hash: step.hash ?? null,
  error: step.error ?? null,
  attempt: step.attempt,
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
