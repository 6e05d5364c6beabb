/** Contracts: deployed from a template, registered by their ABI, called. */
import type { Client } from '#src/platform/database/index.ts'
import { ApiError, type Caller, refusedValue } from '#src/platform/http/index.ts'
import { type Chain, networksFor, reaching } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { begun, type Creation, madeBy, type ServiceDeps, termsOf } from '../creation.ts'
import { insertTransactions } from '../engine/store.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { newId } from '../ids.ts'
import { deploymentSteps, sagaOf } from '../sagas.ts'
import { loadArtifact, loadTemplate, type Place, type TemplateName } from '../templates/index.ts'
import { correctionsWhere } from '../transfers/store.ts'
import { requireWallet } from '../wallets/rights.ts'
import { ArgumentError, decodeResult, encodeCall, readAbi } from './abi.ts'
import { requireEffect, requirePermission } from './rights.ts'
import { simulateCall } from './simulation.ts'
import * as store from './store.ts'

type Deployment = {
  readonly template: TemplateName
  readonly params: unknown
  readonly network?: NetworkId | undefined
  readonly signerWallet: Hex | undefined
  readonly label: string
}

type Registration = {
  readonly network?: NetworkId | undefined
  readonly address: Hex
  readonly abi: readonly unknown[]
  readonly label: string
}

type Call = {
  readonly address: Hex
  readonly network?: NetworkId | undefined
  readonly function: string
  readonly params: Readonly<Record<string, unknown>> | readonly unknown[]
  /** May be absent for a view. */
  readonly signerWallet: Hex | undefined
}

export type CallOutcome =
  | { readonly kind: 'view'; readonly signature: string; readonly result: unknown }
  | { readonly kind: 'sent'; readonly signature: string; readonly transactionId: string }

/** The answer to a deployment waits this long for the nonce, which decides the address. */
const addressWaitMs = 5_000
const addressPollMs = 20

export const createContracts = (deps: ServiceDeps) => {
  const { sql } = deps
  const get = async (
    address: Hex,
    network: NetworkId | undefined,
    { owner, environment }: Caller,
  ): Promise<store.Contract> => {
    const usable = new Set<string>(networksFor(environment))
    const found = (await store.contractsByAddress(sql, address, owner)).filter(
      (each) => usable.has(each.network) && (network === undefined || each.network === network),
    )
    const [contract] = found
    if (contract === undefined) {
      throw new ApiError(drexErrors.contract_not_found, 'No contract with this address is known.')
    }
    if (found.length > 1) {
      const networks = found.map((each) => each.network)
      const message = `must say which: ${networks.join(', ')}`
      throw refusedValue([{ pointer: '/network', rule: 'ambiguous', message }])
    }
    return contract
  }
  return {
    get,
    /** The contract, with corrections of its own deployment and permit; corrections of calls belong to the calls. */
    async getWhole(...asked: Parameters<typeof get>) {
      const contract = await get(...asked)
      const { transactionId, permitTransactionId } = contract
      const own = [transactionId, permitTransactionId].filter((each) => each !== undefined)
      return { contract, corrections: await correctionsWhere(sql, sql`t.id = any(${own}::text[])`) }
    },
    list: (account: string, beforeId: string | undefined, limit: number) =>
      store.listContracts(sql, account, beforeId, limit),
    deploy: (deployment: Deployment, caller: Caller) => deploy(deps, deployment, caller),
    /** In place of the account's former registration, if there is one. */
    register: (asked: Registration, caller: Caller) => register(deps, asked, caller),
    /** A deployment by its id; waits a while for the address. */
    deployed: (id: string) => withAddress(sql, id),
    /** Where a call is; undefined if the account made no such call of the contract. */
    async tracked(address: Hex, id: string, caller: Caller) {
      const call = await store.trackedById(sql, id)
      if (call?.recipient !== address) return undefined
      if ((await deps.wallets.find(call.sender))?.account !== caller.owner) return undefined
      requireWallet(caller, call.sender)
      return { call, corrections: await correctionsWhere(sql, sql`t.id = ${id}`) }
    },
    /** Makes the currency of a network callable by everybody, with the ABI that is known of it. */
    registerCurrency: (chain: Chain) => registerCurrency(sql, chain),
    call: async (call: Call, caller: Caller) =>
      perform(deps, await get(call.address, call.network, caller), call, caller),
  }
}

export type Contracts = ReturnType<typeof createContracts>

const checkAbi = async (abi: readonly unknown[]): Promise<void> => {
  try {
    await readAbi(abi)
  } catch {
    throw refusedValue([{ pointer: '/abi', rule: 'abi', message: 'is not a contract’s ABI' }])
  }
}

const register = async (
  { sql, chains }: ServiceDeps,
  { network: asked, address, abi, label }: Registration,
  caller: Caller,
): Promise<Creation<store.Contract>> => {
  const chain = chains.require(asked, caller.environment)
  const network = chain.network.id
  await checkAbi(abi)
  const code = await reaching(chain, () => chain.rpc.call('eth_getCode', address, 'latest'))
  if (code === '0x') {
    throw new ApiError(drexErrors.contract_not_found, 'There is no contract at this address.')
  }
  const known = await store.contractsByAddress(sql, address, caller.owner)
  const fixed = known.find(
    (each) =>
      each.network === network &&
      (each.account === store.gatewayAccount || each.template !== undefined),
  )
  if (fixed !== undefined) {
    throw new ApiError(
      drexErrors.contract_exists,
      'The contract is one of the settings or of a template, whose ABI is known.',
    )
  }
  const row = registration({ ...madeBy(caller), network, address, label, abi })
  return {
    async write(tx) {
      const isNew = await store.insertContract(tx, row)
      const id = isNew ? row.id : await store.replaceRegistration(tx, row)
      if (id === undefined) throw new ApiError(drexErrors.contract_exists, 'It is registered.')
      return (await store.contractById(tx, id))!
    },
  }
}

