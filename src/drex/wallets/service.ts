/** Wallets: who may sign, and with what. A private key never leaves this folder and `custody/`. */

import type { Client, Queryable, Transaction } from '#src/platform/database/index.ts'
import { ApiError, httpErrors, writeAudit } from '#src/platform/http/index.ts'
import {
  type KeyEnvironment,
  type SealedRecord,
  type Sealer,
  sealedStock,
} from '#src/platform/security/index.ts'
import { adoptKey, type WantedKey } from '../custody/adoption.ts'
import type { KeyServiceName } from '../custody/key-service.ts'
import type { Custody } from '../custody/services.ts'
import { digestSigner, managedSigner, type Signer, sealContext } from '../custody/signer.ts'
import { web3Signer } from '../custody/web3signer.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { addressOfPrivateKey, randomPrivateKey } from '../evm/secp256k1.ts'
import { newId } from '../ids.ts'
import { requireAllWallets, requireWallet, type WalletRights, walletsOf } from './rights.ts'
import * as store from './store.ts'

type NewWallet = {
  readonly type: store.WalletType
  readonly label: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** The address of a wallet whose key is elsewhere. */
  readonly address: Hex | undefined
  /** The name of the key in a key management service. */
  readonly keyName?: string | undefined
  readonly account: string
  readonly environment: KeyEnvironment
  readonly createdBy: string
}

const cachedMax = 10_000
/** A change at one gateway counts at the others after this time. */
const keptMs = 1_000
const resealPage = 200
const deployer = 'gateway:deployer'

type Deps = {
  readonly sql: Client
  readonly sealer: Sealer | undefined
} & Pick<Custody, 'assignments' | 'keyServices' | 'web3signer'>

export const createWallets = (deps: Deps) => {
  const { sql } = deps
  const { find, forget } = createFinder(sql)
  /** @throws ApiError if the account has no such wallet, or the key is for others */
  const get = async (id: string, by: WalletRights): Promise<store.Wallet> => {
    const wallet = await store.walletById(sql, id)
    if (wallet?.account !== by.owner) {
      throw new ApiError(drexErrors.wallet_not_found, 'No such wallet.')
    }
    requireWallet(by, wallet.address)
    return wallet
  }
  return {
    /** Finds the key of a new wallet, which may be elsewhere. @throws ApiError if it cannot be used */
    adoptKey: (wanted: WantedKey, account: string) => adoptKey(deps, wanted, account),
    /** @param within the transaction it belongs to, if there is one */
    create: (wanted: NewWallet, within?: Queryable) => createWallet(deps, wanted, within),
    find,
    list: (by: WalletRights, afterId: string, limit: number) =>
      store.listWallets(sql, by.owner, afterId, limit, walletsOf(by)),
    get,
    /**
     * @param also what commits together with the change
     * @throws ApiError if the account has no such wallet, the key is for others, or it is archived
     */
    async change(
      id: string,
      by: WalletRights,
      change: Parameters<typeof store.changeWallet>[3],
      also: (sql: Transaction) => Promise<void>,
    ): Promise<store.Wallet> {
      await get(id, by)
      const wallet = await sql.begin(async (tx) => {
        const changed = await store.changeWallet(tx, id, by.owner, change)
        if (changed !== undefined) await also(tx)
        return changed
      })
      if (wallet !== undefined) {
        // Only now, because whoever looked before the commit kept the wallet as it was.
        forget(wallet.address)
        return wallet
      }
      throw new ApiError(drexErrors.wallet_disabled, 'The wallet is archived, for good.')
    },
    /** @throws ApiError if the account has no such wallet, it is only watched or not active, or the key has no right to it */
    requireSigning: async (address: Hex, field: string, by: WalletRights) => {
      const found = await find(address)
      const own = found?.account === by.owner ? found : await store.walletOf(sql, by.owner, address)
      return signing(own, address, field, by)
    },
    /** @throws Error if it does not sign for networks of this environment, or not now */
    signerFor: async (address: Hex, environment: KeyEnvironment) =>
      signerOf(deps, await find(address), address, environment),
    /**
     * The wallet that deploys if a caller of the account names none; created on first use, and anew once it is archived.
     * @throws ApiError as `requireSigning`
     */
    deployer: async (by: WalletRights) => {
      const made = await store.walletByCreator(sql, deployer, by.owner, by.environment)
      if (made !== undefined) return signing(made, made.address, 'deployer', by)
      requireAllWallets(by, 'a new wallet')
      return createDeployer(deps, by)
    },
    /** @returns false if the first keys there are were sealed with another master key */
    canOpen: () => canOpen(deps),
    /** Seals every key with the present master key. */
    sealed: sealedStock(
      'wallet keys',
      () => requireSealer(deps),
      () => sealedKeys(sql),
    ),
  }
}

export type Wallets = ReturnType<typeof createWallets>

const signerOf = (
  deps: Deps,
  wallet: store.Wallet | undefined,
  address: Hex,
  environment: KeyEnvironment,
): Signer => {
  if (wallet === undefined) throw new Error(`the wallet ${address} has no signer here`)
  const { id, type, status, account, sealedKey, keyName } = wallet
  if (!isFor(wallet, environment)) {
    throw new Error(`the wallet ${address} signs for ${wallet.environment} networks only`)
  }
  if (status !== 'active') throw new Error(`the wallet ${address} is ${status}`)
  if (sealedKey !== undefined) {
    return managedSigner(requireSealer(deps), sealedKey, sealContext(id, address))
  }
  if (!deps.assignments.mayUse(account, wallet)) {
    throw new Error(`the key of the wallet ${address} is not assigned to its account`)
  }
  if (type === 'web3signer' && deps.web3signer !== undefined) {
    return web3Signer(address, deps.web3signer)
  }
  const service = deps.keyServices.get(type as KeyServiceName)
  if (service !== undefined && keyName !== undefined) {
    return digestSigner(type as KeyServiceName, address, (digest) => service.sign(keyName, digest))
  }
  throw new Error(`the wallet ${address} has no signer here`)
}

