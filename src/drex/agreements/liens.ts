/** Liens: an owner's tokens that secure a beneficiary, in a contract of their own. */
import { ApiError, type Caller, refusedValue } from '#src/platform/http/index.ts'
import { type Chain, reaching } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { readAbi } from '../contracts/abi.ts'
import { insertContract } from '../contracts/store.ts'
import { type Creation, madeBy } from '../creation.ts'
import { findContract } from '../directory.ts'
import { isFinal } from '../domain.ts'
import { commonHead } from '../engine/blocks.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { quantity } from '../evm/hex.ts'
import { newId } from '../ids.ts'
import { callStep } from '../operations/definition.ts'
import { deploymentSteps, type Step as PlannedStep } from '../sagas.ts'
import { loadArtifact } from '../templates/index.ts'
import { requireUnlimited } from '../wallets/rights.ts'
import { pledgeSteps } from './advance.ts'
import { type AgreementDeps, creationOf, type Of, readersOf, stepCreation } from './service.ts'
import * as store from './store.ts'
import { createViews, requireTemplateCode } from './template-code.ts'
import type { LienTerms } from './terms.ts'

type LienRequest = {
  /** Signs, deploys and pledges. */
  readonly owner: Hex
  readonly beneficiary: Hex
  /** The network's currency if absent. */
  readonly token?: Hex | undefined
  readonly amount: string
  /** Unix seconds. */
  readonly expiry: number
  readonly documentHash: string
  readonly network?: NetworkId | undefined
  readonly reference?: string | undefined
}

type Adoption = {
  readonly contract: Hex
  /** The owner's or the beneficiary's. */
  readonly wallet: Hex
  readonly network?: NetworkId | undefined
  readonly reference?: string | undefined
}

/** What a party may do with an existing lien. */
export type LienAct =
  | { readonly act: 'pledge' | 'release'; readonly amount: string }
  | { readonly act: 'reclaim' }

export const createLiens = (deps: AgreementDeps) => ({
  ...readersOf(deps, 'lien'),
  create: (request: LienRequest, caller: Caller) => create(deps, request, caller),
  /** Follows one that somebody else has made. */
  adopt: (adoption: Adoption, caller: Caller) => adopt(deps, adoption, caller),
  /** @throws ApiError `lien_not_found`, `lien_not_ready` or `contract_reverted` */
  act: (id: string, act: LienAct, caller: Caller) => perform(deps, id, act, caller),
})

export type Liens = ReturnType<typeof createLiens>

const create = async (
  deps: AgreementDeps,
  request: LienRequest,
  caller: Caller,
): Promise<Creation<Of<'lien'>>> => {
  const { beneficiary, expiry, documentHash, reference } = request
  if (expiry * 1_000 <= Date.now()) {
    const message = 'must be in the future'
    throw refusedValue([{ pointer: '/expiry', rule: 'future', message }])
  }
  const chain = deps.chains.require(request.network, caller.environment)
  const wallet = await deps.wallets.requireSigning(request.owner, 'owner_wallet', caller)
  requireUnlimited(wallet)
  const { address: owner } = wallet
  const token = request.token ?? chain.network.token
  const amount = await deps.tokens.unitsOf(chain, token, request.amount, 'amount')
  const terms: LienTerms = {
    token,
    decimals: await deps.tokens.decimalsOf(chain, token),
    owner,
    beneficiary,
    documentHash,
    expiry,
    amount: String(amount),
    isOurs: true,
    admission: await admissionOf(chain, token),
  }
  const { bytecode, abi } = await loadArtifact('lien')
  const values = [token, owner, beneficiary, documentHash, expiry]
  const encoded = (await readAbi(abi)).encodeDeploy(values)
  const steps = deploymentSteps(chain.network, owner, `${bytecode}${encoded.slice(2)}` as Hex)
  const made = madeBy(caller)
  const row = {
    ...made,
    id: newId('lin'),
    kind: 'lien',
    network: chain.network.id,
    contract: undefined,
    wallet: owner,
    part: 'owner',
    terms,
    reference,
    state: { status: 'pending', hash: null, error: null, pledged: '0', expiry },
  } as const
  return creationOf<'lien'>(deps, caller, chain, row, steps, async (tx, [deployment, permit]) => {
    await insertContract(tx, {
      ...made,
      id: newId('ctr'),
      network: row.network,
      address: undefined,
      template: 'lien',
      abi,
      label: 'lien',
      deployer: owner,
      transactionId: deployment!.id,
      params: { token, owner, beneficiary, document_hash: documentHash, expiry },
      permitTransactionId: permit?.id,
    })
  })
}

/** Only the network's own currency knows admitted accounts, and a contract of the directory admits them. */
const admissionOf = async (chain: Chain, token: Hex): Promise<Hex | null> =>
  token === chain.network.token
    ? ((await findContract(chain, 'RealDigitalEnableAccount')) ?? null)
    : null

