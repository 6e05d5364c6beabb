/**
 * Parameters of the templates as callers give them, and the constructor arguments they become.
 * Amounts are decimal strings, dates ISO 8601, hashes 32 bytes in hexadecimal.
 */
import { createHash } from 'node:crypto'
import { type ZodType, z } from 'zod'
import { validated } from '#src/platform/http/index.ts'
import { addressSchema } from '../address-schema.ts'
import { parseAmount } from '../domain.ts'
import { zeroAddress } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import type { Template } from './artifacts.ts'

/** What a template takes from where it is deployed. */
export type Place = {
  /** Wallet that deploys: the owner unless another is named. */
  readonly deployer: Hex
  /** Currency of the network. */
  readonly token: Hex
}

const zeroHash = `0x${'00'.repeat(32)}`
const bpsMax = 10_000
const labelBytesMax = 31

const hash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 32 bytes in hexadecimal')
  .default(zeroHash)

const name = z.string().trim().min(1).max(100)
const symbol = z
  .string()
  .regex(/^[A-Za-z0-9@._-]{1,20}$/, 'must be 1 to 20 letters, digits or @._-')
const date = z.iso.date().transform((text) => Math.floor(Date.parse(`${text}T00:00:00Z`) / 1000))
const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => Math.floor(Date.parse(text) / 1000))
const bps = (max: number) => z.int().min(0).max(max)

const amount = z.string().transform((text, context) => {
  const cents = parseAmount(text)
  if (cents !== undefined) return cents
  context.addIssue({ code: 'custom', message: 'must be a positive amount such as 150.00' })
  return z.NEVER
})

/** A quantity of whole units, for example `1000000` or `12.50`. */
const quantity = z.string().regex(/^\d{1,40}(\.\d{1,18})?$/, 'must be a decimal number')

const scaled = (text: string, decimals: number): bigint | undefined => {
  const [whole = '0', fraction = ''] = text.split('.')
  if (fraction.length > decimals) return undefined
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

const currency = z.strictObject({ name, symbol, admin: addressSchema.optional() })

const tokenizedAsset = z
  .strictObject({
    name,
    symbol,
    total_supply: quantity,
    decimals: z.int().min(0).max(18),
    cap: quantity.optional(),
    owner: addressSchema.optional(),
    allowlisted: z.boolean().default(false),
    metadata_uri: z.string().max(500).default(''),
    metadata_hash: hash,
  })
  .superRefine((params, context) => {
    for (const field of ['total_supply', 'cap'] as const) {
      const value = params[field]
      if (value !== undefined && scaled(value, params.decimals) === undefined) {
        const message = `has more than ${params.decimals} fraction digits`
        context.addIssue({ code: 'custom', path: [field], message })
      }
    }
  })

const receivables = z
  .strictObject({
    name,
    symbol,
    originator: addressSchema.optional(),
    payer: addressSchema,
    debtor_ref: hash,
    face_value: amount,
    issue_date: date,
    due_date: date,
    discount_bps: bps(bpsMax - 1).default(0),
    grace_days: z.int().min(0).max(365).default(0),
    recourse: z.boolean().default(false),
    payment_token: addressSchema.optional(),
    document_hash: hash,
    registrar: z.string().max(100).default(''),
    registrar_id: z.string().max(100).default(''),
  })
  .refine((params) => params.due_date > params.issue_date, {
    path: ['due_date'],
    message: 'must be after issue_date',
  })

/** A partition or document name: at most 31 bytes, so that it fits a word of the chain. */
const label = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= labelBytesMax, 'must be at most 31 bytes')

const document = z.strictObject({ name: label, uri: z.string().min(1).max(500), hash })

const property = z.strictObject({
  /** Matrícula at the land registry. */
  registration: z.string().min(1).max(60),
  /** The registry office and its national code (CNS). */
  registry: z.string().min(1).max(100),
  address: z.string().min(1).max(300),
  area_m2: quantity,
  appraisal: amount.optional(),
})

const realEstate = z.strictObject({
  name,
  symbol,
  decimals: z.int().min(0).max(18).default(0),
  total_units: quantity,
  lock_up_until: instant.optional(),
  holders_max: z.int().min(0).max(1_000_000).default(0),
  holding_max_bps: bps(bpsMax).default(0),
  owner: addressSchema.optional(),
  controllers: z.array(addressSchema).max(10).default([]),
  default_partitions: z
    .array(label)
    .min(1)
    .max(16)
    .refine((names) => new Set(names).size === names.length, 'names one twice')
    .default(['common']),
  documents: z.array(document).max(16).default([]),
  property: property.optional(),
})

