import { z } from 'zod'
import { httpErrors, text } from '#src/platform/http/index.ts'
import { dictErrors } from '../errors.ts'
import { agePage } from '../pages.ts'
import { disputeStatuses } from './domain.ts'

export const tag = 'Instant payments' as const
const proseCharsMax = 2_000

export const disputeParams = z.object({ id: z.uuid() })

const role = z.enum(['asking', 'asked']).meta({ description: 'Whether we ask, or are asked.' })
const status = z.enum(disputeStatuses).meta({
  description:
    'As the directory has it; requested: it has not answered yet, refused: it does not take it.',
})

export const transactionId = z
  .string()
  .regex(/^[ED][0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/, 'must be an EndToEndId')

export const disputesQuery = z.strictObject({
  ...{ role: role.optional(), status: status.optional() },
  transaction_id: transactionId.optional(),
  needs_attention: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: '`true`: those that this institution is asked to answer.' }),
  ...agePage,
})

/** For people to read. */
export const prose = text(proseCharsMax)

/** Asks for nothing but the act itself. */
export const emptyBody = z.strictObject({}).meta({ id: 'NothingMore', example: {} })

const moment = z.iso.datetime()

/** What all disputes show. */
export const disputeMembers = {
  id: z.uuid(),
  directory_id: z.uuid().nullable().meta({ description: 'The directory’s; null until it has it.' }),
  ...{ role, status },
  transaction_id: z.string().meta({ description: 'EndToEndId of the payment.' }),
  reason: z.string(),
  other_ispb: z.string().nullable().meta({ description: 'The other institution.' }),
  details: z.string().nullable(),
  result: z.string().nullable(),
  analysis: z.string().nullable(),
  pending: z
    .string()
    .nullable()
    .meta({ description: 'What the directory has not answered yet, and is asked until it does.' }),
  needs_attention: z.boolean().meta({ description: 'It waits for a person here.' }),
  refusal: z.string().nullable().meta({
    description: 'Why what was asked last did not come about: the directory’s name for it.',
  }),
  created_at: moment,
  modified_at: moment.nullable().meta({ description: 'By the directory’s clock.' }),
}

const { not_found: notFound, not_configured: notConfigured } = httpErrors
export const wrong = [httpErrors.validation_failed, httpErrors.value_refused, notConfigured]
export const askErrors = [...wrong, dictErrors.dict_dispute_exists, dictErrors.dict_refused]
export const findErrors = [notFound, ...wrong]
export const actErrors = [
  ...[notFound, ...wrong, dictErrors.dict_dispute_not_yours],
  ...[dictErrors.dict_dispute_state, dictErrors.dict_refused],
]
