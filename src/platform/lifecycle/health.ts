import type { HealthCheck, HealthReport } from '../http/index.ts'
import type { StallWatch } from '../jobs/index.ts'
import { inTimeOr } from '../runtime/index.ts'
import type { Feature } from './feature.ts'

const checkTimeoutMs = 500
const cacheMs = 500

/**
 * Asks every feature, in parallel, each for at most half a second. Keeps the answer for half a
 * second, so that a probe storm does not reach the database.
 */
export const createHealthReporter = (
  features: readonly Feature[],
  isDraining: () => boolean,
  stalls?: Pick<StallWatch, 'stalled'>,
): (() => Promise<HealthReport>) => {
  let cached:
    | { readonly atMs: number; readonly checks: Promise<HealthReport['checks']> }
    | undefined
  return async () => {
    const nowMs = performance.now()
    if (cached === undefined || nowMs - cached.atMs > cacheMs) {
      cached = { atMs: nowMs, checks: askAll(features, stalls) }
    }
    return { draining: isDraining(), checks: await cached.checks }
  }
}

const askAll = async (
  features: readonly Feature[],
  stalls: Pick<StallWatch, 'stalled'> | undefined,
): Promise<HealthReport['checks']> => {
  const asked = features.flatMap((feature) =>
    feature.health === undefined ? [] : [ask(feature.name, feature.health)],
  )
  const checks = Object.fromEntries(await Promise.all(asked))
  return stalls === undefined ? checks : { ...checks, progress: progressOf(stalls) }
}

const progressOf = (stalls: Pick<StallWatch, 'stalled'>): HealthCheck => {
  const stalled = stalls.stalled()
  const [worst] = stalled
  if (worst === undefined) return { status: 'ok', ready: true }
  const reason = `${worst.loop} has made no progress for ${worst.seconds} s`
  return { status: 'down', ready: false, reason, detail: { stalled } }
}

const ask = async (
  name: string,
  health: NonNullable<Feature['health']>,
): Promise<readonly [string, HealthCheck]> => {
  const down = (reason: string): HealthCheck => ({
    status: 'down',
    ready: false,
    detail: { reason },
  })
  try {
    return [
      name,
      await inTimeOr(Promise.resolve(health()), checkTimeoutMs, down('no answer in time')),
    ]
  } catch {
    return [name, down('the check failed')]
  }
}
