import type { Broker, RetryPolicy } from '#src/platform/broker/index.ts'
import type { HealthCheck } from '#src/platform/http/index.ts'
import { createJob, createLoop, type WatchedLoop } from '#src/platform/jobs/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import type { InterfaceClient } from '../../link/types.ts'
import type { Channel } from '../../messages/index.ts'
import type { PullSettings } from './config.ts'
import { createPullMetrics } from './metrics.ts'
import { runStream } from './stream.ts'

export { pullSettings } from './config.ts'
export { inboundHeaders, inboundTopics, inboundXmlOf } from './message.ts'

export type PullDeps = {
  readonly client: InterfaceClient
  readonly broker: Pick<Broker, 'publish'>
  readonly settings: PullSettings
  /** False: the process takes no requests, which are answered while the message interface is away. */
  readonly takesRequests?: boolean
  readonly logger: Logger
  readonly metrics: Metrics
  /** Tests set these; otherwise the defaults apply. */
  readonly times?: Partial<PullTimes>
}

export type PullTimes = {
  readonly retry: RetryPolicy
  /** How long a running long poll may go on after the drain began; then we give it up. */
  readonly drainMs: number
  /** A channel that has answered no request for this long is down. */
  readonly silentMs: number
}

/** The interface holds a request for some seconds before it answers 204. */
export const pullTimes: PullTimes = {
  retry: { attemptsMax: Number.POSITIVE_INFINITY, backoffFirstMs: 200, backoffMaxMs: 2_000 },
  drainMs: 8_000,
  silentMs: 40_000,
}

type Link = {
  openStreams: number
  answeredAtMs: number
  isKnownSilent: boolean
  readonly watched: WatchedLoop
}

/** INBOUND_PULL: fetches received messages over read streams of every channel and publishes them. */
export const createPull = (deps: PullDeps): Feature => {
  const { client, broker, settings, takesRequests = true, logger } = deps
  const times = { ...pullTimes, ...deps.times }
  const { channels } = client
  const links = createLinks({ channels, silentMs: times.silentMs, takesRequests, logger })
  const metrics = createPullMetrics(deps.metrics, channels, {
    linkUp: links.isUp,
    openStreams: (channel) => links.of(channel).openStreams,
    silentSeconds: (channel) => links.silence(channel) / 1000,
  })
  const draining = new AbortController()
  const giveUp = new AbortController()
  let running: readonly Promise<void>[] = []
  const watchdog = createJob({
    name: 'silence of the channels',
    everyMs: times.silentMs / 4,
    logger,
    run: async () => links.look(),
  })

  const run = (channel: Channel): Promise<void> => {
    const link = links.of(channel)
    return runStream({
      client,
      channel,
      publish: (messages) => broker.publish(messages),
      watched: link.watched,
      retry: times.retry,
      logger,
      draining: draining.signal,
      giveUp: giveUp.signal,
      onOpen: () => {
        link.openStreams++
      },
      onClosed: () => {
        link.openStreams--
      },
      onAnswer: (messages) => {
        link.answeredAtMs = performance.now()
        if (messages > 0) metrics.onBatch(channel, messages)
      },
      onFailure: (kind) => metrics.onFailure(channel, kind),
      onLetter: () => metrics.onLetter(channel),
    })
  }
  const drain = async (): Promise<void> => {
    draining.abort()
    await watchdog.stop()
    const timer = setTimeout(() => giveUp.abort(), times.drainMs)
    await Promise.all(running)
    clearTimeout(timer)
  }
  return {
    name: 'pull',
    start: () => {
      links.begin()
      running = channels.flatMap((channel) =>
        Array.from({ length: settings.streams }, () => run(channel)),
      )
      void watchdog.start()
    },
    drain,
    stop: drain,
    health: links.health,
    loops: () => channels.map((channel) => links.of(channel).watched),
  }
}

const newLink = (channel: Channel): Link => ({
  openStreams: 0,
  answeredAtMs: 0,
  isKnownSilent: false,
  watched: createLoop(`received messages of ${channel}`),
})

type LinksOptions = Pick<PullDeps, 'logger'> & {
  readonly takesRequests: boolean
  readonly channels: readonly Channel[]
  readonly silentMs: number
}

const createLinks = ({ channels, silentMs, takesRequests, logger }: LinksOptions) => {
  const links = new Map<Channel, Link>()
  const of = (channel: Channel): Link => {
    const link = links.get(channel) ?? newLink(channel)
    links.set(channel, link)
    return link
  }
  /** Milliseconds since the last read that succeeded. */
  const silence = (channel: Channel): number => performance.now() - of(channel).answeredAtMs
  const isUp = (channel: Channel): boolean => silence(channel) < silentMs
  return {
    of,
    isUp,
    silence,
    begin: (): void => {
      // Each channel has the full time for its first answer.
      for (const channel of channels) of(channel).answeredAtMs = performance.now()
    },
    /** Logs the channels that have fallen silent or answer again. */
    look: (): void => {
      for (const channel of channels) {
        const link = of(channel)
        const isSilent = !isUp(channel)
        if (isSilent === link.isKnownSilent) continue
        link.isKnownSilent = isSilent
        const fields = { channel, open_streams: link.openStreams }
        if (isSilent) logger.error(fields, 'no read of the channel has succeeded for long')
        else logger.info(fields, 'the channel answers again')
      }
    },
    health: (): HealthCheck => {
      const up = channels.filter(isUp).length
      const detail = Object.fromEntries(
        channels.map((channel) => [
          channel.toLowerCase(),
          {
            up: isUp(channel),
            open_streams: of(channel).openStreams,
            silent_seconds: Math.round(silence(channel) / 1000),
          },
        ]),
      )
      if (up === channels.length) return { status: 'ok', ready: true, detail }
      const reason = reasonOf(channels.filter((channel) => !isUp(channel)))
      // Requests are answered without the interface, so those who send them need not go elsewhere.
      if (up > 0 || takesRequests) {
        return { status: up > 0 ? 'degraded' : 'down', ready: true, reason, detail }
      }
      return { status: 'down', ready: false, reason, detail }
    },
  }
}

const reasonOf = (silent: readonly Channel[]): string =>
  `no read of ${silent.join(' and ')} has succeeded for long`
