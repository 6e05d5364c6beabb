/** Simulates before anything is signed: what would fail, or move nothing, fails here and uses no nonce. */
import { type Hex, quantity } from '../evm/hex.ts'
import { type Asked, type Verdict, verdictOf } from '../permission.ts'
import type { RpcOutcome } from '../rpc/client.ts'
import { isRetryable, type RpcFailure, type RpcFailureKind } from '../rpc/errors.ts'
import { type RpcRequest, toldIn, transactionGasMax } from '../rpc/exchange.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import { type Again, againOnGround, onGround } from './ground.ts'
import { withoutIdle } from './idle.ts'
import { storeEnds } from './parts.ts'
import * as store from './store.ts'
import type { OpenTransaction, TransactionError, TransactionKind } from './transaction.ts'

export type Passed = { readonly transaction: OpenTransaction; readonly gasLimit: bigint }

type Refusal = {
  readonly transaction: OpenTransaction
  readonly error: TransactionError
  readonly again?: Again | undefined
}

const notPermitted: TransactionError = {
  code: 'NOT_PERMITTED',
  message: 'The network’s account rules do not permit this account to send to this contract.',
}

const noContract: TransactionError = {
  code: 'NO_CONTRACT',
  message: 'There is no contract at the address: the call would do nothing.',
}

const tooMuchGas: TransactionError = {
  code: 'SIMULATION_REVERTED',
  message: 'It needs more gas than a transaction is given.',
}

const tokenRefused: TransactionError = {
  code: 'TOKEN_REFUSED',
  message: 'The token answers that it would not do it.',
}

/**
 * Gas for the fixed calls of a transfer on networks where gas is free: far above their need, so no estimate is needed.
 * Undefined asks the node.
 */
const fixedGas = (kind: TransactionKind): bigint | undefined => {
  switch (kind) {
    case 'transfer':
    case 'approve':
    case 'revoke':
      return 150_000n
    case 'swap':
      return 500_000n
    case 'gap_fill':
      return 21_000n
    case 'deploy':
    case 'permit':
    case 'call':
    case 'propose':
    case 'accept':
    case 'allow':
    case 'disallow':
    case 'command':
    case 'pledge':
    case 'gas':
      return undefined
  }
}

/** Transfers and gas need nothing that another transaction makes, but money. */
const isStep = ({ transaction: { kind } }: Passed): boolean => kind !== 'transfer' && kind !== 'gas'

const isAnswer = (outcome: RpcOutcome): boolean =>
  'result' in outcome || !isRetryable(outcome.failure.kind)

/** Calls whose answer says whether the token does them: `true`, or nothing from tokens of the older kind. */
const answersTrue = (kind: TransactionKind): boolean =>
  kind === 'transfer' || kind === 'approve' || kind === 'revoke' || kind === 'allow'

/** The longest that a transaction is left alone whose own simulation came to no end. */
const hungMaxSeconds = 60
/** The longest where the node tells nothing now: once it does, all go on. */
const untoldMaxSeconds = 5

export type Simulator = (taken: readonly OpenTransaction[]) => Promise<readonly Passed[]>

export const createSimulator = (context: EngineContext): Simulator => {
  const { rpc, sql } = context
  return async (taken) => {
    const permitted = await permittedOf(context, await withoutIdle(context, taken))
    const gas = new Map(permitted.map((each) => [each.id, givenGas(context, each)]))
    const code = await codeOf(context, permitted)
    // Some nodes estimate with all the gas of a block, whatever they are given, and some say less of why it fails.
    const calls = await rpc.batch(permitted.map((each) => callOf(context, each)))
    const callOutcomes = new Map(permitted.map(({ id }, i) => [id, calls[i]!]))
    const estimated = permitted.filter(
      ({ id }) => gas.get(id) === undefined && 'result' in callOutcomes.get(id)!,
    )
    const estimates = await rpc.batch(estimated.map((each) => estimateOf(context, each)))
    const estimateOutcomes = new Map(estimated.map(({ id }, i) => [id, estimates[i]!]))
    // If others were answered, a call that hangs is at fault itself; if none was, the node is.
    const isAnswering = permitted.length === 1 || [...calls, ...estimates].some(isAnswer)
    const passed: Passed[] = []
    const later: string[] = []
    const untold: string[] = []
    const hung: string[] = []
    const refused: Refusal[] = []
    for (const transaction of permitted) {
      const { id } = transaction
      const judged = await judge(context, {
        transaction,
        code: code(transaction),
        call: callOutcomes.get(id)!,
        estimate: estimateOutcomes.get(id),
      })
      if (judged === 'later') later.push(id)
      else if (judged === 'untold' || (judged === 'hung' && !isAnswering)) untold.push(id)
      else if (judged === 'hung') hung.push(id)
      else if (typeof judged === 'object')
        refused.push({ transaction, error: judged, again: simulated(context, transaction) })
      else
        passed.push({
          transaction,
          gasLimit: gas.get(id) ?? withMargin(transaction.kind, judged ?? 0n),
        })
    }
    await refuseAll(context, refused)
    await store.defer(sql, later, store.retryMs)
    await store.deferLonger(sql, untold, untoldMaxSeconds)
    await store.deferLonger(sql, hung, hungMaxSeconds)
    const standing = new Set(await onGround(context, passed.filter(isStep)))
    return passed.filter((each) => !isStep(each) || standing.has(each))
  }
}

