import {
  type Client,
  constants,
  looksLikeOne,
  type Queryable,
  textArray,
} from '#src/platform/database/index.ts'
import { momentOf, trustedVerdicts } from '../messages/domain.ts'
import { sentBytes } from '../messages/sending.ts'
import { idOf, type State, type Stated } from './domain.ts'
import { factsIn, recurringTypes } from './facts.ts'
import { applyFacts, linkFacts, refusalOf } from './project.ts'

/** What a rebuild did. */
export type Rebuilt = {
  readonly messages: number
  readonly mandates: number
  readonly charges: number
  /** Mandates and charges that no message tells of any more. */
  readonly removed: number
  /** How many stayed as they were, because a message about them is no longer kept. */
  readonly kept: number
  /** How many have another state than before. */
  readonly changed: number
}

type OnProgress = (done: number, total: number) => void

const messagesAtOnce = 200
const recurrencesAtOnce = 50
const firstUuid = '00000000-0000-0000-0000-000000000000'

/**
 * Derives mandates and charges from the stored messages again, in the same steps as when the messages came, and without
 * events. It may be stopped and begun again at any time, and beside a gateway that runs: first it notes which messages
 * tell of which, then it takes some mandates and charges at a time, which whoever stores a message waits for.
 */
export const rebuildRecurring = async (
  sql: Client,
  onProgress: OnProgress = () => {},
): Promise<Rebuilt> => {
  const messages = await linkMessages(sql, onProgress)
  const counts = { mandates: 0, charges: 0, removed: 0, kept: 0, changed: 0 }
  for (let after = ''; ; ) {
    const ids = await sql<{ id: string }[]>`
      select id from spi_recurrences where id > ${after} order by id limit ${recurrencesAtOnce}`
    if (ids.length === 0) return { messages, ...counts }
    const named = ids.map(({ id }) => id)
    const done = await sql.begin((tx) => replay(tx, named))
    for (const { before, id, after: now } of done) {
      if (now === 'kept' || now === 'removed') counts[now]++
      else counts[id.startsWith('mandate ') ? 'mandates' : 'charges']++
      if (now !== 'kept' && now !== before) counts.changed++
    }
    after = named.at(-1) ?? after
  }
}

type StoredMessage = {
  readonly id: string
  readonly type: string
  readonly direction: 'INBOUND' | 'OUTBOUND'
  readonly xml: Uint8Array
  /** The projection hears none whose signature does not fit. */
  readonly isHeard: boolean
}

const columns = (sql: Queryable) => sql`
  m.id, m.type, m.direction, m.xml,
  (m.direction = 'OUTBOUND' or m.signature in (${constants(sql, trustedVerdicts)})) as "isHeard"`

/** A stored message of ours lacks its signature, but no fact. */
const statedBy = ({ id, type, direction, xml, isHeard }: StoredMessage): readonly Stated[] =>
  isHeard
    ? factsIn(type, sentBytes(xml, undefined)).map((fact) => ({ fact, messageId: id, direction }))
    : []

/** Notes which stored messages tell of which mandates and charges. @returns how many messages there are */
const linkMessages = async (sql: Client, onProgress: OnProgress): Promise<number> => {
  const [all] = await sql<{ total: number }[]>`
    select count(*)::int as total from spi_messages
    where type = any(${textArray(recurringTypes)}::text::text[])`
  let count = 0
  for (let after = firstUuid; ; ) {
    const page = await sql<StoredMessage[]>`
      select ${columns(sql)} from unnest(${textArray(recurringTypes)}::text::text[]) as wanted(type)
        cross join lateral (
          select * from spi_messages where type = wanted.type and id > ${after}::uuid
          order by type, id limit ${messagesAtOnce}
        ) m
      order by m.id limit ${messagesAtOnce}`
    const last = page.at(-1)
    if (last === undefined) return count
    await sql.begin((tx) => linkFacts(tx, page.flatMap(statedBy)))
    count += page.length
    onProgress(count, all?.total ?? count)
    after = last.id
  }
}

type Row = { readonly id: string; readonly state: State | null; readonly isWhole: boolean }

