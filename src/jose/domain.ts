/** Signature algorithms of the specification. */
export const signatureAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384'] as const
export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]

/** Key management algorithms of the specification. */
export const keyManagementAlgorithms = ['RSA-OAEP', 'RSA-OAEP-256'] as const
export type KeyManagementAlgorithm = (typeof keyManagementAlgorithms)[number]

/** Content encryption algorithms of the specification. */
export const contentAlgorithms = ['A128GCM', 'A256GCM'] as const
export type ContentAlgorithm = (typeof contentAlgorithms)[number]

export const serializations = ['compact', 'flattened'] as const
export type Serialization = (typeof serializations)[number]

/** Where the payload of a JWS is, and whether it is signed in base64url or as it is. */
export const payloadForms = ['attached', 'detached', 'detached_unencoded'] as const
export type PayloadForm = (typeof payloadForms)[number]

/** Largest token to accept and largest content to sign or encrypt, in characters or bytes. */
export const tokenCharsMax = 512 * 1024
export const contentBytesMax = 256 * 1024
/** Longest protected header, in base64url. */
export const headerCharsMax = 8 * 1024
export const kidCharsMax = 128
/** Most keys of a key set. */
export const keySetKeysMax = 64

/** The kind of a certificate's key. */
export type KeyKind = 'rsa' | 'P-256' | 'P-384'

/** The only algorithm that a key may use for each purpose; undefined forbids the purpose. */
export type AlgorithmPin = {
  readonly signature: SignatureAlgorithm
  readonly keyManagement: KeyManagementAlgorithm | undefined
}

const defaultPins: Readonly<Record<KeyKind, AlgorithmPin>> = {
  rsa: { signature: 'RS256', keyManagement: 'RSA-OAEP-256' },
  'P-256': { signature: 'ES256', keyManagement: undefined },
  'P-384': { signature: 'ES384', keyManagement: undefined },
}

/** A configured exception to the default pin of RSA keys. */
export type ConfiguredPin = {
  readonly kid: string
  readonly algorithm: SignatureAlgorithm | KeyManagementAlgorithm
}

/** The algorithms of a key: by its kind, and for RSA keys by the settings. */
export const pinOf = (
  kid: string,
  kind: KeyKind,
  configured: readonly ConfiguredPin[],
): AlgorithmPin => {
  const pin = defaultPins[kind]
  if (kind !== 'rsa') return pin
  const own = configured.filter((entry) => entry.kid === kid).map(({ algorithm }) => algorithm)
  return {
    signature:
      signatureAlgorithms.find((name) => own.includes(name) && !name.startsWith('ES')) ??
      pin.signature,
    keyManagement: keyManagementAlgorithms.find((name) => own.includes(name)) ?? pin.keyManagement,
  }
}
