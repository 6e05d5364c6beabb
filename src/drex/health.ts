import { type HealthCheck, roundTrip } from '#src/platform/http/index.ts'
import type { Chain } from './chains.ts'
import type { NetworkId } from './config.ts'

/** The health of each network: what can be done on it now, and what waits for a person. */
export const healthOf = (
  chains: ReadonlyMap<NetworkId, Chain>,
  canOpenKeys: boolean,
): HealthCheck => {
  const states = [...chains].map(
    ([id, chain]) => [id, chain.engine?.state().status ?? 'off'] as const,
  )
  const isDown = states.some(([, status]) => status === 'unreachable' || status === 'wrong_network')
  const still = [...chains].flatMap(([id, { engine }]) => {
    const seconds = engine?.stalledSeconds()
    return seconds === undefined ? [] : [`${id} has made no new block for ${seconds} s`]
  })
  const held = [...chains].flatMap(([id, { engine }]) => {
    const { count, untold } = engine?.held() ?? { count: 0, untold: 0 }
    const why =
      untold === 0 ? '' : `, ${untold} because the nodes do not tell what the wallet has sent`
    return count === 0 ? [] : [`${count} held on ${id}${why}: see GET /v1/drex/held`]
  })
  const unconfirmed = [...chains].flatMap(([id, { engine }]) =>
    engine?.isUnconfirmed() === true ? [`too few nodes of ${id} tell receipts: ends wait`] : [],
  )
  const reasons = [...still, ...unconfirmed, ...held]
  // An unreachable or standing chain does not make the process unready: accepted requests wait for it.
  return {
    status: isDown || reasons.length > 0 || !canOpenKeys ? 'degraded' : 'ok',
    ready: true,
    ...(reasons.length > 0 ? { reason: reasons.join(', ') } : {}),
    detail: {
      ...Object.fromEntries(
        states.map(([id, status]) => [
          id,
          { status, round_trip_ms: roundTrip(chains.get(id)?.rpc.roundTripMs()) },
        ]),
      ),
      ...(canOpenKeys ? {} : { wallet_keys: 'sealed with another master key' }),
    },
  }
}
