import type { HealthCheck } from '#src/platform/http/index.ts'
import { createJob } from '#src/platform/jobs/index.ts'
import { createOutageLog, inSpan, type Logger } from '#src/platform/observe/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import type { UnsignedMessage } from '../../messages/index.ts'
import {
  createEnvelopeSigner,
  createSigner,
  type EnvelopeSigner,
  SigningError,
  type SigningSettings,
} from '../signing/index.ts'
import type { OutboundMetrics } from './metrics.ts'

/** Returns the bytes to send of a built message: signed, if we sign messages. */
export type Sign = (unsigned: UnsignedMessage) => Promise<Uint8Array>

const lookEveryMs = 15_000

/** The health of a process that sends, including its signing. A process that takes requests keeps them meanwhile. */
export const withSigning = (
  channels: HealthCheck,
  problem: string | undefined,
  takesRequests: boolean,
): HealthCheck => {
  if (problem === undefined) return channels
  const detail = { ...channels.detail, signing: { reason: problem } }
  const reason = 'messages cannot be signed'
  return { status: 'down', ready: channels.ready && takesRequests, reason, detail }
}

/** Creates one signer for everything that this process sends. */
export const createSigning = (
  settings: SigningSettings,
  { own, service }: { readonly [Who in 'own' | 'service']: KeyMaterial | undefined },
  metrics: OutboundMetrics,
  logger: Logger,
) => {
  let envelopes: EnvelopeSigner | undefined
  let provider = ''
  let close = (): void => {}
  let check: () => Promise<unknown> = async () => undefined
  const watch = watchSigning(() => check(), logger)
  return {
    /** Undefined while messages can be signed, or need not be. */
    problem: watch.problem,
    start: async () => {
      const onProblem = (err: Error): void =>
        logger.error({ err }, 'the new signing certificate cannot be used, the old one stays')
      const signer = await createSigner(settings, own, onProblem, service)
      provider = 'provider' in signer ? String(signer.provider) : signer.kind
      close = signer.close
      envelopes = createEnvelopeSigner(signer)
      if (signer.kind === 'none') return
      check = signer.check
      watch.start()
    },
    /** Works after `start`. */
    sign: async (unsigned: UnsignedMessage) => {
      if (envelopes === undefined) throw new Error('the signer has not been started')
      if (envelopes.kind === 'none') return unsigned.bytes
      const { sign } = envelopes
      const startedMs = performance.now()
      const bytes = await inSpan('sign', {}, () => sign(unsigned)).catch((error: unknown) => {
        if (error instanceof SigningError) watch.failed(error)
        throw error
      })
      watch.worked()
      metrics.onSigned(provider, (performance.now() - startedMs) / 1000)
      return bytes
    },
    close: async () => {
      await watch.stop()
      close()
    },
  }
}

/** Knows whether messages can be signed: by those that are, and by a look where there are none. */
const watchSigning = (check: () => Promise<unknown>, logger: Logger) => {
  let problem: string | undefined
  let last: 'worked' | { readonly error: unknown } | undefined
  const outage = createOutageLog(logger, {
    level: 'error',
    away: 'messages cannot be signed: what is to be sent waits',
    back: 'messages can be signed again',
  })
  const look = createJob({
    name: 'signing',
    everyMs: lookEveryMs,
    run: async () => {
      const seen = last
      last = undefined
      try {
        if (typeof seen === 'object') throw seen.error
        if (seen === undefined) await check()
        problem = undefined
        outage.worked()
      } catch (error) {
        problem = error instanceof Error ? error.message : 'no signature'
        outage.failed(error)
      }
    },
  })
  return {
    problem: () => problem,
    start: () => void look.start(),
    stop: look.stop,
    worked: (): void => {
      last = 'worked'
      if (problem !== undefined) look.kick()
    },
    failed: (error: unknown): void => {
      last = { error }
      if (problem === undefined) look.kick()
    },
  }
}
