/** What deliveries and liens share: who sees them, what they need, and how they begin. */
import { type Client, inSnapshot, type Transaction } from '#src/platform/database/index.ts'
import { ApiError, type Caller, type ErrorDefinition } from '#src/platform/http/index.ts'
import { type Chain, type Chains, reaching } from '../chains.ts'
import { tryFirst } from '../contracts/steps.ts'
import type { Creation } from '../creation.ts'
import { commonHead } from '../engine/blocks.ts'
import type { EngineContext } from '../engine/context.ts'
import { insertTransactions } from '../engine/store.ts'
import { drexErrors } from '../errors.ts'
import { type Step as PlannedStep, sagaOf } from '../sagas.ts'
import type { Tokens } from '../tokens/service.ts'
import { type Step, stepsOf } from '../transfers/store.ts'
import type { UnsentDeps } from '../transfers/unsent.ts'
import { requireWallet, scopeOf, visibleTo } from '../wallets/rights.ts'
import type { Wallets } from '../wallets/service.ts'
import * as store from './store.ts'

export type AgreementDeps = {
  readonly sql: Client
  readonly chains: Chains
  readonly wallets: Pick<Wallets, 'requireSigning'>
  readonly tokens: Tokens
  readonly expirySeconds: number
  readonly contextOf: UnsentDeps['contextOf']
  readonly onEnded: EngineContext['onEnded']
}

export type Kind = store.Agreement['kind']
export type Of<K extends Kind> = Extract<store.Agreement, { readonly kind: K }>

export type Whole<K extends Kind> = {
  readonly agreement: Of<K>
  readonly steps: readonly Step[]
  readonly told: readonly store.Event[]
}

const notFound: Readonly<Record<Kind, () => ApiError>> = {
  delivery: () => new ApiError(drexErrors.delivery_not_found, 'No such delivery.'),
  lien: () => new ApiError(drexErrors.lien_not_found, 'No such lien.'),
}

/** @throws ApiError `delivery_not_found`, `lien_not_found`, or `restricted` if the key is for other wallets */
export const readWhole = async <K extends Kind>(
  { sql }: Pick<AgreementDeps, 'sql'>,
  kind: K,
  id: string,
  caller: Caller,
): Promise<Whole<K>> => {
  const { agreement, steps, told } = await inSnapshot(sql, async (tx) => ({
    agreement: await store.agreementById(tx, { id, kind }, scopeOf(caller)),
    steps: await stepsOf(tx, id),
    told: (await store.eventsOf(tx, [id])).get(id) ?? [],
  }))
  if (agreement === undefined) throw notFound[kind]()
  requireWallet(caller, agreement.wallet)
  return { agreement: agreement as Of<K>, steps, told }
}

export type ListFilter = Omit<Parameters<typeof store.listAgreements>[1], 'kind'>

export const listOf = async <K extends Kind>(
  { sql }: Pick<AgreementDeps, 'sql'>,
  kind: K,
  filter: ListFilter,
  caller: Caller,
): Promise<readonly Of<K>[]> =>
  (await store.listAgreements(sql, { ...filter, kind }, visibleTo(caller))) as readonly Of<K>[]

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
  { expirySeconds }: AgreementDeps,
  chain: Chain,
  row: Omit<Of<K>, 'changedAt'>,
  planned: readonly PlannedStep[],
  also: (tx: Transaction, steps: ReturnType<typeof sagaOf>) => Promise<void> = async () => {},
): Promise<Creation<Of<K>>> => {
  await tryFirst(chain, planned)
  const head = await reaching(chain, () => commonHead(chain.rpc, chain.nodesNeeded))
  const deep = Math.max(0, head - chain.network.confirmations)
  const steps = sagaOf(planned, {
    subject: row.id,
    network: row.network,
    createdBy: row.createdBy,
    expiresAt: new Date(row.createdAt.getTime() + expirySeconds * 1_000),
  })
  return {
    async write(tx) {
      await store.beginPosition(tx, row.network, deep)
      // Where nobody was followed, one node that was far ahead may have moved it to a block that never comes.
      await store.rewindPosition(tx, row.network, deep + 1)
      await insertTransactions(tx, steps)
      await store.insertAgreement(tx, row as store.NewAgreement)
      await also(tx, steps)
      return { ...row, changedAt: row.createdAt } as unknown as Of<K>
    },
    async settle(written) {
      chain.engine?.kick()
      return written
    },
  }
}

/**
 * A further step of an agreement.
 * @param mayBegin judged under the lock of its row
 * @param otherwise the error where it may not
 */
export const stepCreation = async <K extends Kind>(
  { expirySeconds }: AgreementDeps,
  chain: Chain,
  agreement: Of<K>,
  planned: readonly PlannedStep[],
  {
    caller,
    mayBegin,
    otherwise,
  }: {
    readonly caller: Caller
    readonly mayBegin: (steps: readonly Step[]) => boolean
    readonly otherwise: { readonly definition: ErrorDefinition; readonly message: string }
  },
): Promise<Creation<Of<K>>> => {
  await tryFirst(chain, planned)
  return {
    async write(tx) {
      const present = await reread(tx, agreement)
      if (!mayBegin(await stepsOf(tx, agreement.id))) {
        throw new ApiError(otherwise.definition, otherwise.message)
      }
      const terms = {
        subject: agreement.id,
        network: agreement.network,
        createdBy: caller.keyId,
        expiresAt: new Date(Date.now() + expirySeconds * 1_000),
      }
      await insertTransactions(tx, sagaOf(planned, terms))
      return present
    },
    async settle(written) {
      chain.engine?.kick()
      return written
    },
  }
}
