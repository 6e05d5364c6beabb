import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { txidForm } from '../charges/domain.ts'
import { pixErrors, type Violacao, violates } from '../errors.ts'

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

/** How the standard's problems name the two members. */
const violations: Readonly<Record<string, Violacao>> = {
  descricao: {
    razao: 'O campo loteCobV.descricao não respeita o schema.',
    propriedade: 'loteCobV.descricao',
  },
  cobsv: {
    razao: 'O objeto loteCobV.cobsV não respeita o schema.',
    propriedade: 'loteCobV.cobsV',
  },
}
const malformed: Violacao = {
  razao: 'O objeto loteCobV não respeita o schema.',
  propriedade: 'loteCobV',
}

/** @throws ApiError `lote_cobv_operacao_invalida`, with every member that does not fit */
const read = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const names = new Set(parsed.error.issues.map(({ path }) => String(path[0])))
  const found = [...names].map((name) => violations[name] ?? malformed)
  throw violates(pixErrors.lote_cobv_operacao_invalida, found)
}

/** @throws ApiError as `read` */
export const readNewBatch = (value: unknown): BatchRequest => read(newBatch, value)

/** @throws ApiError as `read` */
export const readBatchRevision = (value: unknown): BatchRevision => read(revisedBatch, value)
