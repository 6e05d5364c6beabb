/**
 * Each payment and each charge, by its EndToEndId, and each return, by its RtrId, is ordered once for as long as its
 * message is kept: an answer could not tell two apart. What was refused may be ordered again under its id.
 */
import { constants, type Queryable } from '#src/platform/database/index.ts'
import { ApiError } from '#src/platform/http/index.ts'
import { type NewMessage, ordersOf, refusedStatuses } from './domain.ts'
import { messageErrors } from './errors.ts'
import { insertMessages } from './store.ts'

/**
 * Stores messages of ours; leaves out those whose BizMsgIdr is known.
 *
 * @throws ApiError `payment_sent_already`
 */
export const insertOrders = async (
  tx: Queryable,
  messages: readonly NewMessage[],
): Promise<ReadonlySet<string>> => {
  const stored = await insertMessages(tx, messages)
  const left = messages.filter((one) => !stored.has(one.id) && ordersOf(one) !== undefined)
  if (left.length === 0) return stored
  await freeRefused(tx, left)
  const again = await insertMessages(tx, left)
  const known = left.filter(({ id }) => !again.has(id))
  if (known.length > 0) await refuseSent(tx, known)
  return new Set([...stored, ...again])
}

/** Some of the messages order what is ordered already; the others could be stored. */
export class SentAlreadyError extends ApiError {
  /** Why each of the messages cannot be stored that cannot. */
  readonly refusals: ReadonlyMap<string, ApiError>

  constructor(found: readonly (ClaimedKey & { readonly holderId: string })[]) {
    const refusals = new Map(found.map((one) => [one.messageId, refusalOf(one)]))
    const [first] = refusals.values()
    super(messageErrors.payment_sent_already, first?.message ?? '', first)
    this.refusals = refusals
  }
}

const refusalOf = ({
  kind,
  key,
  holderId,
}: ClaimedKey & { readonly holderId: string }): ApiError => {
  const name = kind === 'pacs.004' ? 'RtrId' : 'EndToEndId'
  const detail = `A ${kind} with the ${name} ${key} was sent before.`
  return new ApiError(messageErrors.payment_sent_already, detail, {
    details: { message_id: holderId },
  })
}

type ClaimedKey = { readonly kind: string; readonly key: string; readonly messageId: string }

const ordersIn = (messages: readonly NewMessage[]): readonly ClaimedKey[] =>
  messages.flatMap((message) => {
    const { kind, ids } = ordersOf(message) ?? { kind: '', ids: [] }
    return ids.map((key) => ({ kind, key, messageId: message.id }))
  })

const freeRefused = async (tx: Queryable, messages: readonly NewMessage[]): Promise<void> => {
  await tx`
    delete from spi_message_keys known
    using json_to_recordset(${JSON.stringify(ordersIn(messages))}::text::json)
      as wanted(kind text, key text)
    where known.kind = wanted.kind and known.key = wanted.key and exists (
      select from spi_messages m join spi_transactions t on t.message_id = m.id
      where m.id = known.message_id
        and case known.kind when 'pacs.004' then t.instruction_id else t.end_to_end_id end = known.key
        and (t.status in (${constants(tx, refusedStatuses)})
          or (m.status = 'REJECTED' and (t.status is null or t.status = 'ACSP')))
    )`
}

const refuseSent = async (tx: Queryable, messages: readonly NewMessage[]): Promise<void> => {
  const found = await tx<(ClaimedKey & { readonly holderId: string })[]>`
    select known.kind, known.key, wanted."messageId", known.message_id as "holderId"
    from json_to_recordset(${JSON.stringify(ordersIn(messages))}::text::json)
        as wanted(kind text, key text, "messageId" uuid)
      join spi_message_keys known on known.kind = wanted.kind and known.key = wanted.key
    where known.message_id <> wanted."messageId"`
  if (found.length > 0) throw new SentAlreadyError(found)
}
