/**
 * Thrown when the signer gives no usable signature. Whatever the reason, it is no fault of the message, which may be
 * signed later.
 */
export class SigningError extends Error {
  override readonly name = 'SigningError'
}

/** The certificate a signature names, as `X509IssuerSerial` holds it. */
export type SigningIdentity = {
  /** RFC 2253 text of the issuer. */
  readonly issuer: string
  /** Decimal. */
  readonly serial: string
}

/** One certificate and the way to sign as its holder; both change together in a rotation. */
export type SigningKey = {
  readonly identity: SigningIdentity
  /** RSASSA-PKCS1-v1_5 with SHA-256 over the bytes of a canonical SignedInfo. */
  readonly sign: (signedInfo: Uint8Array) => Promise<Uint8Array>
}

/**
 * Where signatures come from. `none` leaves messages without one.
 *
 * A message is signed with one key from its KeyInfo to its signature: callers ask for `key()` once
 * per message, so that a rotation never mixes two certificates.
 */
export type Signer =
  | {
      readonly kind: 'native' | 'service'
      /** Who does the RSA, for logs and `doctor`. */
      readonly provider: string
      readonly key: () => SigningKey | Promise<SigningKey>
      /** Finds out whether a message could be signed now. Rejects when none could. */
      readonly check: () => Promise<unknown>
      readonly close: () => void
    }
  | { readonly kind: 'none'; readonly close: () => void }
