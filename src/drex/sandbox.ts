/** Currency for trials: on sandbox networks, whoever asks gets some. */
import type { Client } from '#src/platform/database/index.ts'
import { ApiError, type Caller, httpErrors } from '#src/platform/http/index.ts'
import { type Chain, reaching } from './chains.ts'
import type { NetworkId } from './config.ts'
import { simulateCall } from './contracts/simulation.ts'
import { type TrackedRow, trackedById } from './contracts/store.ts'
import { begun, type Creation, type ServiceDeps, termsOf } from './creation.ts'
import { isFinal } from './domain.ts'
import { insertTransactions } from './engine/store.ts'
import { drexErrors } from './errors.ts'
import type { Hex } from './evm/hex.ts'
import { encodeAuthorizedAccounts, encodeEnableAccount, encodeMint } from './evm/token-call.ts'
import { newId } from './ids.ts'
import { sagaOf } from './sagas.ts'
import type { Wallets } from './wallets/service.ts'

type FundingRequest = {
  /** A wallet, or a contract that is to hold currency. */
  readonly wallet: Hex
  /** A decimal of the currency; undefined admits the account and issues nothing. */
  readonly amount: string | undefined
  readonly network: NetworkId | undefined
}

export type Funding = {
  readonly wallet: Hex
  readonly amount: string | undefined
  readonly network: NetworkId
  readonly token: Hex
  /** The last transaction of it; undefined if there was nothing to do. */
  readonly last: TrackedRow | undefined
}

/** The answer waits this long for the end, so that the next request finds the money there. */
const endWaitMs = 5_000
const endPollMs = 20

export const createSandbox = (deps: ServiceDeps) => ({
  /** Admits an account to the currency, and issues to it. */
  async fund(request: FundingRequest, caller: Caller): Promise<Creation<Funding>> {
    const { sql, chains, wallets, tokens } = deps
    const chain = chains.require(request.network, caller.environment)
    const { id: network, environment, token, issuer } = chain.network
    if (environment !== 'sandbox') {
      throw new ApiError(httpErrors.forbidden, `${network} is no sandbox: nobody is funded there.`)
    }
    const { wallet, amount } = request
    const units =
      amount === undefined ? undefined : await tokens.unitsOf(chain, token, amount, 'amount')
    const calls = [
      ...((await needsAdmission(chain, wallet)) ? [encodeEnableAccount(wallet)] : []),
      ...(units === undefined ? [] : [encodeMint(wallet, units)]),
    ]
    const funding = { wallet, amount, network, token }
    const [first] = calls
    if (first === undefined) return { write: async () => ({ ...funding, last: undefined }) }
    const sender =
      issuer === undefined
        ? (await wallets.deployer(caller)).address
        : await requireActive(wallets, issuer)
    await simulateCall(chain, { from: sender, to: token, data: first }, [])
    const steps = sagaOf(
      calls.map((data) => ({ kind: 'call', sender, recipient: token, data })),
      termsOf(deps, caller, newId('fnd'), network),
    )
    const lastId = steps.at(-1)?.id ?? ''
    return begun(
      chain,
      async (tx) => {
        await insertTransactions(tx, steps)
        return { ...funding, last: await trackedById(tx, lastId) }
      },
      async () => ({ ...funding, last: await ended(sql, lastId) }),
    )
  },
})

export type Sandbox = ReturnType<typeof createSandbox>

/** The issuer may belong to another account; but if it does not sign, the transaction waits until it expires. */
const requireActive = async (wallets: Wallets, issuer: Hex): Promise<Hex> => {
  const wallet = await wallets.find(issuer)
  if (wallet?.status === 'active') return issuer
  const message = 'The wallet that issues on this network signs nothing now.'
  throw new ApiError(drexErrors.wallet_disabled, message)
}

const needsAdmission = async (chain: Chain, account: Hex): Promise<boolean> => {
  const { isRealDigital, token } = chain.network
  if (!isRealDigital) return false
  const call = { to: token, data: encodeAuthorizedAccounts(account) }
  return !/[1-9a-f]/.test(
    (await reaching(chain, () => chain.rpc.call('eth_call', call, 'latest'))).slice(2),
  )
}

const ended = async (sql: Client, id: string): Promise<TrackedRow | undefined> => {
  const deadline = performance.now() + endWaitMs
  for (;;) {
    const row = await trackedById(sql, id)
    if (row === undefined || isFinal(row.status) || performance.now() > deadline) return row
    await Bun.sleep(endPollMs)
  }
}
