import { type DrawTokens, sharedOrOwn } from '#src/platform/http/index.ts'
import {
  inSpan,
  type Logger,
  latencyBucketsSeconds,
  type Metrics,
} from '#src/platform/observe/index.ts'
import { withoutSlashes } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import type { Channel } from '../messages/index.ts'
import type { InterfaceSettings } from './config.ts'
import { InterfaceError, TooManyStreamsError } from './errors.ts'
import { exchange } from './exchange.ts'
import { createHold } from './hold.ts'
import { createPacing } from './pacing.ts'
import { createPatience } from './patience.ts'
import { problemOf } from './problem.ts'
import { pay, sendMessages } from './send.ts'
import { channelStreamsMax, openStream } from './streams.ts'
import type { InterfaceClient, SendOptions, SendOutcome } from './types.ts'

export type InterfaceDeps = {
  /** The institution's own. */
  readonly ispb: string
  readonly urls: Readonly<Partial<Record<Channel, string | undefined>>>
  /** Client certificate and authorities; undefined for plain connections. */
  readonly tls: KeyMaterial | undefined
  readonly settings: InterfaceSettings
  readonly logger: Logger
  readonly metrics: Metrics
  /** The tokens that all processes share; undefined without a database. */
  readonly drawTokens: DrawTokens | undefined
  /** Milliseconds since 1970; tests set it, otherwise it is the system's clock. */
  readonly now?: () => number
  /** After how long a hanging read is asked again beside the first; tests set it. */
  readonly readAgainMs?: number
}

/** While the database is away each process counts alone. */
const drawFrom = ({ drawTokens, logger, now }: InterfaceDeps): DrawTokens =>
  sharedOrOwn({
    shared: () => drawTokens,
    nowMs: now ?? (() => performance.now()),
    onFailure: (err) => logger.warn({ err }, 'what may be sent is counted by this process alone'),
  })

const secondMs = 1_000
const streamsFullMs = 1_000
const names: Readonly<Record<Channel, string>> = { PRIMARY: 'primary', SECONDARY: 'secondary' }

/** A client of the central bank's message interface (Manual das Interfaces de Comunicação). */
export const createInterfaceClient = (deps: InterfaceDeps): InterfaceClient => {
  const { settings, ispb, tls, urls } = deps
  const channels = (['PRIMARY', 'SECONDARY'] as const).filter((one) => urls[one] !== undefined)
  const now = deps.now ?? Date.now
  const pacing = settings.pacingEnabled
    ? createPacing({ ispb, share: settings.pacingShare, draw: drawFrom(deps), now })
    : undefined
  const streams: Record<Channel, number> = { PRIMARY: 0, SECONDARY: 0 }
  const holds = { PRIMARY: createHold(), SECONDARY: createHold() }
  const pullMs = settings.pullTimeoutSeconds * secondMs
  const patienceOf = () => createPatience(pullMs, deps.readAgainMs)
  const patiences = { PRIMARY: patienceOf(), SECONDARY: patienceOf() }
  const { observe, told } = createObserver(deps)

  const baseOf = (channel: Channel): string => {
    const url = urls[channel]
    if (url === undefined) throw new InterfaceError(`the channel ${channel} is not configured`)
    return withoutSlashes(url)
  }

  return {
    channels,
    send: (channel, messages, { signal, links, ...options } = {}) => {
      const sendDeps = {
        url: `${baseOf(channel)}/api/v1/in/${ispb}/msgs`,
        channel,
        tls,
        pacing,
        hold: holds[channel],
        isGzip: settings.gzipPrimary,
        timeoutMs: settings.sendTimeoutSeconds * secondMs,
        attemptsMax: settings.sendAttemptsMax,
        ...options,
        onRepeat: (attempt: number, reason: string) =>
          deps.logger.warn(
            { channel, messages: messages.length, attempt, reason },
            'a request with messages has no clear answer: the same is sent again',
          ),
      }
      const sending = { channel, count: messages.length, links }
      return observe(sending, () => sendMessages(sendDeps, messages, signal))
    },
    pay: async (channel, messages, comesAgain) => {
      const startedMs = performance.now()
      const turnedAway = await pay({ channel, pacing, hold: holds[channel] }, messages, comesAgain)
      if (turnedAway !== undefined) {
        const sending = { channel, count: messages.length }
        told(sending, turnedAway, performance.now() - startedMs)
      }
      return turnedAway
    },
    admit: async (channel, line, costs) => {
      if (holds[channel].leftMs() > 0) return 0
      return pacing?.admit(channel, line, costs) ?? costs.length
    },
    room: async (channel, line) => {
      if (holds[channel].leftMs() > 0) return 0
      return pacing?.room(channel, line) ?? Infinity
    },
    openStream: async (channel, signal) => {
      if (streams[channel] >= channelStreamsMax) throw new TooManyStreamsError(streamsFullMs)
      streams[channel]++
      const onEnd = (): void => {
        streams[channel]--
      }
      const startUrl = `${baseOf(channel)}/api/v1/out/${ispb}/stream/start`
      const patience = patiences[channel]
      try {
        return await openStream({ startUrl, tls, patience, onEnd }, signal)
      } catch (error) {
        onEnd()
        throw error
      }
    },
    catalogue: async (direction, only) => {
      let last: unknown = new InterfaceError('no channel is configured')
      for (const channel of only === undefined ? channels : [only]) {
        try {
          return await readCatalogue(`${baseOf(channel)}/api/v1/${direction}/catalog`, deps)
        } catch (error) {
          last = error
        }
      }
      throw last
    },
    close: async () => tls?.stop(),
  }
}

