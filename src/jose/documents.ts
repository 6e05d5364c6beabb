import { z } from 'zod'
import {
  httpErrors,
  type RouteContract,
  type RouteDocument,
  text,
} from '#src/platform/http/index.ts'
import {
  contentAlgorithms,
  contentBytesMax,
  keyManagementAlgorithms,
  keySetKeysMax,
  kidCharsMax,
  payloadForms,
  serializations,
  signatureAlgorithms,
  tokenCharsMax,
} from './domain.ts'
import { joseErrors, verificationFailures } from './errors.ts'
import { keyOrigins } from './names.ts'

/** A token in JSON, and room for the rest. */
const joseBodyBytesMax = 2 * tokenCharsMax

const kid = text(kidCharsMax)
const base64url = z
  .string()
  .max(tokenCharsMax)
  .regex(/^[A-Za-z0-9_-]*$/, 'must be base64url')
/** Text, which may have several lines; other bytes come in base64url. */
const content = text(Math.ceil((contentBytesMax * 4) / 3), {
  isMultiline: true,
  charactersMin: 0,
}).meta({ description: `At most ${contentBytesMax} bytes.` })
const token = text(tokenCharsMax, { charactersMin: 0 })
const encoding = z.enum(['utf8', 'base64url']).default('utf8')
const serialization = z.enum(serializations).default('compact')
const typ = text(64).optional()

/** Nothing protects this header, so that it may name the key and no more. */
const unprotected = z.strictObject({ kid: kid.optional() }).optional()
const flattenedJws = z.strictObject({
  protected: base64url,
  payload: base64url.optional(),
  signature: base64url,
  header: unprotected,
})
const flattenedJwe = z.strictObject({
  protected: base64url,
  encrypted_key: base64url,
  iv: base64url,
  ciphertext: base64url,
  tag: base64url,
  header: unprotected,
})

const signBody = z.strictObject({
  kid,
  alg: z.enum(signatureAlgorithms).optional(),
  typ,
  payload: content,
  payload_encoding: encoding,
  serialization,
  payload_form: z.enum(payloadForms).default('attached').meta({
    description:
      'detached leaves the payload out of the token (RFC 7515, appendix F); detached_unencoded also signs it as it is (RFC 7797).',
  }),
})
const encryptBody = z.strictObject({
  kid,
  alg: z.enum(keyManagementAlgorithms).optional(),
  enc: z.enum(contentAlgorithms).default('A256GCM'),
  typ,
  plaintext: content,
  plaintext_encoding: encoding,
  serialization,
})
const besideKid = kid.optional().meta({
  description: 'Names the key of a token that does not name it itself.',
})
const verifyBody = z.strictObject({
  jws: z.union([token, flattenedJws]),
  kid: besideKid,
  payload: content
    .optional()
    .meta({ description: `Of a detached token, at most ${contentBytesMax} bytes.` }),
  payload_encoding: encoding,
  jwks: z
    .strictObject({ keys: z.array(z.record(z.string(), z.unknown())).max(keySetKeysMax) })
    .optional()
    .meta({ description: 'Public keys (RFC 7517) to verify with: these, and no others.' }),
})
const decryptBody = z.strictObject({
  jwe: z.union([token, flattenedJwe]),
  kid: besideKid,
})

const jws = z.object({ jws: z.union([z.string(), flattenedJws]) })
const jwe = z.object({ jwe: z.union([z.string(), flattenedJwe]) })
const header = z.record(z.string(), z.unknown())
const verified = z.object({
  valid: z.boolean(),
  reason: z.enum(verificationFailures).optional(),
  message: z.string().optional(),
  kid: z.string().optional(),
  alg: z.string().optional(),
  key_source: z.enum(keyOrigins).optional().meta({
    description:
      'Where the key comes from: the certificate store, TRILHO_JOSE_KEYS_PATH, the request, or the address in the token.',
  }),
  payload: z.string().optional(),
  payload_encoding: z.string().optional(),
  header: header.optional(),
})
const decrypted = z.object({
  kid: z.string(),
  alg: z.string(),
  plaintext: z.string(),
  plaintext_encoding: z.string(),
  header,
})

type Example = Pick<RouteDocument, 'bodyExamples' | 'exampleFrom'>

const document = <const Name extends string, Body extends z.ZodType>(
  name: Name,
  operation: string,
  summary: string,
  body: Body,
  description: string,
  schema: z.ZodType,
  example: Example,
) =>
  ({
    ...example,
    at: `POST /v1/jose/${name}`,
    scope: 'jose:use',
    bodyBytesMax: joseBodyBytesMax,
    isPure: true,
    operation,
    summary,
    body: { 'application/json': body },
    responses: { 200: { description, schema } },
    errors: [...Object.values(joseErrors), httpErrors.overloaded],
  }) as const

const exampleKid = '12345678.QRC.1'
const ownKid = 'listPublicKeys#/keys/0/kid'

/** For acts with a private key of the institution. */
const ofInstitution = <const Name extends 'sign' | 'decrypt'>(name: Name) =>
  ({ act: `jose.${name}`, ofInstitution: true }) as const

export const documents = {
  sign: {
    ...document('sign', 'signJws', 'Signs a payload (JWS)', signBody, 'The JWS', jws, {
      bodyExamples: { text: { kid: exampleKid, payload: 'Pix' } },
      exampleFrom: { '/kid': ownKid },
    }),
    ...ofInstitution('sign'),
  },
  verify: document(
    'verify',
    'verifyJws',
    'Verifies a JWS',
    verifyBody,
    'Whether the signature holds',
    verified,
    { bodyExamples: { token: { jws: 'e30.e30.c2ln' } }, exampleFrom: { '/jws': 'signJws#/jws' } },
  ),
  encrypt: document(
    'encrypt',
    'encryptJwe',
    'Encrypts for a key (JWE)',
    encryptBody,
    'The JWE',
    jwe,
    {
      bodyExamples: { text: { kid: exampleKid, plaintext: 'Pix' } },
      exampleFrom: { '/kid': ownKid },
    },
  ),
  decrypt: {
    ...document(
      'decrypt',
      'decryptJwe',
      'Decrypts a JWE',
      decryptBody,
      'The plaintext',
      decrypted,
      {
        bodyExamples: { token: { jwe: 'e30.AA.AA.AA.AA' } },
        exampleFrom: { '/jwe': 'encryptJwe#/jwe' },
      },
    ),
    ...ofInstitution('decrypt'),
  },
  keys: {
    at: 'GET /.well-known/jwks.json',
    scope: 'public',
    operation: 'listPublicKeys',
    summary: 'Public keys of the institution (JWKS)',
    responses: {
      200: {
        description: 'JWK set (RFC 7517)',
        contentType: 'application/jwk-set+json',
        schema: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }),
      },
    },
  },
} as const satisfies Readonly<Record<string, RouteContract>>