const escrow = z.strictObject({
  token: addressSchema.optional(),
  payer: addressSchema,
  payee: addressSchema,
  arbiter: addressSchema,
  amount,
  deadline: instant,
  condition_hash: hash,
  fee_bps: bps(1_000).default(0),
  fee_recipient: addressSchema.optional(),
})

export const templateParams = {
  currency,
  tokenized_asset: tokenizedAsset,
  receivables,
  real_estate: realEstate,
  escrow,
} as const satisfies Readonly<Record<Template, ZodType>>

/** @throws ApiError `validation_failed` with every bad field */
export const constructorArguments = (
  template: Template,
  params: unknown,
  place: Place,
): readonly unknown[] => {
  const at = '/params'
  switch (template) {
    case 'currency': {
      const read = validated(currency, params, at)
      return [read.name, read.symbol, read.admin ?? place.deployer]
    }
    case 'tokenized_asset':
      return [tokenizedAssetTerms(validated(tokenizedAsset, params, at), place)]
    case 'receivables':
      return [receivablesTerms(validated(receivables, params, at), place)]
    case 'real_estate':
      return [realEstateTerms(validated(realEstate, params, at), place)]
    case 'escrow':
      return [escrowTerms(validated(escrow, params, at), place)]
  }
}

const tokenizedAssetTerms = (params: z.output<typeof tokenizedAsset>, place: Place) => ({
  name: params.name,
  symbol: params.symbol,
  decimals: params.decimals,
  initialSupply: scaled(params.total_supply, params.decimals),
  cap: params.cap === undefined ? 0n : scaled(params.cap, params.decimals),
  owner: params.owner ?? place.deployer,
  allowlisted: params.allowlisted,
  metadataUri: params.metadata_uri,
  metadataHash: params.metadata_hash,
})

const receivablesTerms = (params: z.output<typeof receivables>, place: Place) => ({
  name: params.name,
  symbol: params.symbol,
  originator: params.originator ?? place.deployer,
  payer: params.payer,
  debtorRef: params.debtor_ref,
  faceValue: params.face_value,
  issueDate: params.issue_date,
  dueDate: params.due_date,
  discountBps: params.discount_bps,
  graceDays: params.grace_days,
  recourse: params.recourse,
  paymentToken: params.payment_token ?? place.token,
  documentHash: params.document_hash,
  registrar: params.registrar,
  registrarId: params.registrar_id,
})

const realEstateTerms = (params: z.output<typeof realEstate>, place: Place) => {
  const documents = params.documents.map((each) => ({ ...each, name: labelWord(each.name) }))
  if (params.property !== undefined) documents.push(propertyDocument(params.property))
  return {
    name: params.name,
    symbol: params.symbol,
    decimals: params.decimals,
    totalUnits: scaled(params.total_units, params.decimals) ?? 0n,
    lockUpUntil: params.lock_up_until ?? 0,
    holdersMax: params.holders_max,
    holdingMaxBps: params.holding_max_bps,
    owner: params.owner ?? place.deployer,
    controllers: params.controllers,
    defaultPartitions: params.default_partitions.map(labelWord),
    documents,
  }
}

/** The property's particulars stay off the chain; their digest, over keys in order, anchors them. */
const propertyDocument = (particulars: z.output<typeof property>) => {
  const entries = Object.entries(particulars).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const json = JSON.stringify(entries.map(([key, value]) => [key, String(value)]))
  const digest = createHash('sha256').update(json).digest('hex')
  return { name: labelWord('property'), uri: `urn:sha256:${digest}`, hash: `0x${digest}` }
}

const escrowTerms = (params: z.output<typeof escrow>, place: Place) => ({
  token: params.token ?? place.token,
  payer: params.payer,
  payee: params.payee,
  arbiter: params.arbiter,
  amount: params.amount,
  deadline: params.deadline,
  conditionHash: params.condition_hash,
  feeBps: params.fee_bps,
  feeRecipient: params.fee_recipient ?? zeroAddress,
})

const labelWord = (text: string): string => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`
