import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { txidForm } from '../charges/domain.ts'
import { bodyReader, pixErrors, violates } from '../errors.ts'

/** A batch is worked off within one request. */
export const batchItemsMax = 1_000
const descriptionCharsMax = 200

/** The request for one charge; the rest of it is judged by itself. */
export type BatchItemRequest = { readonly txid: string; readonly value: unknown }

const item = z
  .looseObject({ txid: z.string().regex(txidForm) })
  .transform(({ txid, ...value }): BatchItemRequest => ({ txid, value }))

const cobsv = z
  .array(item)
  .min(1)
  .max(batchItemsMax)
  .refine((items) => new Set(items.map(({ txid }) => txid)).size === items.length)

const newBatch = z.object({ descricao: text(descriptionCharsMax), cobsv })
const revisedBatch = z.object({ descricao: text(descriptionCharsMax).optional(), cobsv })

export type BatchRequest = z.infer<typeof newBatch>
export type BatchRevision = z.infer<typeof revisedBatch>

/** @throws ApiError `lote_cobv_operacao_invalida`, with every member that does not fit */
const read = bodyReader('loteCobV', ['descricao'], (...found) =>
  violates(pixErrors.lote_cobv_operacao_invalida, found),
)

/** @throws ApiError as `read` */
export const readNewBatch = (value: unknown): BatchRequest => read(newBatch, value)

/** @throws ApiError as `read` */
export const readBatchRevision = (value: unknown): BatchRevision => read(revisedBatch, value)
