/** Decides what may be signed at which fee: within the limits, and as far as the sender's own coin pays for it. */
import type { Hex } from '../evm/hex.ts'
import { toldIn } from '../rpc/exchange.ts'
import type { EngineContext } from './context.ts'
import { currentFees, offerOf } from './fees.ts'
import { supplyGas } from './gas-supply.ts'
import * as lanes from './lane-store.ts'
import { idsOf, type Offer, sendersOf } from './sign.ts'
import { insufficientFunds, type Passed, refuseAll } from './simulate.ts'
import * as store from './store.ts'
import type { TransactionError } from './transaction.ts'

const feeRetryMs = 5_000

const feeTooHigh: TransactionError = {
  code: 'FEE_TOO_HIGH',
  message: 'The network asks for a higher fee than the settings allow; it waits for a lower one.',
}

/** @returns those that may be signed now; the others wait, or have failed, and say why */
export const afford = async (
  context: EngineContext,
  passed: readonly Passed[],
): Promise<readonly Offer[]> => {
  const { network, rpc, settings, sql } = context
  if (passed.length === 0) return []
  const asked = await currentFees(network.gasPolicy, rpc, settings.fees)
  const offers: Offer[] = []
  const tooHigh: string[] = []
  for (const each of passed) {
    const fees = offerOf(asked, each.gasLimit, settings.fees)
    if (fees === undefined) tooHigh.push(each.transaction.id)
    else offers.push({ ...each, fees })
  }
  await store.defer(sql, tooHigh, feeRetryMs, feeTooHigh)
  return asked.least === 0n ? offers : payable(context, offers)
}

const costOf = ({ fees, gasLimit, transaction }: Offer): bigint =>
  fees.maxFee * gasLimit + transaction.value

/** Counts each sender's coin down, in the order of its transactions, below what is in flight already. */
const payable = async (
  context: EngineContext,
  offers: readonly Offer[],
): Promise<readonly Offer[]> => {
  const { network, rpc, sql } = context
  const senders = sendersOf(offers)
  const balances = await rpc.batch(
    senders.map((sender) => ({ method: 'eth_getBalance', params: [sender, 'latest'] })),
  )
  const bound = await lanes.boundBy(sql, network.id, senders)
  const left = new Map<Hex, bigint>()
  for (const [i, sender] of senders.entries()) {
    const balance = toldIn(balances[i])
    if (balance !== undefined) left.set(sender, balance - (bound.get(sender) ?? 0n))
  }
  const affordable: Offer[] = []
  const poor: Offer[] = []
  const unknown: string[] = []
  for (const offer of offers) {
    const { id, sender } = offer.transaction
    const coin = left.get(sender)
    if (coin === undefined) {
      unknown.push(id)
      continue
    }
    const isEnough = coin >= costOf(offer)
    ;(isEnough ? affordable : poor).push(offer)
    if (isEnough) left.set(sender, coin - costOf(offer))
  }
  await store.defer(sql, unknown, store.retryMs)
  await refusePoor(context, poor, { affordable, bound })
  return affordable
}

/** With something in flight, the sender's coin may come back; with nothing, it will not by itself. */
const refusePoor = async (
  context: EngineContext,
  poor: readonly Offer[],
  {
    affordable,
    bound,
  }: {
    readonly affordable: readonly Offer[]
    readonly bound: ReadonlyMap<Hex, bigint>
  },
): Promise<void> => {
  const needs = new Map<Hex, bigint>()
  for (const offer of poor) {
    const { sender } = offer.transaction
    const [need, before] = [costOf(offer), needs.get(sender) ?? 0n]
    needs.set(sender, need > before ? need : before)
  }
  const supplied = await supplyGas(context, needs)
  const busy = new Set([...sendersOf(affordable), ...bound.keys()])
  const of = Map.groupBy(poor, ({ transaction: { sender } }) => {
    if (supplied.has(sender)) return 'soon'
    return busy.has(sender) ? 'waiting' : 'refused'
  })
  const { sql } = context
  await store.defer(sql, idsOf(of.get('soon') ?? []), store.retryMs, insufficientFunds)
  await store.defer(sql, idsOf(of.get('waiting') ?? []), feeRetryMs, insufficientFunds)
  const refused = of.get('refused') ?? []
  await refuseAll(
    context,
    refused.map(({ transaction }) => ({ transaction, error: insufficientFunds })),
  )
}
