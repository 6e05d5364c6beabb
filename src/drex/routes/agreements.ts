/** What the answers of deliveries and liens share. */
import { z } from 'zod'
import type { Agreement, Event } from '../agreements/store.ts'
import { networkSchema } from './shared.ts'
import { errorSchema, stepSchema } from './transfer-form.ts'

const toldSchema = z.object({
  event: z.string(),
  tx_hash: z.string(),
  block_number: z.int(),
  mismatch: z
    .string()
    .nullable()
    .meta({ description: 'What the tokens’ own events tell, where that is something else' }),
})

export const commonFields = {
  network: networkSchema,
  reference: z.string().nullable(),
  tx_hash: z
    .string()
    .nullable()
    .meta({ description: 'Of the transaction that made it what it is' }),
  error: errorSchema.nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}

export const wholeFields = { steps: z.array(stepSchema), events: z.array(toldSchema) }

export const showCommon = ({ network, reference, state, createdAt, changedAt }: Agreement) => ({
  network,
  reference: reference ?? null,
  tx_hash: state.hash,
  error: state.error,
  created_at: createdAt.toISOString(),
  updated_at: changedAt.toISOString(),
})

export const showTold = ({ name, hash, blockNumber, mismatch }: Event) => ({
  event: name,
  tx_hash: hash,
  block_number: blockNumber,
  mismatch: mismatch ?? null,
})
