import { join } from 'node:path'
import { type CardsRig, createCardsRig } from './cards-rig.ts'
import { createScriptedNetwork, type ScriptedNetwork } from './scripted-network.ts'
import { temporaryDirectory } from './temporary.ts'
import { until } from './until.ts'

export type StandIn = {
  readonly network: ScriptedNetwork
  readonly rig: CardsRig
  /** Has the network sign off or on, and waits until the gateway knows. */
  readonly away: (isAway: boolean) => Promise<void>
}

/** A gateway that decides for its network while that is away, up to 100.00. @param operations which it decides */
export const createStandIn = async (
  operations: readonly string[],
  timeoutMs?: number,
): Promise<StandIn> => {
  const network = createScriptedNetwork()
  const path = join(temporaryDirectory(), 'messages.json')
  await Bun.write(path, JSON.stringify({ advices: { operations, floor_limits: { BRL: 10_000 } } }))
  const environment = { CARDGW_NETA_MESSAGES_FILE: path, CARDGW_NETA_CONNECT_WAIT_MS: '0' }
  const times = timeoutMs === undefined ? {} : { timeoutMs }
  const rig = await createCardsRig({ networkA: network, environment, ...times })
  const isDown = () => rig.networks.byName('neta')?.health().connectionsUp === 0
  const away = async (isAway: boolean): Promise<void> => {
    network.ask(isAway ? '002' : '001')
    await until(() => isDown() === isAway)
  }
  return { network, rig, away }
}
