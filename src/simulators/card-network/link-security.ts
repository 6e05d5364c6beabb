import {
  type CardMessage,
  createFieldGetter,
  createFieldSetter,
  type Dialect,
  macFieldOf,
} from '#codecs/iso8583'
import {
  checkValueOf,
  type MacAlgorithm,
  macBytes,
  macOf,
  secretsMatch,
  withParity,
  wrapDesKey,
} from '#src/platform/security/index.ts'

/** How the simulated network secures its messages; keys are hexadecimal digits. */
export type SimulatedSecurity = {
  readonly algorithm: MacAlgorithm
  /** The first key of codes; undefined: the gateway has to ask for it. */
  readonly macKey?: string
  /** Keys of codes are sent under it: 32 digits and a check value of six in DE 48. */
  readonly zoneKey?: string
  /** Keys are sent with DE 70 161, and used when the gateway has confirmed them with 162. */
  readonly confirms?: boolean
}

/** DE 70: here is a key, or give me one. */
const keyChange = '101'
const keyDelivered = '161'
export const keyConfirmed = '162'
const keyField = 48
const keyBytes = 16
/** Keys before the current one that are honoured. */
const oldKeysMax = 2

type Key = { readonly bytes: Uint8Array; readonly parcel: string }

/** The network's keys of codes, and what it does with them. */
export class SimulatedKeys {
  private readonly security: SimulatedSecurity
  private readonly random: (bytes: number) => Uint8Array
  /** The current one last. */
  private keys: Uint8Array[]
  /** Sent, and not acknowledged. */
  private offered: Uint8Array | undefined
  /** How many keys were exchanged. */
  exchanged = 0
  /** Messages whose code was wrong. */
  wrongCodes = 0

  constructor(security: SimulatedSecurity, random: (bytes: number) => Uint8Array) {
    this.security = security
    this.random = random
    this.keys = security.macKey === undefined ? [] : [Uint8Array.fromHex(security.macKey)]
  }

  /** Whether the code is that of the message under a key that is, was or will be the current one. */
  isRight(data: Uint8Array, code: Uint8Array): boolean {
    const candidates = [...this.keys, ...(this.offered === undefined ? [] : [this.offered])]
    const isRight = candidates.some((key) =>
      secretsMatch(macOf(this.security.algorithm, key, data), code),
    )
    if (!isRight) this.wrongCodes++
    return isRight
  }

  /** The code of an answer. */
  codeOf(data: Uint8Array): Uint8Array {
    const key = this.keys.at(-1)
    return key === undefined ? new Uint8Array(macBytes) : macOf(this.security.algorithm, key, data)
  }

  /** Puts a new key into an 0800, which is in use once the gateway has answered. */
  offer(request: CardMessage): void {
    const { bytes, parcel } = this.newKey()
    this.offered = bytes
    createFieldSetter(keyField)(request, parcel)
  }

  get isOffered(): boolean {
    return this.offered !== undefined
  }

  /** DE 70 of an offer. */
  get changeCode(): string {
    return this.security.confirms === true ? keyDelivered : keyChange
  }

  /** The gateway's answer to an offer. */
  acknowledged(responseCode: string | undefined): void {
    if (responseCode === '00' && this.security.confirms !== true) this.confirmed()
    else if (responseCode !== '00') this.offered = undefined
  }

  /** @returns whether there was a key to confirm */
  confirmed(): boolean {
    const { offered } = this
    this.offered = undefined
    if (offered !== undefined) this.adopt(offered)
    return offered !== undefined
  }

  /** Puts a new key into the answer to a request for one; it is in use from then on. */
  give(answer: CardMessage): void {
    const { bytes, parcel } = this.newKey()
    this.adopt(bytes)
    createFieldSetter(keyField)(answer, parcel)
  }

  /** Acts like a network that begins anew: it sends under a key that nobody has. */
  begin(): void {
    this.keys.push(this.newKey().bytes)
  }

  private adopt(key: Uint8Array): void {
    this.keys = [...this.keys, key].slice(-1 - oldKeysMax)
    this.exchanged++
  }

  private newKey(): Key {
    const bytes = withParity(this.random(keyBytes))
    const zone = Uint8Array.fromHex(this.security.zoneKey ?? '')
    const wrapped = wrapDesKey(zone, bytes)
    const parcel = (wrapped.toHex() + checkValueOf('des', bytes).toHex()).toUpperCase()
    return { bytes, parcel }
  }
}

/** Packs an answer with its code. */
export const packSealed = (
  message: CardMessage,
  dialect: Dialect,
  keys: SimulatedKeys,
  pack: (message: CardMessage, out: Uint8Array, start: number) => number,
  out: Uint8Array,
  start: number,
): number => {
  const field = macFieldOf(message)
  const set = createFieldSetter(field)
  set(message, new Uint8Array(macBytes))
  const isHex = dialect.fields[field]?.encoding === 'hex'
  const codeAt = pack(message, out, start) - (isHex ? macBytes * 2 : macBytes)
  set(message, keys.codeOf(out.subarray(start, codeAt)))
  return pack(message, out, start)
}

/** Whether the 0800 asks for a key rather than bringing one. */
export const asksForKey = (request: CardMessage): boolean =>
  request.networkCode === keyChange && createFieldGetter(keyField)(request) === undefined
