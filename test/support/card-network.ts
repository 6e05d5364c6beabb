import { CardMessage, dialects, framings, type GatewayMti } from '#codecs/iso8583'
import { createLogger } from '#src/platform/observe/index.ts'
import { createNetwork, type Network, type NetworkOptions } from '../../src/cards/networks/index.ts'
import {
  type CardNetwork,
  type CardNetworkOptions,
  createCardNetwork,
  testTokens,
} from '../../src/simulators/card-network/index.ts'
import { freePort } from './free-port.ts'

const waitMs = 40_000

/** Waits until `test` holds, and fails where that never comes. */
export const until = async (test: () => boolean, what = 'the condition'): Promise<void> => {
  const deadline = performance.now() + waitMs
  while (!test()) {
    if (performance.now() > deadline) throw new Error(`${what} did not come true in time`)
    await Bun.sleep(2)
  }
}

export const stanOf = (number: number): string => String(number).padStart(6, '0')

/** A payment message like the gateway's; the RRN follows from the STAN. */
export const payment = (
  number: number,
  change: Partial<CardMessage> & { readonly token?: string } = {},
  mti: GatewayMti = '0100',
): CardMessage => {
  const { token = 'tok_visa_approved', ...fields } = change
  const message = new CardMessage()
  message.mti = mti
  message.pan = testTokens.get(token)?.slice()
  message.processingCode = '000000'
  message.amount = '000000010000'
  message.transmissionDateTime = '1120120000'
  message.stan = stanOf(number)
  message.rrn = `632512${stanOf(number)}`
  message.terminalId = 'TERM01'
  message.merchantId = 'MERCHANT000001'
  message.currency = '986'
  return Object.assign(message, fields)
}

export const quietLogger = createLogger({ level: 'error', sink: { write: () => undefined } })

export const networkOptions = (
  port: number,
  change: Partial<NetworkOptions> = {},
): NetworkOptions => ({
  name: 'neta',
  brand: 'visa',
  host: '127.0.0.1',
  port,
  timeoutMs: 1_000,
  dialect: dialects['ascii']!,
  framing: framings['binary-2'],
  poolSize: 1,
  window: 256,
  signOn: false,
  echoMs: 30_000,
  reconnect: { backoffFirstMs: 10, backoffMaxMs: 50 },
  logger: quietLogger,
  ...change,
})

export type NetworkRig = AsyncDisposable & {
  readonly simulator: CardNetwork
  readonly network: Network
}

/** A simulated network and a pool that is connected to it. */
export const createNetworkRig = async (
  options: Partial<NetworkOptions> = {},
  simulated: Partial<CardNetworkOptions> = {},
): Promise<NetworkRig> => {
  const { dialect = dialects['ascii']!, framing = framings['binary-2'] } = options
  const simulator = createCardNetwork({
    dialect,
    framing,
    port: freePort(),
    lateMs: 100,
    ...simulated,
  })
  simulator.start()
  const network = createNetwork(networkOptions(simulator.port(), { dialect, framing, ...options }))
  network.start()
  const { connectionsMax } = network.health()
  await until(() => network.health().connectionsUp === connectionsMax, 'the pool being up')
  return {
    simulator,
    network,
    [Symbol.asyncDispose]: async () => {
      await network.stop()
      simulator.stop()
    },
  }
}