const givenGas = ({ network }: EngineContext, { kind }: OpenTransaction): bigint | undefined =>
  network.gasPolicy === 'zero' ? fixedGas(kind) : undefined

const callOf = (context: EngineContext, transaction: OpenTransaction): RpcRequest<'eth_call'> => ({
  method: 'eth_call',
  params: [paramsOf(context, transaction, givenGas(context, transaction)), 'latest'],
})

const estimateOf = (
  context: EngineContext,
  transaction: OpenTransaction,
): RpcRequest<'eth_estimateGas'> => ({
  method: 'eth_estimateGas',
  params: [paramsOf(context, transaction, undefined)],
})

const paramsOf = (
  { network }: EngineContext,
  { sender, recipient, data, value }: OpenTransaction,
  gas: bigint | undefined,
) => ({
  from: sender,
  ...(recipient === undefined ? {} : { to: recipient }),
  data,
  ...(value === 0n ? {} : { value: quantity(value) }),
  ...(network.gasPolicy === 'zero' ? { gasPrice: '0x0' } : {}),
  ...(gas === undefined ? {} : { gas: quantity(gas) }),
})

/** The simulation of one, for a node that is asked of what it stands on, too. */
const simulated = (context: EngineContext, transaction: OpenTransaction): Again => {
  const { recipient } = transaction
  const isEstimated = givenGas(context, transaction) === undefined
  return {
    requests: [
      ...(recipient === undefined ? [] : [codeAt(recipient)]),
      callOf(context, transaction),
      ...(isEstimated ? [estimateOf(context, transaction)] : []),
    ],
    isSo: async (answers) => {
      const [code, call, estimate] = recipient === undefined ? [undefined, ...answers] : answers
      const judged = await judge(context, {
        transaction,
        code: recipient === undefined || hasCode(code),
        call: call!,
        estimate,
      })
      return typeof judged === 'object'
    },
  }
}

/** Failures that say that the transaction would not succeed. All others say nothing about it. */
const isEnd: ReadonlySet<RpcFailureKind> = new Set([
  'reverted',
  'not_permitted',
  'insufficient_funds',
  'underpriced',
  'invalid_transaction',
])

const isAway: ReadonlySet<RpcFailureKind> = new Set(['unreachable', 'wrong_chain', 'rate_limited'])

/**
 * @returns the estimate, if there is one; `later` if nothing is known, `untold` if the node was asked and told nothing,
 * `hung` if the call itself may be why; the error of what would not succeed
 */
const judge = async (
  context: EngineContext,
  answers: {
    readonly transaction: OpenTransaction
    readonly code: boolean | undefined
    readonly call: RpcOutcome<Hex>
    readonly estimate: RpcOutcome<bigint> | undefined
  },
): Promise<bigint | undefined | 'later' | 'untold' | 'hung' | TransactionError> => {
  const { transaction, code, call, estimate } = answers
  for (const outcome of [call, estimate]) {
    if (outcome === undefined || 'result' in outcome) continue
    const { kind } = outcome.failure
    // An answer longer than we read counts as hung, too.
    if (kind === 'timed_out' || kind === 'too_large') return 'hung'
    if (isEnd.has(kind)) return refusal(context, outcome.failure)
    // The node did not look at the call. In all other cases it did: some clients report exhausted gas in odd words.
    return isAway.has(kind) ? 'later' : 'untold'
  }
  if (code === undefined) return 'later'
  // Coin goes to wallets, which have no code.
  if (!code && transaction.kind !== 'gas') return noContract
  if ('result' in call && answersTrue(transaction.kind)) {
    const { result } = call
    if (result !== '0x' && !/^0x0{63}1$/.test(result)) return tokenRefused
  }
  const gas = toldIn(estimate)
  return gas !== undefined && gas > transactionGasMax ? tooMuchGas : gas
}

/** The extra cost of setting three words of storage for the first time: 17 100 each (EIP-2929). */
const changedGas = 60_000n
/** Settling a delivery, with the tokens' own work: its command may be the second by the time it is mined. */
const settlingGas = 500_000n

