import { createHash } from 'node:crypto'
import type { AuditRecord } from '../domain.ts'

/** An entry as it is hashed. */
export type SealedEntry = AuditRecord

export const hashBytes = 32

/** Before the first entry. */
export const origin: Uint8Array = new Uint8Array(hashBytes)

/**
 * SHA-256 over the hash before and the fields of the entry, as a JSON array: no two entries have one text.
 *
 * @param before the hash of the entry before, or {@link origin}
 */
export const hashOf = (
  before: Uint8Array,
  { id, actor, action, object, outcome, requestId }: SealedEntry,
): Uint8Array =>
  createHash('sha256')
    .update(before)
    .update(JSON.stringify([id, actor, action, object, outcome, requestId]))
    .digest()

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
