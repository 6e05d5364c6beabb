import { z } from 'zod'
import { type RsfnSpecialUse, rsfnSpecialUse } from '#codecs/rsfn'
import { ispbForm } from '#codecs/taxpayer'
import { type RouteContract, text } from '#src/platform/http/index.ts'
import { rsfnApiErrors } from './errors.ts'
import { centralBank, rsfnMessageBytesMax } from './service.ts'
import { rsfnTypes } from './sources.ts'

/** A message in base64, and room for the rest. */
const rsfnBodyBytesMax = 2 * rsfnMessageBytesMax
const contentCharsMax = 512 * 1024

const party = z.strictObject({
  authority: z.int().min(1).max(7).meta({
    description:
      '1 Serpro, 2 Certisign, 3 Pessoas Físicas, 4 Serasa, 5 CAIXA, 6 Valid, 7 Soluti (C10, C12).',
  }),
  serial: z
    .string()
    .regex(/^[0-9A-Fa-f]{1,32}$/, 'must be 1 to 32 hexadecimal digits')
    .meta({ description: 'Serial number of the certificate, hexadecimal (C11, C13).' }),
})

export const specialUses = Object.values(rsfnSpecialUse)
const isSpecialUse = (value: number): boolean => specialUses.some((known) => known === value)

const sealBody = z
  .strictObject({
    content: text(contentCharsMax, { isMultiline: true, charactersMin: 0 }),
    content_encoding: z.enum(['utf8', 'base64']).default('utf8').meta({
      description:
        'utf8: text, which goes out as UTF-16BE. base64: bytes, which go out as they are.',
    }),
    type: z.enum(rsfnTypes).default('SPB').meta({
      description: 'Type of the certificates, of the certificate store.',
    }),
    // An enumeration of numbers is what the generator for Java cannot compile.
    special_use: z
      .int()
      .min(0)
      .max(10)
      .refine(isSpecialUse, 'is no special use')
      .transform((value) => value as RsfnSpecialUse)
      .default(rsfnSpecialUse.NORMAL)
      .meta({
        description:
          'C04: 0 normal, 1 certificate to be activated, 2 broadcast and 3 security message (not encrypted), 4 and 6 file, 8 and 10 compressed file (6 and 10 not encrypted).',
      }),
    recipient_ispb: z
      .string()
      .regex(ispbForm, 'must be 8 digits or capital letters')
      .default(centralBank)
      .meta({
        description: 'Whose certificate of the store encrypts; the central bank by default.',
      }),
    sender: party.optional(),
    recipient: party.optional(),
  })
  .meta({ id: 'RsfnContent' })

const openBody = z
  .strictObject({
    message: z
      .string()
      .max(Math.ceil(rsfnMessageBytesMax / 3) * 4)
      .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')
      .meta({ description: 'Header and body, in base64.' }),
    accept_clear: z.boolean().default(false).meta({
      description: 'Takes a message of protocol 00 too, which nothing protects.',
    }),
    accept_second_version: z.boolean().default(false).meta({
      description: 'Takes a message of protocol 02 too (3DES).',
    }),
  })
  .meta({ id: 'RsfnMessage' })

const certificate = z.object({ authority: z.int(), serial: z.string() })

const sealed = z
  .object({
    message: z.string().meta({ description: 'Header and body, in base64.' }),
    bytes: z.int(),
    sender: certificate,
    recipient: certificate,
  })
  .meta({ id: 'SealedRsfnMessage' })

const opened = z
  .object({
    content: z.string(),
    content_encoding: z.enum(['utf8', 'base64']),
    signed: z.boolean(),
    encrypted: z.boolean(),
    special_use: z.int(),
    sender: certificate.nullable(),
    recipient: certificate.nullable(),
  })
  .meta({ id: 'OpenedRsfnMessage' })

export const documents = {
  seal: {
    at: 'POST /v1/rsfn/seal',
    scope: 'rsfn:use',
    act: 'rsfn.seal',
    bodyBytesMax: rsfnBodyBytesMax,
    operation: 'sealRsfnMessage',
    summary: 'Seal a message of the network (RSFN)',
    description:
      'Signs, compresses where the special use says so, encrypts (AES-256-GCM), and puts the security header of 588 bytes in front. Keys and certificates are ours of the type and the latest of the recipient, of the store, or those of RSFN_PRIVATE_KEY_PATH and RSFN_PUBLIC_KEY_PATH; then sender and recipient say how the header names them.',
    body: { 'application/json': sealBody },
    bodyExamples: { 'to ourselves': { content: '<DOC/>', recipient_ispb: '12345678' } },
    exampleFrom: { '/recipient_ispb': 'listCertificates?type=SPB#/certificates/0/ispb' },
    responses: { 200: { description: 'The message.', schema: sealed } },
    errors: Object.values(rsfnApiErrors),
  },
  open: {
    at: 'POST /v1/rsfn/open',
    scope: 'rsfn:use',
    act: 'rsfn.open',
    bodyBytesMax: rsfnBodyBytesMax,
    operation: 'openRsfnMessage',
    summary: 'Open a message of the network (RSFN)',
    description:
      'Checks the header, decrypts, verifies and decompresses. A message that is refused is answered with the code that C03 of the answer to its sender must carry.',
    body: { 'application/json': openBody },
    bodyExamples: { sealed: { message: 'AkwDAAAA' } },
    exampleFrom: { '/message': 'sealRsfnMessage#/message' },
    responses: { 200: { description: 'The content.', schema: opened } },
    errors: Object.values(rsfnApiErrors),
  },
} as const satisfies Readonly<Record<string, RouteContract>>
