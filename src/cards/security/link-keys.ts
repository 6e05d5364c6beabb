import { createOutageLog, type Logger, type OutageLog } from '#src/platform/observe/index.ts'
import {
  type MacAlgorithm,
  macBytes,
  type PinFormat,
  secretsMatch,
} from '#src/platform/security/index.ts'
import {
  type KeyExchange,
  keyRefused,
  keyTaken,
  malfunction,
  partsOf,
  refusedWith,
  type TakenKeys,
} from './key-exchange.ts'
import type { LinkKeyStore } from './key-store.ts'
import {
  type KeyUse,
  type ModuleKey,
  type PinSide,
  type SecurityModule,
  SecurityModuleError,
} from './types.ts'

/** How the messages of one network are secured. */
export type LinkSecurity = {
  /** Key-encrypting key that the two parties share; for key exchange. */
  readonly zone: ModuleKey | undefined
  readonly mac:
    | {
        readonly algorithm: MacAlgorithm
        /** 8, or 4 and the rest zeros. */
        readonly bytes: 4 | 8
        /** Undefined: the first comes by key exchange. */
        readonly key: ModuleKey | undefined
      }
    | undefined
  readonly exchange: KeyExchange | undefined
  /** Undefined: messages carry no PIN. */
  readonly pin?: PinSecurity | undefined
}

/** How a PIN block is translated before it goes out. */
export type PinSecurity = {
  /** The format that the network wants. */
  readonly format: PinFormat
  /** Undefined: the first comes by key exchange. */
  readonly key: ModuleKey | undefined
  /** The keys and formats of incoming blocks, by the name that requests give. */
  readonly sources: ReadonlyMap<string, PinSide>
}

/** A working key, and until when its predecessor is honoured. */
type Held = { readonly key: ModuleKey; readonly honouredUntil: number }

type LinkKeysOptions = {
  readonly network: string
  readonly security: LinkSecurity
  readonly module: SecurityModule
  /** How long an old key is honoured after a new one: as long as messages under it may be on their way. */
  readonly honourMs: number
  /** How long a code that came may wait for the module: as long as somebody waits for its message. */
  readonly waitMs: number
  readonly logger: Logger
  /** Undefined: exchanged keys are this process's alone. */
  readonly store?: LinkKeyStore | undefined
  readonly nowMs?: () => number
}

/** A key that the network has sent; the id is that of the store, zero without one. */
type Offered = { readonly key: ModuleKey; readonly id: bigint }

/** How often wrong codes have us ask the store at most; they wait for its answer. */
export const lookEveryMs = 200

/** Messages with keys that are opened and kept at once; a network tells others again. */
const takenAtOnceMax = 4

/** The text of a field of the message that brings keys; undefined if it is not there. */
export type FieldReader = (de: number) => string | undefined

/** The working keys of one network, shared by its connections. A new key is used as soon as it is checked. */
export class LinkKeys {
  readonly exchange: KeyExchange | undefined
  private readonly options: LinkKeysOptions
  private readonly nowMs: () => number
  private readonly current = new Map<KeyUse, ModuleKey>()
  private readonly previous = new Map<KeyUse, Held>()
  /** The ids of the current keys that came by exchange. */
  private readonly ids = new Map<KeyUse, bigint>()
  /** Taken, and not known to be in use at the network. */
  private offered = new Map<KeyUse, Offered>()
  private looking: Promise<void> | undefined
  private soon: Promise<void> | undefined
  private lookedAtMs = Number.NEGATIVE_INFINITY
  private asking: Promise<boolean> | undefined
  /** Keys that are asked for count once this process has asked, whatever the settings have. */
  private isDoubtful = true
  private taking = 0
  private readonly reading: OutageLog

  constructor(options: LinkKeysOptions) {
    this.options = options
    this.exchange = options.security.exchange
    this.nowMs = options.nowMs ?? (() => performance.now())
    this.reading = createOutageLog(options.logger, {
      level: 'error',
      away: 'the keys of the card network were not read',
      back: 'the keys of the card network are read again',
      about: { network: options.network },
    })
    const { mac, pin } = options.security
    if (mac?.key !== undefined) this.current.set('mac', mac.key)
    if (pin?.key !== undefined) this.current.set('pin', pin.key)
  }

  /** Whether messages about payments carry a code. */
  get hasMac(): boolean {
    return this.options.security.mac !== undefined
  }

  /** Whether messages carry PIN blocks that came under the key of that name; undefined if they carry none. */
  hasPinSource(name: string): boolean | undefined {
    return this.options.security.pin?.sources.has(name)
  }