/** A contract that is there already. */
const registration = (
  known: Pick<
    store.NewContract,
    'network' | 'address' | 'label' | 'abi' | 'account' | 'createdBy' | 'createdAt'
  >,
): store.NewContract => ({
  ...known,
  id: newId('ctr'),
  params: {},
  template: undefined,
  deployer: undefined,
  transactionId: undefined,
  permitTransactionId: undefined,
})

/** Besides the pilot's currency, any ERC-20 may be one. */
const registerCurrency = async (sql: Client, { network }: Chain): Promise<void> => {
  const { abi } = await loadArtifact(network.isRealDigital ? 'currency' : 'tokenized_asset')
  const row = registration({
    network: network.id,
    address: network.token,
    label: 'currency',
    abi: network.isRealDigital ? abi : abi.filter(isErc20),
    account: store.gatewayAccount,
    createdBy: store.gatewayAccount,
    createdAt: new Date(),
  })
  if (!(await store.insertContract(sql, row))) await store.replaceRegistration(sql, row)
}

const erc20 = ['name', 'symbol', 'decimals', 'totalSupply', 'balanceOf', 'allowance', 'transfer']
const erc20Names = new Set([...erc20, 'transferFrom', 'approve', 'Transfer', 'Approval'])

const isErc20 = (entry: unknown): boolean =>
  typeof entry === 'object' &&
  entry !== null &&
  'name' in entry &&
  erc20Names.has(String(entry.name))

const deploy = async (
  deps: ServiceDeps,
  deployment: Deployment,
  caller: Caller,
): Promise<Creation<store.Contract>> => {
  const { sql, chains, wallets, tokens } = deps
  const chain = chains.require(deployment.network, caller.environment)
  const wallet =
    deployment.signerWallet === undefined
      ? await wallets.deployer(caller)
      : await wallets.requireSigning(deployment.signerWallet, 'signer_wallet', caller)
  const template = await loadTemplate(deployment.template)
  const { default: artifact } = await template.artifact()
  const place: Place = {
    deployer: wallet.address,
    token: chain.network.token,
    unitsOf: (token, amount, field) => tokens.unitsOf(chain, token, amount, `params/${field}`),
  }
  const values = await template.constructorArguments(deployment.params, place)
  const abi = await readAbi(artifact.abi)
  const data = `${artifact.bytecode}${abi.encodeDeploy(values).slice(2)}` as Hex
  await requirePermission(chain, { sender: wallet.address, target: undefined, payload: data })
  await simulateCall(chain, { from: wallet.address, data }, [abi])

  const id = newId('ctr')
  const steps = sagaOf(
    deploymentSteps(chain.network, wallet.address, data),
    termsOf(deps, caller, id, chain.network.id),
  )
  const contract: store.NewContract = {
    ...madeBy(caller),
    id,
    network: chain.network.id,
    address: undefined,
    template: deployment.template,
    label: deployment.label,
    params: deployment.params,
    abi: artifact.abi,
    deployer: wallet.address,
    transactionId: steps[0]!.id,
    permitTransactionId: steps[1]?.id,
  }
  return begun(
    chain,
    async (tx) => {
      await insertTransactions(tx, steps)
      await store.insertContract(tx, contract)
      return (await store.contractById(tx, id))!
    },
    () => withAddress(sql, id),
  )
}

const withAddress = async (sql: Client, id: string): Promise<store.Contract> => {
  const deadline = performance.now() + addressWaitMs
  for (;;) {
    const contract = (await store.contractById(sql, id))!
    const isKnown = contract.address !== undefined || contract.status === 'failed'
    if (isKnown || performance.now() > deadline) return contract
    await Bun.sleep(addressPollMs)
  }
}

const perform = async (
  deps: ServiceDeps,
  contract: store.Contract,
  call: Call,
  caller: Caller,
): Promise<Creation<CallOutcome>> => {
  const chain = deps.chains.require(contract.network as NetworkId, caller.environment)
  const abi = await readAbi(contract.abi)
  const encoded = encode(() => encodeCall(abi, call.function, call.params))
  const from = call.signerWallet
  const target = { to: contract.address!, data: encoded.data }
  if (encoded.isView) {
    const data = await simulateCall(chain, { ...(from === undefined ? {} : { from }), ...target }, [
      abi,
    ])
    const outcome: CallOutcome = {
      kind: 'view',
      signature: encoded.signature,
      result: decodeResult(abi, encoded.signature, data),
    }
    return { write: async () => outcome }
  }
  if (from === undefined) {
    const message = 'is needed for this function'
    throw refusedValue([{ pointer: '/signer_wallet', rule: 'required', message }])
  }
  const wallet = await deps.wallets.requireSigning(from, 'signer_wallet', caller)
  await requireEffect(deps, chain, contract, wallet, target, caller)
  await requirePermission(chain, { sender: from, target: target.to, payload: target.data })
  await simulateCall(chain, { from, ...target }, [abi])
  const steps = sagaOf(
    [{ kind: 'call', sender: from, recipient: target.to, data: target.data }],
    termsOf(deps, caller, contract.id, chain.network.id),
  )
  return begun<CallOutcome>(chain, async (tx) => {
    await insertTransactions(tx, steps)
    return { kind: 'sent', signature: encoded.signature, transactionId: steps[0]!.id }
  })
}

const encode = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error
    throw refusedValue(error.violations)
  }
}
