import { createHash } from 'node:crypto'
import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { addressSchema } from '../../evm/address.ts'
import {
  bps,
  bpsMax,
  decimals,
  hash,
  instant,
  name,
  quantity,
  reais,
  requireScalable,
  scaled,
  symbol,
} from '../fields.ts'
import { defineTemplate } from '../template.ts'

const labelBytesMax = 31

/** A partition or document name: at most 31 bytes, so that it fits a word of the chain. */
const label = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= labelBytesMax, {
    error: 'must be at most 31 bytes',
    params: { rule: 'bytes' },
  })

const document = z.strictObject({ name: label, uri: text(500), hash })

const property = z.strictObject({
  /** Matrícula at the land registry. */
  registration: text(60),
  /** The registry office and its national code (CNS). */
  registry: text(100),
  address: text(300),
  area_m2: quantity,
  appraisal: reais.optional(),
})

const params = z
  .strictObject({
    name,
    symbol,
    decimals: decimals.default(0),
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
      .refine((names) => new Set(names).size === names.length, {
        error: 'names one twice',
        params: { rule: 'unique' },
      })
      .default(['common']),
    documents: z.array(document).max(16).default([]),
    property: property.optional(),
  })
  .superRefine(requireScalable('total_units'))

const labelWord = (text: string): string => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`

/** The property's particulars stay off the chain; their digest, over keys in order, anchors them. */
const propertyDocument = (particulars: z.output<typeof property>) => {
  const entries = Object.entries(particulars).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const json = JSON.stringify(entries.map(([key, value]) => [key, String(value)]))
  const digest = createHash('sha256').update(json).digest('hex')
  return { name: labelWord('property'), uri: `urn:sha256:${digest}`, hash: `0x${digest}` }
}

/** An ERC-1400 of a property in units, by partitions and with documents. */
export const template = defineTemplate({
  params,
  artifact: () => import('./generated/RealEstate.json'),
  terms: (params, place) => {
    const documents = params.documents.map((each) => ({ ...each, name: labelWord(each.name) }))
    if (params.property !== undefined) documents.push(propertyDocument(params.property))
    return [
      {
        name: params.name,
        symbol: params.symbol,
        decimals: params.decimals,
        totalUnits: scaled(params.total_units, params.decimals),
        lockUpUntil: params.lock_up_until ?? 0,
        holdersMax: params.holders_max,
        holdingMaxBps: params.holding_max_bps,
        owner: params.owner ?? place.deployer,
        controllers: params.controllers,
        defaultPartitions: params.default_partitions.map(labelWord),
        documents,
      },
    ]
  },
})