const requireSealer = ({ sealer }: Deps): Sealer => {
  if (sealer !== undefined) return sealer
  throw new ApiError(httpErrors.not_configured, 'Managed wallets need TRILHO_MASTER_KEY.', {
    details: { settings: ['TRILHO_MASTER_KEY'] },
  })
}

/** Wallets that sign, by address. Keeps only sealed keys: an opened key is wiped after each signature. */
const createFinder = (sql: Client) => {
  const cache = new Map<Hex, { readonly wallet: store.Wallet; readonly untilMs: number }>()
  let changes = 0
  const keep = (wallet: store.Wallet): void => {
    cache.delete(wallet.address)
    if (cache.size >= cachedMax) cache.delete(cache.keys().next().value!)
    cache.set(wallet.address, { wallet, untilMs: performance.now() + keptMs })
  }
  const find = async (address: Hex): Promise<store.Wallet | undefined> => {
    const cached = cache.get(address)
    if (cached !== undefined && cached.untilMs > performance.now()) return cached.wallet
    const changesBefore = changes
    const wallet = await store.signingWallet(sql, address)
    if (wallet !== undefined && changes === changesBefore) keep(wallet)
    return wallet
  }
  const forget = (address: Hex): void => {
    changes++
    cache.delete(address)
  }
  return { find, forget }
}

const createWallet = async (
  deps: Deps,
  wanted: NewWallet,
  within: Queryable = deps.sql,
): Promise<store.Wallet> => {
  const { address: given, keyName, ...common } = wanted
  const base = {
    id: newId('wal'),
    ...common,
    keyName,
    createdAt: new Date(),
    status: 'active' as const,
    policy: {},
    alerts: {},
  }
  const wallet: store.Wallet =
    given === undefined
      ? generate(base, requireSealer(deps))
      : { ...base, address: given, sealedKey: undefined }
  if (!(await store.insertWallet(within, wallet))) {
    throw new ApiError(drexErrors.wallet_exists, 'A wallet with this address is there already.')
  }
  return wallet
}

const isFor = ({ environment }: store.Wallet, wanted: KeyEnvironment): boolean =>
  environment === undefined || environment === wanted

const signing = (
  wallet: store.Wallet | undefined,
  address: Hex,
  field: string,
  by: WalletRights,
): store.Wallet => {
  const errors = [{ pointer: `/${field}`, rule: 'wallet', message: 'cannot sign', got: address }]
  if (wallet?.account !== by.owner) {
    throw new ApiError(drexErrors.wallet_not_found, `${field}: no wallet has this address.`, {
      errors,
    })
  }
  requireWallet(by, address)
  if (wallet.type === 'external') {
    throw new ApiError(drexErrors.wallet_cannot_sign, `${field}: the wallet is watched only.`, {
      errors,
    })
  }
  if (wallet.status !== 'active') {
    throw new ApiError(drexErrors.wallet_disabled, `${field}: the wallet is ${wallet.status}.`, {
      errors,
    })
  }
  if (!isFor(wallet, by.environment)) {
    throw new ApiError(
      httpErrors.forbidden,
      `${field}: the wallet was made by a ${wallet.environment} key and signs for those only.`,
    )
  }
  if (wallet.policy.keys?.includes(by.keyId) === false) {
    throw new ApiError(httpErrors.forbidden, `${field}: the API key has no right to this wallet.`)
  }
  return wallet
}

/** The first deployments may come at the same time, at several gateways: only one makes the wallet. */
const createDeployer = (
  deps: Deps,
  { owner: account, environment }: WalletRights,
): Promise<store.Wallet> =>
  deps.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`${deployer}:${account}`}, 0))`
    const made = await store.walletByCreator(tx, deployer, account, environment)
    if (made !== undefined) return made
    const wanted = { type: 'managed', label: 'deployer', metadata: {} } as const
    const created = await createWallet(
      deps,
      { ...wanted, address: undefined, account, environment, createdBy: deployer },
      tx,
    )
    await writeAudit(tx, {
      actor: { id: deployer, requestId: undefined },
      outcome: 'created',
      action: 'wallets.create',
      object: created.id,
    })
    return created
  })

const generate = (
  base: Omit<store.Wallet, 'address' | 'sealedKey'>,
  sealer: Sealer,
): store.Wallet => {
  const key = randomPrivateKey()
  try {
    const address = addressOfPrivateKey(key)
    return { ...base, address, sealedKey: sealer.seal(key, sealContext(base.id, address)) }
  } finally {
    key.fill(0)
  }
}

const canOpen = async ({ sql, sealer }: Deps): Promise<boolean> => {
  if (sealer === undefined) return true
  for await (const page of sealedKeys(sql)) {
    for (const { sealed, context } of page) {
      try {
        sealer.open(sealed, context).fill(0)
      } catch {
        return false
      }
    }
    if (page.length > 0) return true
  }
  return true
}

async function* sealedKeys(sql: Client): AsyncGenerator<readonly SealedRecord[]> {
  let afterId = ''
  for (;;) {
    const page = await store.listWallets(sql, undefined, afterId, resealPage)
    const last = page.at(-1)
    if (last === undefined) return
    yield page.flatMap(({ id, address, sealedKey }) =>
      sealedKey === undefined
        ? []
        : [
            {
              sealed: sealedKey,
              context: sealContext(id, address),
              replace: (sealed) => store.saveSealedKey(sql, id, sealedKey, sealed),
            },
          ],
    )
    afterId = last.id
  }
}
