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
