/**
 * Makes RSASSA-PKCS1-v1_5 signatures with SHA-256, off the event loop and on all cores. All
 * providers give the same bytes for the same key and input.
 */
export type RsaKey = {
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>
  /** Frees threads and key memory. Signatures under way still end. */
  readonly close: () => void
}

export type RsaProvider = {
  readonly name: 'node:crypto' | 'libcrypto'
  /**
   * @param pkcs8 - the private key in DER; the provider keeps no reference to it
   * @throws when the key cannot be used by this provider
   */
  readonly open: (pkcs8: Uint8Array) => Promise<RsaKey>
}
