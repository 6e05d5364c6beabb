/**
 * Compares the balances of wallets with the limits that their owners set, and tells once of each that is below. One
 * process of a fleet looks at a network. What a node does not answer is not judged.
 */
import { createJob, eachAlone, type Job, type Round } from '#src/platform/jobs/index.ts'
import { decimalsMax, formatUnits, unitsOf } from '../domain.ts'
import { abbreviateAddress } from '../evm/address.ts'
import { type Hex, wordLength } from '../evm/hex.ts'
import { encodeBalanceOf } from '../evm/token-call.ts'
import type { FollowerContext } from '../ledger/following.ts'
import type { Network } from '../networks.ts'
import { RpcFailure } from '../rpc/errors.ts'
import { toldIn } from '../rpc/exchange.ts'
import * as store from './low-store.ts'
import { comparable } from './policy.ts'

export type BalanceWatchContext = Pick<
  FollowerContext,
  'network' | 'rpc' | 'sql' | 'logger' | 'emitEvents'
> & {
  /** @returns the token's decimals; undefined if it has never told any */
  readonly decimalsOf: (token: Hex) => Promise<number | undefined>
}

const leaseMs = 10_000
const everyMinMs = 100
const blocksPerLook = 4
const pageMax = 200
/** The coin of every network that is known here has so many. */
const coinDecimals = 18

export const createBalanceWatch = (context: BalanceWatchContext): Pick<Job, 'start' | 'stop'> => {
  const { network, sql, logger } = context
  return createJob({
    name: `balances of ${network.id}`,
    everyMs: Math.max(everyMinMs, network.blockTimeMs * blocksPerLook),
    fleet: { sql, leaseMs },
    logger,
    run: (round) => look(context, round),
  })
}

const look = async (context: BalanceWatchContext, round: Round): Promise<void> => {
  const { network, sql } = context
  const decimals = await context.decimalsOf(network.token)
  const environment = network.environment === 'production' ? 'live' : 'test'
  let afterId = ''
  while (!round.signal.aborted) {
    const page = await store.watchedWallets(sql, environment, afterId, pageMax)
    const last = page.at(-1)
    if (last === undefined) return
    await judge(
      context,
      page.flatMap((wallet) => questionsOf(network, wallet, decimals)),
      round,
    )
    afterId = last.id
    round.advance()
  }
}

type Question = store.LowBalance & {
  readonly wallet: store.WatchedWallet
  readonly below: string
  readonly decimals: number
}

const questionsOf = (
  { id: network, gasPolicy }: Network,
  wallet: store.WatchedWallet,
  decimals: number | undefined,
): readonly Question[] => {
  const { balance_below, gas_below } = wallet.alerts
  const about = { walletId: wallet.id, network, wallet }
  const questions: Question[] = []
  if (balance_below !== undefined && decimals !== undefined) {
    questions.push({ ...about, asset: 'currency', below: balance_below, decimals })
  }
  if (gas_below !== undefined && gasPolicy !== 'zero') {
    questions.push({ ...about, asset: 'gas', below: gas_below, decimals: coinDecimals })
  }
  return questions
}

const judge = async (
  context: BalanceWatchContext,
  questions: readonly Question[],
  round: Round,
): Promise<void> => {
  const { network, sql, logger } = context
  if (questions.length === 0) return
  const balances = await balancesOf(context, questions)
  const told = await store.lowOf(
    sql,
    network.id,
    questions.map(({ walletId }) => walletId),
  )
  const judgeOne = async ([i, question]: readonly [number, Question]): Promise<void> => {
    const balance = balances[i]
    if (balance === undefined) return
    const { walletId, asset, below, decimals } = question
    const isLow = comparable(balance, decimals) < (unitsOf(below, decimalsMax) ?? 0n)
    const wasLow = told.some((each) => each.walletId === walletId && each.asset === asset)
    if (isLow && !wasLow) await tell(context, question, balance)
    if (!isLow && wasLow) await store.beEnough(sql, question)
  }
  await eachAlone(questions.entries(), judgeOne, {
    round,
    logger,
    idsOf: ([, { walletId, asset }]) => ({ network: network.id, wallet: walletId, asset }),
  })
}

/** In the order of the questions; undefined where no node tells it. */
const balancesOf = async (
  { network, rpc }: BalanceWatchContext,
  questions: readonly Question[],
): Promise<readonly (bigint | undefined)[]> => {
  const coins = questions.filter(({ asset }) => asset === 'gas')
  const currencies = questions.filter(({ asset }) => asset === 'currency')
  const [ofCoins, ofCurrencies] = await Promise.all([
    rpc
      .batch(
        coins.map(({ wallet }) => ({
          method: 'eth_getBalance',
          params: [wallet.address, 'latest'],
        })),
      )
      .catch(none),
    rpc
      .batch(
        currencies.map(({ wallet }) => ({
          method: 'eth_call',
          params: [{ to: network.token, data: encodeBalanceOf(wallet.address) }, 'latest'],
        })),
      )
      .catch(none),
  ])
  const balances = new Map<Question, bigint>()
  for (const [i, question] of coins.entries()) {
    const balance = toldIn(ofCoins[i])
    if (balance !== undefined) balances.set(question, balance)
  }
  for (const [i, question] of currencies.entries()) {
    const word = toldIn(ofCurrencies[i])
    if (word?.length === wordLength) balances.set(question, BigInt(word))
  }
  return questions.map((question) => balances.get(question))
}

/** The engine tells of a network that does not answer. */
const none = (error: unknown): readonly never[] => {
  if (error instanceof RpcFailure) return []
  throw error
}

const tell = async (
  { network, sql, emitEvents }: BalanceWatchContext,
  question: Question,
  balance: bigint,
): Promise<void> => {
  const { asset, below, decimals, wallet } = question
  await sql.begin(async (tx) => {
    if (!(await store.beLow(tx, question, wallet.alerts))) return
    const data = {
      wallet_id: wallet.id,
      wallet: abbreviateAddress(wallet.address),
      network: network.id,
      asset,
      balance: formatUnits(balance, decimals),
      below,
    }
    await emitEvents(tx, [
      { type: 'drex.wallet.balance_low', subject: wallet.id, account: wallet.account, data },
    ])
  })
}
