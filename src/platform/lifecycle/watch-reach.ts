import { createJob } from '../jobs/index.ts'
import { createOutageLog, type Logger } from '../observe/index.ts'
import type { TlsOptions } from '../security/key-material.ts'
import { isProxied } from './proxied.ts'
import { whyAway } from './reach.ts'

export type ReachWatch = {
  readonly start: () => void
  readonly stop: () => Promise<void>
  /** True if nothing listened there when we last looked. */
  readonly isAway: () => boolean
}

const lookEveryMsDefault = 15_000

/** Looks again and again whether something is there at an address, so that its absence is told before it is needed. */
export const watchReach = (options: {
  readonly name: string
  readonly url: string
  /** The TLS options that calls to it use at this moment. */
  readonly tls?: (() => TlsOptions) | undefined
  readonly logger: Logger
  readonly lookEveryMs?: number
}): ReachWatch => {
  const { name, url, tls, lookEveryMs: everyMs = lookEveryMsDefault } = options
  const outage = createOutageLog(options.logger, {
    level: 'error',
    away: 'a counterparty cannot be reached',
    back: 'the counterparty can be reached again',
    about: { counterparty: name },
  })
  let isAway = false
  const job = createJob({
    name: `reach of the ${name}`,
    everyMs,
    run: async () => {
      const failure = isProxied(url) ? undefined : await whyAway(url, tls?.())
      isAway = failure !== undefined
      if (failure === undefined) outage.worked()
      else outage.failed(undefined, { reason: failure })
    },
  })
  return { start: () => void job.start(), stop: job.stop, isAway: () => isAway }
}
