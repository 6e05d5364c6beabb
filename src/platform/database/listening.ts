import { createJob, type Job } from '../jobs/index.ts'
import type { Logger } from '../observe/index.ts'
import type { Client } from './database.ts'

/** What the driver keeps of a channel; its types do not tell. */
type Kept = {
  readonly result: Promise<unknown>
  readonly listeners: readonly {
    readonly fn: (text: string) => void
    readonly onlisten?: () => void
  }[]
}

const everyMs = 5_000

/**
 * Listens again where the server has refused LISTEN, as a standby does until it is promoted. The driver listens again
 * only when it loses the connection: it keeps a refusal, and gives it to every later caller for the channel.
 *
 * @throws the first refusal that it found
 */
export const listenAgain = async (sql: Client): Promise<void> => {
  const { channels = {} } = sql.listen as { readonly channels?: Record<string, Kept> }
  let refusal: unknown
  for (const [name, kept] of Object.entries(channels)) {
    const found = await refusalOf(kept)
    if (found === undefined || channels[name] !== kept) continue
    refusal ??= found
    delete channels[name]
    // The next round finds what is refused again.
    for (const { fn, onlisten } of kept.listeners) sql.listen(name, fn, onlisten).catch(() => {})
  }
  if (refusal !== undefined) throw refusal
}

/** Undefined while it is not decided. */
const refusalOf = ({ result }: Kept): Promise<unknown> =>
  Promise.race([
    result.then(
      () => undefined,
      (error: unknown) => error,
    ),
    Bun.sleep(0),
  ])

export const createListening = (name: string, listen: () => Promise<void>, logger: Logger): Job =>
  createJob({ name: `listening to ${name}`, everyMs, logger, run: listen })