  /**
   * A PIN block under the key of the network.
   *
   * @param source the name of the key that it came under
   * @param pan ASCII digits; not kept
   * @throws SecurityModuleError
   */
  async translatePin(block: Uint8Array, source: string, pan: Uint8Array): Promise<Uint8Array> {
    const { security, module } = this.options
    const from = security.pin?.sources.get(source)
    const key = this.current.get('pin')
    if (security.pin === undefined || from === undefined || key === undefined) {
      throw new SecurityModuleError('refused', 'no PIN key')
    }
    return module.translatePin(block, from, { key, format: security.pin.format }, pan)
  }

  /** Fields that bring keys. */
  get fields(): ReadonlySet<number> {
    return new Set(this.exchange?.keys.map(({ field }) => field))
  }

  /** The code over a message. @throws SecurityModuleError */
  async seal(data: Uint8Array): Promise<Uint8Array> {
    const key = this.current.get('mac')
    if (key === undefined) throw new SecurityModuleError('refused', 'no MAC key yet')
    return this.codeUnder(key, data)
  }

  /**
   * Whether the code is that of the message, under the current key or one that was it a moment ago.
   *
   * @throws SecurityModuleError when that cannot be found out
   */
  async verify(data: Uint8Array, code: Uint8Array): Promise<boolean> {
    const before = this.current.get('mac')
    if (before !== undefined && (await this.isUnder(before, data, code))) return true
    const { key: old, honouredUntil = 0 } = this.previous.get('mac') ?? {}
    const isHonoured = old !== undefined && this.nowMs() < honouredUntil
    if (isHonoured && (await this.isUnder(old, data, code))) return true
    const offered = this.offered.get('mac')
    if (await this.isOffered(offered, data, code)) return true
    // The network uses its new keys at once, and another process may have taken them.
    await this.asking
    await this.lookSoon()
    const after = this.current.get('mac')
    if (after !== undefined && after !== before && (await this.isUnder(after, data, code))) {
      return true
    }
    const later = this.offered.get('mac')
    return later !== offered && this.isOffered(later, data, code)
  }

  private async isOffered(
    offered: Offered | undefined,
    data: Uint8Array,
    code: Uint8Array,
  ): Promise<boolean> {
    if (offered === undefined || !(await this.isUnder(offered.key, data, code))) return false
    // The network has them in use, even where its answer to our confirmation was lost.
    this.useOffered()
    return true
  }

  /** Takes over what other processes have taken until now; where keys are asked for, once this one has asked. */
  async look(): Promise<void> {
    if (this.exchange?.asks === true && !this.isWhole()) return
    // A look that has begun already may have missed it.
    await this.looking
    this.looking ??= this.lookOnce().finally(() => {
      this.looking = undefined
    })
    return this.looking
  }

  /** The same after a wrong code, of which there may be a flood. */
  private lookSoon(): Promise<void> {
    if (this.options.store === undefined) return Promise.resolve()
    const waitMs = this.lookedAtMs + lookEveryMs - performance.now()
    this.soon ??= Bun.sleep(Math.max(0, waitMs)).then(() => {
      this.soon = undefined
      this.lookedAtMs = performance.now()
      return this.look()
    })
    return this.soon
  }

  private async lookOnce(): Promise<void> {
    const { store, honourMs } = this.options
    if (store === undefined) return
    try {
      const offered = new Map<KeyUse, Offered>()
      /** Others do not know that this process uses them. */
      const untold: bigint[] = []
      for (const { id, use, key, usedForMs } of await store.read(this.originOf)) {
        const own = this.ids.get(use) ?? 0n
        if (id === own && usedForMs === undefined) untold.push(id)
        if (id <= own) continue
        if (usedForMs === undefined) offered.set(use, { key, id })
        else this.replace(use, { key, id }, honourMs - usedForMs)
      }
      const isNew = [...offered].some(([use, { id }]) => id > (this.offered.get(use)?.id ?? 0n))
      if (isNew) this.offered = offered
      // A key that another process has put in use, or that a later one has replaced, must not come back.
      for (const [use, { id }] of this.offered) {
        if (id <= (this.ids.get(use) ?? 0n)) this.offered.delete(use)
      }
      if (untold.length > 0) await store.use(untold)
      this.reading.worked()
    } catch (error) {
      this.reading.failed(error)
    }
  }

  private readonly originOf = (use: KeyUse): ModuleKey | undefined =>
    this.options.security[use]?.key

  /** Opens and checks the keys of a message of the network, all or none of them; they are used after `use`. */
  async take(read: FieldReader): Promise<TakenKeys> {
    if (this.taking === takenAtOnceMax) return refusedWith(malfunction)
    this.taking++
    try {
      return await this.opened(read)
    } finally {
      this.taking--
    }
  }

