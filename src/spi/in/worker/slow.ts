import { isStatementCanceled } from '#src/platform/database/index.ts'
import { inTimeOr } from '#src/platform/runtime/index.ts'
import type { ReadInbound } from './read.ts'

/** A message alone runs into the time limit of a statement, while the database serves others. */
export class SlowMessageError extends Error {
  override readonly name = 'SlowMessageError'
}

/** A message alone runs into it, and nothing tells that the message is to blame: it does not count. */
export class SlowDatabaseError extends Error {
  override readonly name = 'SlowDatabaseError'
}

/** What is stored within this time tells that the database is well: a tenth of what a statement may take by default. */
const quickMs = 3_000

/**
 * Tells a message that takes too long from a database that does. A try counts against a message only if others were
 * stored meanwhile, or, where no other message takes too long either, if a write of a row does not.
 *
 * @param probe writes a row as payments do
 */
export const createSlowJudge = (probe: () => Promise<unknown>) => {
  let quickOnes = 0
  /** Which one took too long since the last quick one. */
  let slow: string | undefined
  let areSeveral = false

  const store = async <T>(write: () => Promise<T>): Promise<T> => {
    const startMs = performance.now()
    const result = await write()
    if (performance.now() - startMs <= quickMs) {
      quickOnes++
      slow = undefined
      areSeveral = false
    }
    return result
  }

  const isToBlame = async ({ delivery }: ReadInbound, quickBefore: number): Promise<boolean> => {
    if (quickOnes > quickBefore) return true
    const name = `${delivery.topic} ${delivery.partition} ${delivery.offset}`
    areSeveral ||= slow !== undefined && slow !== name
    slow ??= name
    if (areSeveral) return false
    const written = probe().then(
      () => true,
      () => false,
    )
    return inTimeOr(written, quickMs, false)
  }

  return {
    /** Stores some messages. */
    store,
    /**
     * Stores one that shares its transaction with nobody.
     *
     * @throws SlowMessageError, or SlowDatabaseError, where a statement runs into the time limit
     */
    storeAlone: async <T>(inbound: ReadInbound, write: () => Promise<T>): Promise<T> => {
      const quickBefore = quickOnes
      try {
        return await store(write)
      } catch (cause) {
        if (!isStatementCanceled(cause)) throw cause
        if (await isToBlame(inbound, quickBefore)) {
          throw new SlowMessageError('a message takes longer than a statement may', { cause })
        }
        throw new SlowDatabaseError(
          'the database is too slow to store what is received: it stays in its queue',
          { cause },
        )
      }
    },
  }
}
