/** A tracked transaction as responses show it. */
import { z } from 'zod'
import type { TrackedRow } from '../contracts/store.ts'
import { transactionStatuses } from '../domain.ts'
import { checksumAddress } from '../evm/address.ts'

export const trackedSchema = z.object({
  transaction_id: z.string(),
  kind: z.string(),
  subject: z.string().meta({ description: 'Id of the transfer or contract it belongs to' }),
  network: z.string(),
  from: z.string(),
  to: z.string().nullable(),
  status: z.enum(transactionStatuses),
  tx_hash: z.string().nullable(),
  nonce: z.int().nullable(),
  block_number: z.int().nullable(),
  error: z.record(z.string(), z.unknown()).nullable(),
  created_at: z.iso.datetime(),
})

export const showTracked = (row: TrackedRow) => ({
  transaction_id: row.id,
  kind: row.kind,
  subject: row.subject,
  network: row.network,
  from: checksumAddress(row.sender),
  to: row.recipient === undefined ? null : checksumAddress(row.recipient),
  status: row.status,
  tx_hash: row.hash ?? null,
  nonce: row.nonce ?? null,
  block_number: row.blockNumber ?? null,
  error: row.error ?? null,
  created_at: row.createdAt.toISOString(),
})