/** @throws InterfaceError */
const readCatalogue = async (
  url: string,
  { settings, tls }: InterfaceDeps,
): Promise<Uint8Array> => {
  const timeoutMs = settings.sendTimeoutSeconds * secondMs
  const { status, body } = await exchange(
    { method: 'GET', url, accept: 'application/xml', timeoutMs },
    tls,
  )
  if (status === 200) return body
  throw new InterfaceError(`catalogue: status ${status}`, { status, problem: problemOf(body) })
}

type Sending = { readonly channel: Channel; readonly count: number }

const createObserver = ({ metrics, logger }: InterfaceDeps) => {
  const requests = metrics.counter(
    'trilho_spi_send_requests_total',
    'Requests with messages to the message interface, by what became of them.',
    ['channel', 'outcome'],
  )
  const seconds = metrics.histogram(
    'trilho_spi_send_request_seconds',
    'Time of a request with messages, with its repetitions.',
    ['channel'],
    latencyBucketsSeconds,
  )
  const told = ({ channel, count }: Sending, outcome: SendOutcome, durationMs: number): void => {
    requests.inc({ channel: names[channel], outcome: outcome.kind })
    seconds.observe({ channel: names[channel] }, durationMs / secondMs)
    if (outcome.kind === 'accepted') return
    const about = outcome.kind === 'refused' ? outcome.problem.type : outcome.reason
    logger.warn(
      { channel, messages: count, outcome: outcome.kind, about, duration_ms: durationMs },
      'messages were not accepted',
    )
  }
  const observe = async (
    { channel, count, links }: Sending & Pick<SendOptions, 'links'>,
    send: () => Promise<SendOutcome>,
  ): Promise<SendOutcome> => {
    const startedMs = performance.now()
    const attributes = {
      'trilho.spi.channel': names[channel],
      'messaging.batch.message_count': count,
    }
    const options = {
      kind: 'client',
      attributes,
      ...(links === undefined ? {} : { links }),
    } as const
    const outcome = await inSpan('spi send', options, async (span) => {
      const result = await send()
      span.set({ 'trilho.spi.outcome': result.kind })
      if (result.kind !== 'accepted') span.fail(result.kind)
      return result
    })
    told({ channel, count }, outcome, performance.now() - startedMs)
    return outcome
  }
  return { observe, told }
}
