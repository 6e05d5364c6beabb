import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of signing, encrypting and decrypting, besides those that every feature shares. */
export const joseErrors = defineErrors({
  jose_key_unknown: {
    status: 422,
    title: 'Unknown key',
    meaning: 'No certificate that is valid now has this kid, or its private key is not stored.',
    remedy: 'Take a kid from GET /v1/certificates; it is <ispb>.<type>.<version>.',
  },
  jose_purpose_not_allowed: {
    status: 422,
    title: 'Purpose not allowed',
    meaning:
      'The key usage of the certificate forbids the operation, or its private key signs messages, connects or seals, and nothing else.',
    remedy: 'Take the kid of a certificate of type QRC whose key usage fits.',
  },
  jose_algorithm_not_allowed: {
    status: 422,
    title: 'Algorithm not allowed',
    meaning: 'Each key is used with one algorithm per purpose, and the request names another.',
    remedy: 'Leave alg out, or pin another algorithm to the key with TRILHO_JOSE_ALGORITHMS.',
  },
  jose_token_malformed: {
    status: 422,
    title: 'Token malformed',
    meaning:
      'The token breaks the form of JWE, names its key twice and differently, or uses an option that is not accepted.',
    remedy: 'Send a compact or flattened JWE without compression.',
  },
  jose_decryption_failed: {
    status: 422,
    title: 'Decryption failed',
    meaning: 'The token was altered, or was made for another key.',
    remedy: 'Ask for the token again, encrypted for a key of /.well-known/jwks.json.',
  },
})

/** Why a signature is not accepted. */
export const verificationFailures = [
  'malformed',
  'key_unknown',
  'purpose_not_allowed',
  'algorithm_not_allowed',
  'signature_invalid',
  'key_ambiguous',
  'jku_not_allowed',
  'keys_unavailable',
] as const
export type VerificationFailure = (typeof verificationFailures)[number]

/** Thrown by the service; the routes turn it into an answer. */
export class JoseFailure extends Error {
  override readonly name = 'JoseFailure'
  readonly reason:
    | 'key_unknown'
    | 'purpose_not_allowed'
    | 'algorithm_not_allowed'
    | 'malformed'
    | 'decryption_failed'

  constructor(reason: JoseFailure['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