/** Estimates are exact for the state that they saw; others' transactions may go before this one. */
const withMargin = (kind: TransactionKind, gas: bigint): bigint => {
  const margin = gas / 4n
  const enough = gas + (margin > changedGas ? margin : changedGas)
  if (kind === 'command' && enough < settlingGas) return settlingGas
  return enough > transactionGasMax ? transactionGasMax : enough
}

const refusal = async (context: EngineContext, failure: RpcFailure): Promise<TransactionError> => {
  switch (failure.kind) {
    case 'not_permitted':
      return { code: 'NOT_PERMITTED', message: 'The network does not permit this account.' }
    case 'insufficient_funds':
      return { code: 'INSUFFICIENT_FUNDS', message: 'The account cannot pay for gas or value.' }
    default: {
      const revert = await context.explainRevert(failure.data)
      return {
        code: 'SIMULATION_REVERTED',
        message: revert === undefined ? wordsOf(failure) : `The contract refuses: ${revert.name}.`,
        ...(revert === undefined ? {} : { revert }),
      }
    }
  }
}

const outOfGas = /out ?of ?gas|gas required exceeds/i

/** The same for every client, as far as they say the same. */
const wordsOf = ({ kind, message }: RpcFailure): string => {
  if (outOfGas.test(message)) return 'It uses up all the gas that a simulation has.'
  return kind === 'reverted' ? 'The contract refuses.' : message
}

/** Ends transactions that the network's account rules refuse, before any other question about them. */
const permittedOf = async (
  context: EngineContext,
  taken: readonly OpenTransaction[],
): Promise<readonly OpenTransaction[]> => {
  const verdicts = await context.permission.ask(taken.map(askedOf))
  const those = (wanted: Verdict) => taken.filter((_, i) => verdicts[i] === wanted)
  const unknown = those('unknown').map(({ id }) => id)
  await refuseAll(
    context,
    those('refused').map((transaction) => ({
      transaction,
      error: notPermitted,
      again: {
        requests: [context.permission.question(askedOf(transaction))],
        isSo: ([rules]) => rules !== undefined && verdictOf(rules) === 'refused',
      },
    })),
  )
  await store.deferLonger(context.sql, unknown, untoldMaxSeconds)
  return those('allowed')
}

const askedOf = ({ sender, recipient, data }: OpenTransaction): Asked => ({
  sender,
  target: recipient,
  payload: data,
})

export const insufficientFunds: TransactionError = {
  code: 'INSUFFICIENT_FUNDS',
  message: 'The wallet has not enough of the network’s coin to pay for the gas.',
}

/** While a wallet cannot pay for taking back an allowance, we try again after this time. */
const poorRetryMs = 60_000

const waitsForCoin = ({ transaction: { kind }, error }: Refusal): boolean =>
  error.code === 'INSUFFICIENT_FUNDS' && (kind === 'revoke' || kind === 'disallow')

/**
 * Ends transactions that have no nonce yet, as far as what was said of them is true of the chain as it stays. What takes
 * an allowance back is needed above all where the coin for what was to use it is gone: it waits for more.
 */
export const refuseAll = async (
  context: EngineContext,
  refusals: readonly Refusal[],
): Promise<void> => {
  const waiting = refusals.filter(waitsForCoin).map(({ transaction }) => transaction.id)
  await store.defer(context.sql, waiting, poorRetryMs, insufficientFunds)
  const ending = refusals.filter((each) => !waitsForCoin(each))
  const standing = await againOnGround(context, ending)
  await storeEnds(
    context,
    standing.map(({ transaction: { id }, error }) => ({ id, error })),
    endings.refuse,
  )
}

const knownCodeMax = 10_000

const codeAt = (address: Hex): RpcRequest<'eth_getCode'> => ({
  method: 'eth_getCode',
  params: [address, 'latest'],
})

/** @returns undefined if it is not told */
const hasCode = (outcome: RpcOutcome<Hex> | undefined): boolean | undefined => {
  const code = toldIn(outcome)
  return code && code !== '0x'
}

/** A call to an address without code succeeds and does nothing. Code that was seen is not asked for again. */
const codeOf = async (
  { knownCode, rpc }: EngineContext,
  transactions: readonly OpenTransaction[],
): Promise<(transaction: OpenTransaction) => boolean | undefined> => {
  const called = new Set<Hex>()
  for (const { recipient } of transactions) {
    if (recipient !== undefined && !knownCode.has(recipient)) called.add(recipient)
  }
  const addresses = [...called]
  const codes = await rpc.batch(addresses.map(codeAt))
  const found = new Map(addresses.map((address, i) => [address, hasCode(codes[i])]))
  for (const [address, isThere] of found)
    if (isThere && knownCode.size < knownCodeMax) knownCode.add(address)
  return ({ recipient }) => {
    if (recipient === undefined || knownCode.has(recipient)) return true
    return found.get(recipient)
  }
}
