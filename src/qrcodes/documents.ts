import { z } from 'zod'
import { type RouteContract, text } from '#src/platform/http/index.ts'
import { qrcodeErrors } from './errors.ts'

const bodyBytesMax = 16_384

/** Bodies of the QR code routes, and their part of the OpenAPI document. */

const name = text(140).meta({
  description: 'Merchant name; at most 25 characters in the code.',
  example: 'Fulano de Tal',
})
const city = text(140).meta({
  description: 'Merchant city; at most 15 characters in the code.',
  example: 'BRASILIA',
})
const amount = z
  .string()
  .regex(/^[0-9]{1,10}(\.[0-9]{1,2})?$/, 'must be a decimal string such as 10.00')
  .meta({
    description: 'Reais above zero, as a decimal string; left out, the payer chooses.',
    example: '10.00',
  })
const url = text(300).meta({
  description: 'Host and path, at most 77 characters; a leading https:// is taken off.',
  example: 'pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441',
})

const wantedImage = z.enum(['png', 'svg']).optional().meta({
  description: 'Adds the picture to the answer; Accept: image/png or image/svg+xml gives it alone.',
})

const merchant = {
  name,
  city,
  amount: amount.optional(),
  postal_code: text(10).optional(),
  merchant_category_code: z
    .string()
    .regex(/^[0-9]{4}$/, 'must be four digits')
    .optional(),
  single_use: z.boolean().optional().meta({
    description: 'Tag 01: true says to pay once. Dynamic codes are for one payment by default.',
  }),
  charset: z.enum(['ascii', 'utf-8']).default('ascii').meta({
    description:
      'ascii takes accents off name, city and info, which every reader understands, and refuses characters that ASCII has no form for; utf-8 keeps all and counts lengths in bytes.',
  }),
  image: wantedImage,
}

const key = text(77).meta({
  description: 'CPF, CNPJ (alphanumeric too), phone, e-mail or EVP; check digits are verified.',
  example: '123e4567-e12b-12d1-a456-426655440000',
})
const info = text(72).optional().meta({ description: 'Text for the payer.' })
/** In the code of the receiver: `***` stands for none. */
const txid = text(35).optional()
const chargeTxid = z
  .string()
  .regex(/^[A-Za-z0-9]{26,35}$/, 'must be 26 to 35 letters and digits')
  .optional()
  .meta({ description: 'Of the charge: checked and echoed, not in the code.' })

export const staticBody = z
  .strictObject({ ...merchant, key, info, txid })
  .meta({ id: 'StaticQrCode' })
export const dynamicBody = z
  .strictObject({
    ...merchant,
    url,
    txid: chargeTxid,
  })
  .meta({ id: 'DynamicQrCode' })
export const compositeBody = z
  .strictObject({
    ...merchant,
    recurrence_url: url,
    key: key.optional(),
    url: url.optional(),
    info,
    txid,
  })
  .meta({ id: 'CompositeQrCode' })
export const parseBody = z
  .strictObject({
    payload: text(4096, { isMultiline: true, charactersMin: 0 }).meta({
      description: 'What the code says, as text; white space around it is taken off.',
    }),
    image: wantedImage,
  })
  .meta({ id: 'QrCodePayload' })

const resolveBody = z
  .strictObject({
    payload: text(4096, { isMultiline: true }).meta({
      description: 'What a dynamic code says, as text; white space around it is taken off.',
    }),
    of: z.enum(['charge', 'recurrence']).default('charge').meta({
      description: 'Which location, of a composite code: its charge, or its recurrence.',
    }),
    cod_mun: z
      .string()
      .regex(/^[0-9]{7}$/, 'must be seven digits')
      .optional()
      .meta({
        description: 'IBGE code of the payer\u2019s municipality, for a charge with a due date.',
      }),
    dpp: z
      .string()
      .regex(/^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$/, 'must be a day, YYYY-MM-DD')
      .optional()
      .meta({
        description: 'Day on which it is to be paid, for a charge with a due date.',
      }),
  })
  .meta({ id: 'QrCodeToResolve' })

const drawn = z
  .object({
    media_type: z.enum(['image/png', 'image/svg+xml']),
    data: z.string().meta({ description: 'SVG text, or PNG in base64.' }),
  })
  .optional()

const generated = z
  .object({
    payload: z.string().meta({ description: 'Copy and paste, or draw as a QR code.' }),
    txid: z.string().nullable(),
    kind: z.enum(['static', 'dynamic', 'authorization']),
    composite: z.boolean(),
    key_kind: z.enum(['cpf', 'cnpj', 'phone', 'email', 'evp']).nullable(),
    image: drawn,
  })
  .meta({ id: 'GeneratedQrCode' })

