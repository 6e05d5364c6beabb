/** What deliveries and liens share: who sees them, what they need, and how they begin. */
import { inSnapshot, type Transaction } from '#src/platform/database/index.ts'
import { ApiError, type Caller } from '#src/platform/http/index.ts'
import { type Chain, reaching } from '../chains.ts'
import { tryFirst } from '../contracts/rights.ts'
import { begun, type Creation, type ServiceDeps, termsOf } from '../creation.ts'
import { commonHead } from '../engine/blocks.ts'
import type { EngineContext } from '../engine/context.ts'
import { insertTransactions } from '../engine/store.ts'
import { drexErrors } from '../errors.ts'
import { type Step as PlannedStep, sagaOf } from '../sagas.ts'
import { type Correction, correctionsOf, type Step, stepsOf } from '../transfers/store.ts'
import type { UnsentDeps } from '../transfers/unsent.ts'
import { requireWallet, scopeOf, visibleTo } from '../wallets/rights.ts'
import * as store from './store.ts'

export type AgreementDeps = ServiceDeps & {
  readonly contextOf: UnsentDeps['contextOf']
  readonly onEnded: EngineContext['onEnded']
}

export type Kind = store.Agreement['kind']
export type Of<K extends Kind> = Extract<store.Agreement, { readonly kind: K }>

type Whole<K extends Kind> = {
  readonly agreement: Of<K>
  readonly steps: readonly Step[]
  readonly corrections: readonly Correction[]
  readonly told: readonly store.Event[]
}

const notFound: Readonly<Record<Kind, () => ApiError>> = {
  delivery: () => new ApiError(drexErrors.delivery_not_found, 'No such delivery.'),
  lien: () => new ApiError(drexErrors.lien_not_found, 'No such lien.'),
}

type ListFilter = Omit<Parameters<typeof store.listAgreements>[1], 'kind'>

/** How agreements of one kind are read. */
export const readersOf = <K extends Kind>({ sql }: Pick<AgreementDeps, 'sql'>, kind: K) => ({
  /** @throws ApiError `delivery_not_found`, `lien_not_found`, or `restricted` if the key is for other wallets */
  async get(id: string, caller: Caller): Promise<Whole<K>> {
    const { agreement, ...parts } = await inSnapshot(sql, async (tx) => ({
      agreement: await store.agreementById(tx, { id, kind }, scopeOf(caller)),
      steps: await stepsOf(tx, id),
      corrections: await correctionsOf(tx, id),
      told: (await store.eventsOf(tx, [id])).get(id) ?? [],
    }))
    if (agreement === undefined) throw notFound[kind]()
    requireWallet(caller, agreement.wallet)
    return { agreement: agreement as Of<K>, ...parts }
  },
  list: async (filter: ListFilter, caller: Caller): Promise<readonly Of<K>[]> =>
    (await store.listAgreements(sql, { ...filter, kind }, visibleTo(caller))) as readonly Of<K>[],
})

/** The same agreement as it is now. */
export const reread = async <K extends Kind>(tx: Transaction, agreement: Of<K>): Promise<Of<K>> => {
  const [found] = await store.lockAgreements(tx, [agreement.id])
  return found as Of<K>
}

/**
 * An agreement with its first steps. Its network is followed from the present block on, before anything is signed.
 * @throws ApiError `account_not_permitted`, `contract_reverted` or `network_unreachable`
 */
export const creationOf = async <K extends Kind>(
  deps: AgreementDeps,
  caller: Caller,
  chain: Chain,
  row: Omit<Of<K>, 'changedAt'>,
  planned: readonly PlannedStep[],
  also: (tx: Transaction, steps: ReturnType<typeof sagaOf>) => Promise<void> = async () => {},
): Promise<Creation<Of<K>>> => {
  await tryFirst(chain, planned)
  const head = await reaching(chain, () => commonHead(chain.rpc, chain.nodesNeeded))
  const deep = Math.max(0, head - chain.network.confirmations)
  const steps = sagaOf(planned, termsOf(deps, caller, row.id, row.network))
  return begun(chain, async (tx) => {
    await store.beginPosition(tx, row.network, deep)
    // Where nobody was followed, one node that was far ahead may have moved it to a block that never comes.
    await store.rewindPosition(tx, row.network, deep + 1)
    await insertTransactions(tx, steps)
    await store.insertAgreement(tx, row as store.NewAgreement)
    await also(tx, steps)
    return { ...row, changedAt: row.createdAt } as unknown as Of<K>
  })
}

/**
 * A further step of an agreement.
 * @param requireReady judges under the lock of its row
 */
export const stepCreation = async <K extends Kind>(
  deps: AgreementDeps,
  caller: Caller,
  chain: Chain,
  agreement: Of<K>,
  planned: readonly PlannedStep[],
  requireReady: (steps: readonly Step[]) => void,
): Promise<Creation<Of<K>>> => {
  await tryFirst(chain, planned)
  return begun(chain, async (tx) => {
    const present = await reread(tx, agreement)
    requireReady(await stepsOf(tx, agreement.id))
    const terms = termsOf(deps, caller, agreement.id, agreement.network)
    await insertTransactions(tx, sagaOf(planned, terms))
    return present
  })
}