  private async opened(read: FieldReader): Promise<TakenKeys> {
    const { network, security, module, logger } = this.options
    const { zone, exchange } = security
    if (zone === undefined || exchange === undefined) return refusedWith(keyRefused)
    const taken = new Map<KeyUse, ModuleKey>()
    try {
      for (const place of exchange.keys) {
        const { wrapped, checkValue } = partsOf(place, read(place.field))
        const imported = await module.importKey(zone, place.use, wrapped)
        const computed = imported.checkValue.toUpperCase().slice(0, checkValue.length)
        if (!secretsMatch(computed, checkValue)) {
          throw new SecurityModuleError('refused', 'check value')
        }
        taken.set(place.use, imported.key)
      }
    } catch (error) {
      if (!(error instanceof SecurityModuleError)) throw error
      logger.error({ network, err: error }, 'a key of the card network was not taken')
      return refusedWith(error.fault === 'refused' ? keyRefused : malfunction)
    }
    const offered = await this.keep(taken)
    if (offered === undefined) return refusedWith(malfunction)
    this.offered = offered
    const use = (): void => {
      if (this.offered === offered) this.useOffered()
    }
    return { code: keyTaken, use }
  }

  /** Keep the keys before we tell the network: what it then uses must outlive this process. */
  private async keep(
    taken: ReadonlyMap<KeyUse, ModuleKey>,
  ): Promise<Map<KeyUse, Offered> | undefined> {
    const { store, network, logger } = this.options
    try {
      const ids = await store?.offer(taken, this.originOf)
      return new Map([...taken].map(([use, key]) => [use, { key, id: ids?.get(use) ?? 0n }]))
    } catch (err) {
      logger.error({ network, err }, 'a key of the card network was not kept, and so not taken')
      return undefined
    }
  }

  /**
   * Before a connection takes requests: keys that were exchanged before are those of the store; where the network gives
   * keys to who asks, those that are missing or in doubt are asked for, by one connection at a time.
   *
   * @returns whether they are there
   */
  async obtain(ask: () => Promise<FieldReader | undefined>): Promise<boolean> {
    if (this.exchange === undefined) return true
    if (!this.exchange.asks) {
      await this.look()
      return true
    }
    if (!this.isDoubtful) return true
    this.asking ??= this.askOnce(ask).finally(() => {
      this.asking = undefined
    })
    return this.asking
  }

  /** No connection is left: a network that gives keys to who asks may have begun anew, and forgotten them. */
  doubt(): void {
    this.isDoubtful = true
  }

  private isWhole(): boolean {
    return this.exchange?.keys.every(({ use }) => this.current.has(use)) ?? true
  }

  private async askOnce(ask: () => Promise<FieldReader | undefined>): Promise<boolean> {
    const read = await ask()
    if (read === undefined) return false
    const { code, use } = await this.take(read)
    use()
    if (code === keyTaken) this.isDoubtful = false
    return code === keyTaken
  }

  private useOffered(): void {
    const { network, logger, store, honourMs } = this.options
    const keys = this.offered
    if (keys.size === 0) return
    this.offered = new Map()
    for (const [use, key] of keys) this.replace(use, key, honourMs)
    logger.info({ network, uses: [...keys.keys()] }, 'new keys of the card network are in use')
    // A process that has not heard of it finds out by the first code under these keys.
    store?.use([...keys.values()].map(({ id }) => id)).catch((err: unknown) => {
      logger.error({ network, err }, 'other processes were not told of new keys')
    })
  }

  private replace(use: KeyUse, { key, id }: Offered, honourMs: number): void {
    const old = this.current.get(use)
    // A network that had no answer tells its key again: the one before it is still honoured.
    if (old !== undefined && !secretsMatch(old.reveal(), key.reveal())) {
      this.previous.set(use, { key: old, honouredUntil: this.nowMs() + honourMs })
    }
    this.current.set(use, key)
    this.ids.set(use, id)
  }

  private async codeUnder(key: ModuleKey, data: Uint8Array, waitMs = 0): Promise<Uint8Array> {
    const { security, module } = this.options
    const { mac } = security
    if (mac === undefined) throw new SecurityModuleError('refused')
    const code = await module.mac(key, mac.algorithm, data, waitMs)
    return code.length === macBytes ? code.slice().fill(0, mac.bytes) : Promise.reject(wrongCode())
  }

  private async isUnder(key: ModuleKey, data: Uint8Array, code: Uint8Array): Promise<boolean> {
    if (code.length !== macBytes) return false
    return secretsMatch(await this.codeUnder(key, data, this.options.waitMs), code)
  }
}

const wrongCode = (): SecurityModuleError => new SecurityModuleError('malformed')
