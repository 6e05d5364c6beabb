import type { Queryable } from '#src/platform/database/index.ts'

/** An advice, as it is noted with its transaction; its numbers are the same in each repeat. */
export type AdviceData = {
  /** This and the two numbers after it are those of the first sending. */
  readonly mti: '0120' | '0220' | '0420' | '0620'
  readonly stan: string
  readonly transmission: string
}

/** The transaction of a network's reference number (DE 37); undefined if there is none. */
export const idByReference = async (
  sql: Queryable,
  network: string,
  rrn: string,
): Promise<string | undefined> => {
  const [found] = await sql<{ id: string }[]>`
    select id from card_transactions where network = ${network} and rrn = ${rrn}
    order by id desc limit 1`
  return found?.id
}

/** Whether the advice was taken before. */
export const isAdvised = async (
  tx: Queryable,
  id: string,
  { mti, stan, transmission }: AdviceData,
): Promise<boolean> => {
  const found = await tx`
    select from card_events where transaction_id = ${id} and type = 'network_advice'
      and data ->> 'mti' = ${mti} and data ->> 'stan' = ${stan}
      and data ->> 'transmission' = ${transmission} limit 1`
  return found.length > 0
}
