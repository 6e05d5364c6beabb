import { getJson, type Loaded, Refusal, useLoaded } from './api.ts'
import { count, duration, secondOf } from './format.ts'
import { whenChanged } from './live.ts'
import { overviewWords as w } from './overview-words.ts'
import { statusText } from './state.tsx'
import { fill, words } from './words.ts'

type Check = { readonly status: string; readonly reason?: string; readonly detail?: unknown }
export type Health = {
  readonly status: string
  readonly version: string
  /** Only keys with `ops:read` get it, and nobody does while the database cannot say which key asks. */
  readonly checks?: Readonly<Record<string, Check>>
}
type WholeHealth = Health & Required<Pick<Health, 'checks'>>

/** Round trips and silences change even if nothing happens. */
const everyMs = 30_000

export const useHealth = (): Loaded<WholeHealth> =>
  useLoaded(
    '/health',
    async (purpose) => {
      const health = await getJson<Health>('/health', purpose)
      const { checks } = health
      if (checks === undefined) throw new Refusal(503, w.untold, '')
      return { ...health, checks }
    },
    whenChanged('/health', everyMs),
  )

type Channel = {
  readonly up?: boolean
  /** True: it answers, but does not let us in. */
  readonly access_refused?: boolean
  readonly round_trip_ms?: number | null
}
type Chain = { readonly status?: string; readonly round_trip_ms?: number | null }
type Pull = { readonly silent_seconds?: number }
export type Network = {
  readonly connections_up?: number
  readonly connections_max?: number
  readonly in_flight?: number
  readonly in_flight_max?: number
  readonly round_trip_ms?: number | null
  readonly last_echo_at?: string | null
}

/** A counterparty that payments go to and come from, as this process reaches it. */
export type Party = {
  readonly name: string
  readonly isUp: boolean
  readonly text: string
  /** True: it refuses us access; what waits goes on once our certificate or admission is mended. */
  readonly isRefused?: boolean
}

const channelNames: Readonly<Record<string, string>> = {
  primary: w.primary,
  secondary: w.secondary,
}

/** The configured channels of the central bank, card networks and chains. */
export const counterparties = (checks: WholeHealth['checks']): readonly Party[] => {
  const pulls = new Map(detailsOf<Pull>(checks['pull']))
  const channels = detailsOf<Channel>(checks['outbound']).map(
    ([name, { up, access_refused: isRefused = false, round_trip_ms: ms }]) => {
      const silence = pulls.get(name)?.silent_seconds
      const since = silence === undefined ? '' : fill(w.silent, { time: duration(silence * 1_000) })
      return {
        name: `SPI ${channelNames[name] ?? name}`,
        isUp: up === true && !isRefused,
        isRefused,
        text: textOf([...(isRefused ? [w.refusesUs] : []), ...roundTripOf(ms), since]),
      }
    },
  )
  const networks = detailsOf<Network>(checks['card_networks']).map(([name, found]) => ({
    name,
    isUp: (found.connections_up ?? 0) > 0,
    text: networkText(found),
  }))
  const chains = detailsOf<Chain>(checks['drex']).flatMap(
    ([name, { status, round_trip_ms: ms }]) =>
      status === undefined ? [] : [{ name, ...chainStanding(status, ms) }],
  )
  return [...channels, ...networks, ...chains]
}

const chainStanding = (status: string, ms: number | null | undefined) =>
  status === 'running'
    ? { isUp: true, text: textOf(roundTripOf(ms)) }
    : { isUp: false, text: statusText(status) }

const textOf = (parts: readonly string[]): string => parts.filter((one) => one !== '').join(' · ')

/** Empty before its first answer. */
const roundTripOf = (ms: number | null | undefined): readonly string[] =>
  typeof ms === 'number' ? [fill(w.roundTrip, { time: ms < 1 ? '< 1 ms' : duration(ms) })] : []

const networkText = ({
  connections_up: up = 0,
  connections_max: max = 0,
  in_flight: open = 0,
  in_flight_max: openMax = 0,
  last_echo_at: echo,
  round_trip_ms: ms,
}: Network): string =>
  textOf([
    `${count(up)}/${count(max)}`,
    `${count(open)}/${count(openMax)} ${words.inFlight}`,
    ...(echo ? [fill(w.echo, { time: secondOf(echo) })] : []),
    ...roundTripOf(ms),
  ])

export const detailsOf = <T>(check: Check | undefined): [string, T][] =>
  Object.entries((check?.detail ?? {}) as Readonly<Record<string, T>>)
