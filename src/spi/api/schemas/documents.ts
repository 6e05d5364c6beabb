import { z } from 'zod'
import { violationsMax } from '#codecs/iso20022'
import { httpErrors, type RouteContract } from '#src/platform/http/index.ts'
import { xmlTypes } from '../message-body.ts'
import { samples } from '../transform/samples.ts'

const violation = z
  .object({
    path: z.string().meta({ description: 'XPath, with positions where elements repeat.' }),
    line: z.int(),
    rule: z.string().meta({ description: 'What is broken: unexpected, missing, pattern, …' }),
    got: z.string().meta({ description: 'The shape of what was found, never the value.' }),
    expected: z.string(),
  })
  .meta({ id: 'SchemaViolation' })

export const validateBody = z.strictObject({ message: z.string() })

export const validateDocumentation: RouteContract = {
  at: 'POST /v1/validate',
  scope: 'spi:transform',
  accepts: [...xmlTypes, 'application/json'],
  isPure: true,
  operation: 'validateMessage',
  summary: 'Validate a message against the schema of its type and version',
  description: `Every violation is listed, up to ${violationsMax}. A message that is not valid is an answer, not an error.`,
  body: { 'application/xml': z.string(), 'application/json': validateBody },
  bodyExamples: { message: samples['pacs.008'] },
  responses: {
    200: {
      description: 'The verdict.',
      schema: z.object({
        type: z.string().meta({ example: 'pacs.008' }),
        version: z.string().meta({ example: '1.13' }),
        schema_version: z.string().meta({
          example: '1.13',
          description: 'The version whose schema judged: the nearest, where there is none.',
        }),
        revision: z.string().nullable().meta({ example: '5.10.1' }),
        valid: z.boolean(),
        violations: z.array(violation),
        truncated: z.boolean(),
      }),
    },
  },
  errors: [httpErrors.message_rejected],
}

export const schemasDocumentation: RouteContract = {
  at: 'GET /v1/schemas',
  scope: 'spi:transform',
  operation: 'listSchemas',
  summary: 'List the message versions by revision, and the schemas in use',
  responses: {
    200: {
      description: 'Types, versions with how sure they are, and what SPI_SCHEMA_DIR gave.',
      schema: z.object({
        revision: z.string(),
        schemas: z.array(
          z.object({
            type: z.string(),
            versions: z.array(z.string()),
            revisions: z.record(
              z.string(),
              z.object({
                version: z.string(),
                certainty: z.enum(['confirmed', 'inferred', 'weak']),
              }),
            ),
          }),
        ),
        loaded: z.array(
          z.object({
            file: z.string(),
            outcome: z.enum(['loaded', 'skipped', 'failed']),
            type: z.string().optional(),
            version: z.string().optional(),
            reason: z.string().optional(),
          }),
        ),
      }),
    },
  },
}

export const codesDocumentation: RouteContract = {
  at: 'GET /v1/codes',
  scope: 'spi:transform',
  operation: 'listCodes',
  summary: 'List the codes of the messages with their meanings',
  responses: {
    200: {
      description:
        'Lists by name. Of pacs.002: transaction_status, status_reason; pacs.004: return_reason; pain.011: mandate_cancellation_reason; pain.012: mandate_status, mandate_refusal; pain.013: charge_purpose; pain.014: charge_status, charge_refusal; camt.025: receipt_status, receipt_refusal; camt.029: cancellation_status, cancellation_refusal; camt.055: cancellation_reason; both: cancellation_processing; camt.054: entry_status; reda.016: party_status, party_status_reason; the others of pacs.008.',
      schema: z.object({
        codes: z.record(
          z.string(),
          z.array(
            z.object({
              code: z.string(),
              meaning: z
                .object({ en: z.string(), pt: z.string() })
                .nullable()
                .meta({ description: 'Null where only the code is known.' }),
              remedy: z.object({ en: z.string(), pt: z.string() }).nullable().meta({
                description: 'What who is refused does about it: our advice, if we have any.',
              }),
              certainty: z.enum(['official', 'reported', 'inferred', 'unknown']).meta({
                description:
                  'Of the meaning. official: the central bank’s own table for this message; reported: by others who read its catalogue; inferred: what the same code means in another message.',
              }),
              raised_by: z.array(z.enum(['R', 'P', 'S'])).meta({
                description:
                  'R: the receiving participant, P: the paying one, S: the SPI. Empty where that is not known, and for codes that are no reasons.',
              }),
              since: z.string().nullable().meta({ description: 'First version that has it.' }),
              until: z.string().nullable().meta({ description: 'Last version that has it.' }),
            }),
          ),
        ),
      }),
    },
  },
}