const adopt = async (
  deps: AgreementDeps,
  { contract, wallet: named, network, reference }: Adoption,
  caller: Caller,
): Promise<Creation<Of<'lien'>>> => {
  const { tokens } = deps
  const chain = deps.chains.require(network, caller.environment)
  const { address } = await deps.wallets.requireSigning(named, 'wallet', caller)
  await requireTemplateCode(chain, contract, 'lien')
  const block = await confirmedWith(chain, contract)
  const told = await readLien(chain, contract, block)
  if (address !== told.owner && address !== told.beneficiary) {
    const message = 'is no party of this lien'
    throw refusedValue([{ pointer: '/wallet', rule: 'party', message, got: named }])
  }
  const { pledged, expiry, ...parties } = told
  const decimals = await tokens.decimalsOf(chain, told.token)
  const terms: LienTerms = {
    ...parties,
    decimals,
    expiry,
    amount: pledged,
    admission: null,
    isOurs: false,
  }
  const status = BigInt(pledged) > 0n ? 'active' : 'pending'
  const row = {
    ...madeBy(caller),
    id: newId('lin'),
    kind: 'lien',
    network: chain.network.id,
    contract,
    wallet: address,
    part: address === told.owner ? 'owner' : 'beneficiary',
    terms,
    reference,
    state: { status, hash: null, error: null, pledged, expiry },
  } as const
  return {
    async write(tx) {
      await store.beginPosition(tx, row.network, block)
      // We would miss what it told between the block that we asked at and the follower's place: read again from there.
      if (!(await store.rewindPosition(tx, row.network, block))) {
        throw new ApiError(drexErrors.network_unreachable, 'The node lags behind: repeat later.')
      }
      await store.insertAgreement(tx, row)
      return { ...row, changedAt: row.createdAt }
    },
  }
}

/**
 * The last block with its confirmations: what a later one says may be taken back, and nobody would hear of it.
 * @throws ApiError `lien_not_ready` if the contract is not there yet
 */
const confirmedWith = async (chain: Chain, contract: Hex): Promise<number> => {
  const { network, nodesNeeded, rpc } = chain
  const head = await reaching(chain, () => commonHead(rpc, nodesNeeded))
  const block = Math.max(0, head - network.confirmations + 1)
  const code = await reaching(chain, () => rpc.call('eth_getCode', contract, quantity(block)))
  if (code !== '0x') return block
  throw notReady('The lien’s contract has not its confirmations yet: repeat later.')
}

/** What the contract says of itself at a block. */
const readLien = async (chain: Chain, contract: Hex, block: number) => {
  const ask = await createViews(chain, 'lien', quantity(block))
  const names = ['token', 'owner', 'beneficiary', 'documentHash', 'expiry', 'pledged'] as const
  const values = await Promise.all(names.map(async (name) => (await ask(contract, name))[0] ?? ''))
  const [token = '', owner = '', beneficiary = '', documentHash = '', expiry, pledged = '0'] =
    values
  return {
    token: token.toLowerCase() as Hex,
    owner: owner.toLowerCase() as Hex,
    beneficiary: beneficiary.toLowerCase() as Hex,
    documentHash,
    expiry: Number(expiry),
    pledged,
  }
}

const notReady = (
  message = 'The lien’s contract is not on the chain, or another step of it is under way.',
): ApiError => new ApiError(drexErrors.lien_not_ready, message)

const perform = async (
  deps: AgreementDeps,
  id: string,
  act: LienAct,
  caller: Caller,
): Promise<Creation<Of<'lien'>>> => {
  const { agreement } = await readersOf(deps, 'lien').get(id, caller)
  const chain = deps.chains.require(agreement.network as NetworkId, caller.environment)
  const wallet = await deps.wallets.requireSigning(agreement.wallet, 'wallet', caller)
  requireUnlimited(wallet)
  const { contract } = agreement
  if (contract === undefined) throw notReady()
  const steps = await stepsFor(deps, chain, { ...agreement, contract }, act)
  return stepCreation(deps, caller, chain, agreement, steps, (begun) => {
    if (begun.some(({ status }) => !isFinal(status))) throw notReady()
  })
}

const stepsFor = async (
  { tokens }: AgreementDeps,
  chain: Chain,
  { wallet, contract, terms }: Of<'lien'> & { readonly contract: Hex },
  act: LienAct,
): Promise<readonly PlannedStep[]> => {
  const to = { sender: wallet, to: contract }
  if (act.act === 'reclaim') return [await callStep('lien', to, 'reclaim', [])]
  const units = await tokens.unitsOf(chain, terms.token, act.amount, 'amount')
  if (act.act === 'release') return [await callStep('lien', to, 'release', [units])]
  if (wallet !== terms.owner) {
    throw new ApiError(drexErrors.contract_reverted, 'The contract refuses: NotAllowed.', {
      details: { revert: { name: 'NotAllowed', args: [wallet] } },
    })
  }
  return pledgeSteps({ contract, owner: wallet, token: terms.token }, units)
}
