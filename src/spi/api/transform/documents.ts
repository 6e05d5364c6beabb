import { z } from 'zod'
import { httpErrors, type RouteContract } from '#src/platform/http/index.ts'
import { xmlTypes } from '../message-body.ts'
import { type ProjectedType, projectionTargets, sourceFormats, targetFormats } from './formats.ts'
import { samples } from './samples.ts'

/** The transformation routes in the OpenAPI document. Nothing here runs per request. */

const options = z
  .strictObject({
    validate: z.boolean().default(false).meta({
      description:
        'Check the whole schema first; every violation is listed (422 schema_violation).',
    }),
    enrich: z.boolean().default(false).meta({
      description: 'Add identifiers, dates, ISPBs, accounts, PIX key, remittance and tax.',
    }),
  })
  .meta({ id: 'TransformOptions' })

const message = z.string().meta({
  description: 'The ISO 20022 XML document, or with source_format json the text of its JSON form.',
})

const sourceFormat = z.enum(sourceFormats)
const targetFormat = z.enum(targetFormats)

const amount = z.number().meta({
  description: 'In currency units, always written with two fraction digits, exact up to 18 digits.',
  example: 1000.0,
})

const party = z.object({
  name: z.string().nullable().meta({ description: 'null where the message names nobody.' }),
  document: z.string().meta({
    description: 'CPF or CNPJ, all but its last four characters masked.',
    example: '*******0000',
  }),
})

const counted = {
  transaction_count: z.int().meta({ description: 'Transactions in the message.' }),
}

const pixPayment = z
  .object({
    end_to_end_id: z.string(),
    amount,
    currency: z.string().meta({ example: 'BRL' }),
    debtor: party,
    creditor: party,
    ...counted,
  })
  .meta({ id: 'PixPayment' })

const reason = z.object({
  code: z.string().nullable(),
  meaning: z.string().nullable(),
  additional_information: z.array(z.string()),
})

const pixStatus = z
  .object({
    original_end_to_end_id: z.string(),
    original_instruction_id: z.string(),
    status: z.enum(['ACSP', 'ACSC', 'ACCC', 'RJCT']),
    accepted: z.boolean(),
    reasons: z.array(reason),
    settlement_date_time: z.string().nullable(),
    settlement_date: z.string().nullable(),
    ...counted,
  })
  .meta({ id: 'PixStatus' })

const pixReturn = z
  .object({
    return_id: z.string(),
    original_end_to_end_id: z.string(),
    amount,
    currency: z.string(),
    reason: reason.extend({ additional_information: z.string().nullable() }),
    returning_ispb: z.string(),
    receiving_ispb: z.string(),
    ...counted,
  })
  .meta({ id: 'PixReturn' })

const results = { 'pacs.008': pixPayment, 'pacs.002': pixStatus, 'pacs.004': pixReturn } as const

/** A choice between these and any object is any object; generators of clients cannot write such a choice. */
const everyResult = z.record(z.string(), z.unknown()).meta({
  id: 'TransformResult',
  description:
    'By target_format. pix_payment, pix_status, pix_return: as PixPayment, PixStatus, PixReturn. A message type: { "xml": … }, valid but for a signature still to come. json: the whole message; elements are members, arrays where they may repeat; attributes are @name and their element’s text is #text.',
})

const errors = [httpErrors.message_rejected, httpErrors.schema_violation]

const brokenRule = z
  .object({
    pointer: z.string(),
    rule: z.string(),
    message: z.string(),
    got: z.string(),
    expected: z.string(),
  })
  .meta({ description: 'What the schema has against a message that became json all the same.' })

const exampleOf = (type: ProjectedType | undefined) =>
  type === undefined
    ? {
        source_format: 'pacs.008',
        target_format: projectionTargets['pacs.008'],
        message: samples['pacs.008'],
      }
    : { message: samples[type] }

/** `type` undefined: the route for every source format. */
export const transformDocument = (type: ProjectedType | undefined): RouteContract => ({
  at: type === undefined ? 'POST /v1/transform' : `POST /v1/transform/${type.replace('.', '')}`,
  scope: 'spi:transform',
  accepts: ['application/json', ...xmlTypes],
  isPure: true,
  operation:
    type === undefined ? 'transform' : `transform${type.replace('p', 'P').replace('.', '')}`,
  summary:
    type === undefined
      ? 'Transform an ISO 20022 message'
      : `Transform a ${type} to ${projectionTargets[type]}`,
  description:
    'The message is a member of a JSON request, or the body itself as application/xml or text/xml, compressed (gzip) if you like; then options are the query parameters validate and enrich, and the source format is what the message says it is. Any message type becomes json (its lossless form), and json becomes a message type: the result is { "xml": … }, of the version that AppHdr/MsgDefIdr names. What becomes a message must be valid, but for a missing signature; a message that is not valid becomes json all the same, in the order of the document, with what its schema has against it in violations. AppHdr/MsgDefIdr and the namespace must name the same message and version. For a version without a schema the nearest one stands; its business view comes from the elements it shares with the others.',
  body: {
    'application/json': z.strictObject({
      source_format: type === undefined ? sourceFormat : z.enum([type]).optional(),
      target_format:
        type === undefined ? targetFormat : z.enum([projectionTargets[type]]).optional(),
      message,
      options: options.optional(),
    }),
    'application/xml': z.string(),
  },
  bodyExamples: { message: exampleOf(type) },
  responses: {
    200: {
      description: 'The transformation.',
      schema: z.object({
        transformation_id: z.string(),
        source_format: sourceFormat,
        target_format: targetFormat,
        result: type === undefined ? everyResult : results[type],
        ...(type === undefined ? { violations: z.array(brokenRule).optional() } : {}),
        created_at: z.iso.datetime(),
      }),
    },
  },
  errors,
})

export const listDocument: RouteContract = {
  at: 'GET /v1/transformations',
  scope: 'spi:transform',
  operation: 'listTransformations',
  summary: 'List the supported transformations',
  responses: {
    200: {
      description: 'Every accepted pair of formats.',
      schema: z.object({
        transformations: z.array(
          z.object({ source_format: sourceFormat, target_format: targetFormat }),
        ),
      }),
    },
  },
}