const node = z
  .object({
    id: z.string(),
    path: z.string(),
    name: z.string(),
    offset: z.int(),
    length: z.int(),
    value: z.string().nullable(),
    // It does not refer to itself, because the document's generator would never end.
    children: z.array(z.looseObject({})).meta({ description: 'Objects of the same form.' }),
  })
  .meta({ id: 'QrCodeNode' })

const code = {
  length_unit: z.enum(['bytes', 'characters']).meta({
    description: 'How the producer counted lengths; the same where all is ASCII.',
  }),
  merchant_category_code: z.string(),
  currency: z.string(),
  amount: z.string().nullable(),
  country: z.string(),
  name: z.string(),
  city: z.string(),
  postal_code: z.string().nullable(),
  pix: z
    .object({
      kind: z.enum(['static', 'dynamic', 'authorization']),
      composite: z.boolean(),
      template: z.int(),
      key: z.string().nullable(),
      key_kind: z.string().nullable(),
      info: z.string().nullable(),
      url: z.string().nullable(),
      recurrence_url: z.string().nullable(),
      single_use: z.boolean(),
      txid: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'null where no template is of Pix.' }),
  warnings: z.array(z.object({ rule: z.string(), path: z.string(), offset: z.int() })),
}

const parsed = z.object({ ...code, tree: z.array(node), image: drawn }).meta({ id: 'ParsedQrCode' })

const resolved = z
  .object({
    location: z.string().meta({ description: 'The address that was read.' }),
    code: z.object(code),
    verdict: z.object({
      valid: z.boolean(),
      reason: z.string().optional().meta({
        description:
          'As of POST /v1/jose/verify, or payload_not_json, certificate_expired, certificate_chain_broken.',
      }),
      message: z.string().optional(),
      alg: z.string().optional(),
      kid: z.string().optional(),
      key_source: z.string().optional(),
      certificate: z
        .object({
          subject: z.string(),
          issuer: z.string(),
          serial: z.string(),
          not_before: z.string(),
          not_after: z.string(),
        })
        .nullable()
        .meta({ description: 'Of the key, where its key set has one.' }),
    }),
    header: z.record(z.string(), z.unknown()).nullable(),
    payload: z.unknown().meta({
      description: 'The charge, as its institution signed it; only with valid may it be paid.',
    }),
  })
  .meta({ id: 'ResolvedQrCode' })

const build = <Body extends z.ZodType>(
  kind: string,
  operation: string,
  summary: string,
  body: Body,
) =>
  ({
    at: `POST /v1/qrcodes/${kind}`,
    scope: 'qrcodes:use',
    bodyBytesMax,
    isPure: true,
    operation,
    summary,
    description:
      'Answers JSON, or the picture alone where Accept asks for image/png or image/svg+xml (error correction level M).',
    body: { 'application/json': body },
    responses: { 200: { description: 'The code.', schema: generated } },
  }) as const

const exampleCode =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000520400005303986540510.005802BR5913Fulano de Tal6008BRASILIA62070503***6304288F'
const exampleDynamicCode =
  '00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441520400005303986540510.005802BR5913Fulano de Tal6008BRASILIA62070503***63040A82'

export const documents = {
  static: build('static', 'createStaticQrCode', 'Write a static Pix code', staticBody),
  dynamic: build('dynamic', 'createDynamicQrCode', 'Write a dynamic Pix code', dynamicBody),
  composite: build(
    'composite',
    'createCompositeQrCode',
    'Write a composite code (Pix Automático)',
    compositeBody,
  ),
  parse: {
    at: 'POST /v1/qrcodes/parse',
    scope: 'qrcodes:use',
    accepts: ['application/json', 'text/plain'],
    bodyBytesMax,
    isPure: true,
    operation: 'readQrCode',
    summary: 'Read a code',
    description:
      'Any EMV merchant-presented payload: the whole tree, and the Pix reading. The address in a dynamic code is never fetched.',
    body: { 'application/json': parseBody, 'text/plain': z.string() },
    bodyExamples: { static: { payload: exampleCode } },
    responses: { 200: { description: 'What the code says.', schema: parsed } },
    errors: [qrcodeErrors.brcode_invalid],
  },
  resolve: {
    at: 'POST /v1/pix/qrcode/resolve',
    scope: 'qrcodes:use',
    bodyBytesMax,
    operation: 'resolveQrCode',
    summary: 'Fetch and verify the charge behind a dynamic code',
    description:
      'Reads the signed payload at the location in the code, verifies it by the key set of the same site (`jku`) or by pinned keys, and answers it with the verdict. A payload that does not hold is answered too, with `valid` false.',
    body: { 'application/json': resolveBody },
    bodyExamples: { dynamic: { payload: exampleDynamicCode } },
    exampleFrom: { '/payload': 'createDynamicQrCode#/payload' },
    responses: {
      200: { description: 'The charge, and whether it may be trusted.', schema: resolved },
    },
    errors: Object.values(qrcodeErrors),
  },
} as const satisfies Readonly<Record<string, RouteContract>>
