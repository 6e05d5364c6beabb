/** What a token stands for. */
export type Card = {
  /** 12 to 19 ASCII digits in a buffer that the caller owns and wipes. */
  readonly pan: Uint8Array
  /** YYMM; undefined if the vault does not tell it. */
  readonly expiry: string | undefined
  /** The cryptogram of a network token for one payment, base64. Number and expiry are then those of the token. */
  readonly cryptogram?: string | undefined
}

/** What the vault answered for one token; `body` is a copy of as much as is read, which the caller owns. */
export type Told = {
  readonly status: number
  readonly body: Uint8Array
  readonly expiry: string | undefined
  readonly cryptogram: string | undefined
  /** How many tokens the vault takes in one call. */
  readonly tokensMax?: string | undefined
}

/** The place of card numbers; the gateway holds only tokens. */
export type Vault = {
  /**
   * Returns the card of a token.
   *
   * @throws CardTokenNotFoundError if the vault does not know the token
   * @throws VaultUnavailableError if it gives no usable answer: the same call may succeed later
   */
  resolve(token: string): Promise<Card>
}

/** The card of a token, or why there is none. */
export const cardOr = async (
  vault: Vault,
  token: string,
): Promise<Card | 'vault_unavailable' | 'token_unknown'> => {
  try {
    return await vault.resolve(token)
  } catch (error) {
    if (error instanceof CardTokenNotFoundError) return 'token_unknown'
    if (error instanceof VaultUnavailableError) return 'vault_unavailable'
    throw error
  }
}

/** The vault does not know the token. */
export class CardTokenNotFoundError extends Error {
  override readonly name = 'CardTokenNotFoundError'

  constructor() {
    super('the vault holds no such card token')
  }
}

/** Why the vault gave no usable answer. */
export type VaultFault = 'circuit_open' | 'timed_out' | 'unreachable' | 'refused' | 'malformed'

const faults: Readonly<Record<VaultFault, string>> = {
  circuit_open: 'the card vault failed repeatedly and is not asked for a moment',
  timed_out: 'the card vault did not answer in time',
  unreachable: 'the card vault cannot be reached',
  refused: 'the card vault refused the call',
  malformed: 'the card vault answered with something other than a card number',
}

/** The vault gave no usable answer. Holds no part of the token or of the vault's answer. */
export class VaultUnavailableError extends Error {
  override readonly name = 'VaultUnavailableError'
  readonly fault: VaultFault
  /** That of the HTTP answer, where there is one. */
  readonly status: number | undefined

  constructor(fault: VaultFault, status?: number) {
    super(status === undefined ? faults[fault] : `${faults[fault]} (HTTP ${status})`)
    this.fault = fault
    this.status = status
  }
}
