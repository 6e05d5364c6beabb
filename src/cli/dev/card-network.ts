/** The card networks and the token vault of `dev`: in this process, on loopback. */
import type { Environment } from '#src/platform/config/index.ts'
import {
  callGateway,
  type Demo,
  type DemoGateway,
  type Feature,
} from '#src/platform/lifecycle/index.ts'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '#src/simulators/card-network/index.ts'
import { isSet } from './environment.ts'

export type DevCardNetworks = {
  /** Settings that make the gateway use them. */
  readonly env: Environment
  /** False: the user named networks or a vault. */
  readonly isOurs: boolean
  readonly stop: () => Promise<void>
}

/** Short, so that people need little patience to try the cards that get no answer. */
const timeoutSeconds = '5'
const theirs = ['CARDGW_NETA_HOST', 'CARDGW_NETB_HOST', 'CARDGW_NETWORKS_FILE', 'CARDGW_VAULT_URL']

/** Starts both networks and the vault, unless the user has set any of them. */
export const startDevCardNetworks = (given: Environment): DevCardNetworks => {
  if (theirs.some((name) => isSet(given, name))) {
    return { env: {}, isOurs: false, stop: async () => {} }
  }
  const [a, b] = [networkLike(given, 'CARDGW_NETA'), networkLike(given, 'CARDGW_NETB')]
  const vault = createTestVault({ key: testVaultKey })
  const network = (name: string, port: number) => ({
    [`${name}_HOST`]: '127.0.0.1',
    [`${name}_PORT`]: String(port),
    ...(isSet(given, `${name}_TIMEOUT`) ? {} : { [`${name}_TIMEOUT`]: timeoutSeconds }),
  })
  return {
    env: {
      ...network('CARDGW_NETA', a.port()),
      ...network('CARDGW_NETB', b.port()),
      CARDGW_VAULT_URL: vault.url,
      CARDGW_VAULT_TOKEN: testVaultKey,
    },
    isOurs: true,
    stop: async () => {
      a.stop()
      b.stop()
      await vault.stop()
    },
  }
}

/**
 * A network that speaks as the gateway's settings say; if they name no dialect or frame, a later check refuses them.
 */
const networkLike = (given: Environment, name: string): CardNetwork => {
  const dialect = findDialect(given[`${name}_DIALECT`] ?? '') ?? findDialect('ascii')
  const framing = findFraming(given[`${name}_FRAME`] ?? '') ?? findFraming('binary-2')
  if (dialect === undefined || framing === undefined) throw new Error('no dialect, no framing')
  const network = createCardNetwork({ dialect, framing })
  network.start()
  return network
}

/** An authorization, a capture of a part, and a void, as a merchant's system would make them. */
export async function* cardDemos(
  gateway: DemoGateway,
  { isOurs }: DevCardNetworks,
  features: readonly Feature[],
): AsyncGenerator<Demo> {
  const hasDatabase = features.some(({ name }) => name === 'database')
  if (!(isOurs && hasDatabase)) return
  const authorized = await post(gateway, 'authorize', 201, {
    card_token: 'tok_visa_approved',
    amount: 10_000,
    currency: 'BRL',
    merchant_id: 'MERCHANT000001',
    terminal_id: 'TERM01',
  })
  yield { title: 'A card payment of 100.00 is authorized', ...authorized }
  const { id } = JSON.parse(authorized.output) as { readonly id: string }
  const captured = await post(gateway, `${id}/capture`, 200, { amount: 6_000 })
  yield { title: 'A part of it, 60.00, is captured', ...captured }
  yield { title: 'All of it is taken back', ...(await post(gateway, `${id}/void`, 200)) }
}

const post = (
  { cardsUrl, apiKey }: DemoGateway,
  path: string,
  wanted: number,
  body?: object,
): Promise<Pick<Demo, 'command' | 'output'>> =>
  callGateway(apiKey, 'POST', `${cardsUrl}/v1/transactions/${path}`, body, wanted)
