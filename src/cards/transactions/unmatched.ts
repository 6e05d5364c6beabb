import type { CardMessage } from '#codecs/iso8583'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import { gaugeByNetwork } from '../by-network.ts'
import type { RecordOf } from '../columns.ts'
import type { cardUnmatchedAdvices, UnmatchedMti } from './schema.ts'
import { centsIn, currencyIn } from './told-amounts.ts'

type UnmatchedRow = Omit<
  typeof cardUnmatchedAdvices.$inferSelect,
  'resolvedAt' | 'resolvedBy' | 'resolvedReason'
>

/** An advice of a network, or an approval without a request, that belongs to no transaction here. */
type UnmatchedAdvice = RecordOf<Omit<UnmatchedRow, 'id' | 'times' | 'firstAt' | 'lastAt'>>

/** Reads what the message tells; a repeat has the type of its first sending. */
export const unmatchedOf = (
  network: string,
  message: CardMessage,
  mti = message.mti as UnmatchedMti,
): UnmatchedAdvice => ({
  network,
  mti,
  stan: message.stan ?? '',
  transmission: message.transmissionDateTime ?? '',
  rrn: (message.rrn ?? '').trimEnd(),
  processingCode: message.processingCode,
  amountCents: centsIn(message),
  currency: currencyIn(message),
  responseCode: message.responseCode,
})

/** How many of one network may wait for a person. Further ones are not taken, and the network repeats them. */
export const unmatchedMax = 10_000

/** We leave out what the database cannot store. */
const printable = /^[\x20-\x7e]*$/
const kept = (text: string | undefined): string | null =>
  text !== undefined && printable.test(text) ? text : null

/** Nobody repeats answers, so one that comes again is another, and a person has to see to it anew. */
const toldAgain = (sql: Queryable) => sql`
  times = card_unmatched_advices.times + 1, last_at = now(),
  resolved_at = case when substr(card_unmatched_advices.mti, 3, 1) in ('1', '3') then null
    else card_unmatched_advices.resolved_at end`

/**
 * Keeps an advice once, however often it is told.
 *
 * @returns false if so many wait that it is not kept
 */
export const keepUnmatched = async (sql: Queryable, advice: UnmatchedAdvice): Promise<boolean> => {
  const { network, mti, amountCents } = advice
  const stan = kept(advice.stan) ?? ''
  const transmission = kept(advice.transmission) ?? ''
  const rrn = kept(advice.rrn) ?? ''
  const repeated = await sql`
    update card_unmatched_advices set ${toldAgain(sql)}
    where network = ${network} and mti = ${mti} and stan = ${stan}
      and transmission = ${transmission} and rrn = ${rrn}`
  if (repeated.count === 1) return true
  const written = await sql`
    insert into card_unmatched_advices
      (network, mti, stan, transmission, rrn, processing_code, amount_cents, currency,
        response_code)
    select ${network}, ${mti}, ${stan}, ${transmission}, ${rrn}, ${kept(advice.processingCode)},
      ${amountCents === undefined ? null : String(amountCents)}::bigint,
      ${kept(advice.currency)}, ${kept(advice.responseCode)}
    where (
      select count(*) from (
        select from card_unmatched_advices
        where network = ${network} and resolved_at is null limit ${unmatchedMax}
      ) waiting) < ${unmatchedMax}
    on conflict (network, mti, stan, transmission, rrn) do update
      set ${toldAgain(sql)}`
  return written.count === 1
}

/** The advices that nobody has seen to, oldest first. */
export const unmatchedAdvices = (
  sql: Client,
  afterId: string | undefined,
  limit: number,
): Promise<readonly UnmatchedRow[]> => sql<UnmatchedRow[]>`
  select id, network, mti, stan, transmission, rrn, processing_code as "processingCode",
    amount_cents as "amountCents", currency, response_code as "responseCode", times,
    first_at as "firstAt", last_at as "lastAt"
  from card_unmatched_advices
  where resolved_at is null ${afterId === undefined ? sql`` : sql`and id > ${afterId}::bigint`}
  -- In the order of an index that tells them apart: the key's is that of all.
  order by resolved_at, id limit ${limit}`

/** @returns false if there is none, or somebody has seen to it */
export const resolveUnmatched = async (
  tx: Queryable,
  id: string,
  by: string,
  reason: string,
): Promise<boolean> =>
  (
    await tx`
      update card_unmatched_advices
      set resolved_at = now(), resolved_by = ${by}, resolved_reason = ${reason}
      where id = ${id}::bigint and resolved_at is null`
  ).count === 1

/** Declares the metric of those that nobody has seen to. */
export const declareUnmatched = (
  metrics: Metrics,
  sql: Client,
  networks: readonly string[],
): void =>
  gaugeByNetwork(
    metrics,
    'cardgw_unmatched_advices',
    'Advices and approvals of networks that belong to no transaction, and that nobody has seen to.',
    networks,
    async () => sql<{ network: string; value: number }[]>`
      select network, count(*)::int as value from card_unmatched_advices
      where resolved_at is null group by network`,
  )