/** `kept` and `removed`, or the state now. */
type Replayed = {
  readonly id: string
  readonly before: State | null
  readonly after: State | 'kept' | 'removed' | null
}

/** Takes back what is known of some mandates and charges, and applies what their messages say in its order. */
const replay = async (tx: Queryable, ids: readonly string[]): Promise<readonly Replayed[]> => {
  const rows = await tx<Row[]>`
    select id, state, not is_partial
        and exists (select from spi_messages m where m.id = r.created_by)
        and (changed_by is null or exists (select from spi_messages m where m.id = r.changed_by))
        as "isWhole"
    from spi_recurrences r where id = any(${textArray(ids)}::text::text[])
    order by id for update`
  const whole = new Set(rows.flatMap(({ id, isWhole }) => (isWhole ? [id] : [])))
  const names = textArray([...whole])
  const stated = (await saidOf(tx, names)).filter(({ fact }) => whole.has(idOf(fact)))
  await tx`delete from spi_recurrence_steps where recurrence_id = any(${names}::text::text[])`
  const firsts = new Map(stated.toReversed().map(({ fact, messageId }) => [idOf(fact), messageId]))
  await tx`
    update spi_recurrences r
    set state = null, state_before = null, mandate_id = null, reconciliation_id = null,
      terms = null, changed_by = null, created_by = coalesce(f."createdBy", r.created_by)
    from json_to_recordset(${JSON.stringify(
      [...whole].map((id) => ({ id, createdBy: firsts.get(id) })),
    )}::text::json) as f(id text, "createdBy" uuid, nothing text)
    where ${looksLikeOne(tx)} and r.id = f.id`
  await applyFacts(tx, stated)
  await tx`
    delete from spi_recurrences r where id = any(${names}::text::text[])
      and not exists (select from spi_recurrence_steps where recurrence_id = r.id)`
  const now = await tx<Pick<Row, 'id' | 'state'>[]>`
    select id, state from spi_recurrences where id = any(${names}::text::text[])`
  const states = new Map(now.map(({ id, state }) => [id, state]))
  return rows.map(({ id, state: before, isWhole }) => {
    const after = states.has(id) ? (states.get(id) ?? null) : 'removed'
    return { id, before, after: isWhole ? after : 'kept' }
  })
}

/**
 * What the messages of mandates and charges say, and that some were refused, if only by a person whom an answer corrected,
 * as it became known. The clock of the database tells the order of all: the ids of the messages have the clocks of
 * processes, of which none tells when one was refused.
 */
const saidOf = async (tx: Queryable, names: string): Promise<readonly Stated[]> => {
  type Told = StoredMessage & {
    readonly storedMs: number | null
    readonly refusedMs: number | null
    readonly refusal: string | null
  }
  const messages = await tx<Told[]>`
    select ${columns(tx)}, (extract(epoch from stored.at) * 1000)::float8 as "storedMs",
      (extract(epoch from refused.at) * 1000)::float8 as "refusedMs", refused.detail as refusal
    from (
        select distinct message_id from spi_recurrence_steps
        where recurrence_id = any(${names}::text::text[])
      ) s
      cross join lateral (select * from spi_messages where id = s.message_id limit 1) m
      left join lateral (
        select at from spi_history where message_id = m.id and status <> 'RECEIVED'
        order by message_id, position limit 1
      ) stored on true
      left join lateral (
        select at, detail from spi_history
        where message_id = m.id and status = 'REJECTED' and repetition is null
        order by message_id, position desc limit 1
      ) refused on m.direction = 'OUTBOUND'
    order by m.id`
  return messages
    .flatMap((message) => {
      const stated = statedBy(message)
      const { id, refusedMs, refusal } = message
      const storedMs = message.storedMs ?? momentOf(id).getTime()
      const refusals = refusedMs === null ? [] : stated.flatMap((one) => refusalOf(one, refusal))
      return [
        ...stated.map((one) => ({ one, atMs: storedMs, isRefusal: 0 })),
        ...refusals.map((one) => ({ one, atMs: refusedMs ?? 0, isRefusal: 1 })),
      ]
    })
    .toSorted((a, b) => a.atMs - b.atMs || a.isRefusal - b.isRefusal)
    .map(({ one }) => one)
}
