/** Where card numbers live; the gateway holds tokens only. */
export type Vault = {
  /**
   * The card number of a token: 12 to 19 ASCII digits in a buffer that is the caller's, who wipes it.
   *
   * @throws CardTokenNotFoundError when the vault knows no such token
   * @throws VaultUnavailableError when it gives no usable answer: the same call may succeed later
   */
  resolve(token: string): Promise<Uint8Array>
}

/** The vault says that it holds no such token. */
export class CardTokenNotFoundError extends Error {
  override readonly name = 'CardTokenNotFoundError'

  constructor() {
    super('the vault holds no such card token')
  }
}

/** Why there is no usable answer of the vault. */
export type VaultFault = 'circuit_open' | 'timed_out' | 'unreachable' | 'refused' | 'malformed'

const faults: Readonly<Record<VaultFault, string>> = {
  circuit_open: 'the card vault failed repeatedly and is not asked for a moment',
  timed_out: 'the card vault did not answer in time',
  unreachable: 'the card vault cannot be reached',
  refused: 'the card vault refused the call',
  malformed: 'the card vault answered with something other than a card number',
}

/** No usable answer of the vault. Holds nothing of the token or of what the vault sent. */
export class VaultUnavailableError extends Error {
  override readonly name = 'VaultUnavailableError'
  readonly fault: VaultFault

  /** @param status - of the HTTP answer, where there was one */
  constructor(fault: VaultFault, status?: number) {
    super(status === undefined ? faults[fault] : `${faults[fault]} (HTTP ${status})`)
    this.fault = fault
  }
}
