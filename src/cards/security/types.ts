import type { KeyMaterial, MacAlgorithm, PinFormat } from '#src/platform/security/index.ts'

/** What a working key of a network is for; a key has one use. */
export const keyUses = ['mac', 'pin'] as const
export type KeyUse = (typeof keyUses)[number]

/**
 * A key as the module takes it: in clear for the software module, under its own master key for another one. Shown by no
 * log, error, dump or JSON.
 */
export class ModuleKey {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** For the module alone. */
  reveal(): string {
    return this.#text
  }
}

/** A key that came under a network's zone master key. */
type ImportedKey = {
  readonly key: ModuleKey
  /** The first six hexadecimal digits of zeros under it. */
  readonly checkValue: string
}

/** A PIN block of the wire, and how it lies there. */
export type PinSide = { readonly key: ModuleKey; readonly format: PinFormat }

/** Where the keys are; the gateway itself computes nothing with them. Every call ends within its time. */
export type SecurityModule = {
  /** What it connects to its keys with; undefined without TLS. */
  readonly tls?: KeyMaterial | undefined
  /**
   * The eight bytes of DE 64 or 128 over the data.
   *
   * @param waitMs how long it may wait before its time begins, where the module has as much to do as it may; 0 when not
   *   given
   * @throws SecurityModuleError
   */
  readonly mac: (
    key: ModuleKey,
    algorithm: MacAlgorithm,
    data: Uint8Array,
    waitMs?: number,
  ) => Promise<Uint8Array>
  /**
   * Opens a working key that lies under the zone master key.
   *
   * @param wrapped its bytes as hexadecimal digits
   * @throws SecurityModuleError
   */
  readonly importKey: (zone: ModuleKey, use: KeyUse, wrapped: string) => Promise<ImportedKey>
  /**
   * The same PIN under another key, perhaps in another format.
   *
   * @param pan ASCII digits; not kept
   * @throws SecurityModuleError
   */
  readonly translatePin: (
    block: Uint8Array,
    from: PinSide,
    to: PinSide,
    pan: Uint8Array,
  ) => Promise<Uint8Array>
  /** What it is, for `trilho doctor`. @throws SecurityModuleError */
  readonly describe: () => Promise<string>
  readonly start: () => void
  readonly stop: () => void
}

const faults = {
  unreachable: 'the security module cannot be reached',
  timed_out: 'the security module did not answer in time',
  busy: 'the security module has more to do than it may',
  refused: 'the security module refused the command',
  malformed: 'the security module answered with something else',
} as const

/** The module did not do it. Says nothing of keys and data. */
export class SecurityModuleError extends Error {
  override readonly name = 'SecurityModuleError'
  readonly fault: keyof typeof faults
  readonly code: string | undefined

  /** @param code of the module's answer, where there was one */
  constructor(fault: keyof typeof faults, code?: string) {
    super(code === undefined ? faults[fault] : `${faults[fault]} (error ${code})`)
    this.fault = fault
    this.code = code
  }
}
