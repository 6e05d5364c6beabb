import { z } from 'zod'
import { disputeRoles, disputeStatuses } from '#src/events/index.ts'
import {
  type ErrorDefinition,
  pageResponses,
  type RouteContract,
  type RouteDocument,
  text,
} from '#src/platform/http/index.ts'
import { dictErrors } from '../errors.ts'
import { agePage } from '../pages.ts'

const proseCharsMax = 2_000

const disputeParams = z.object({ id: z.uuid() })

const role = z.enum(disputeRoles).meta({ description: 'Whether we ask, or are asked.' })
const status = z.enum(disputeStatuses).meta({
  description:
    'As the directory has it; requested: it has not answered yet, refused: it does not take it.',
})

export const transactionId = z
  .string()
  .regex(/^[ED][0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/, 'must be an EndToEndId')

const disputesQuery = z.strictObject({
  role: role.optional(),
  status: status.optional(),
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
  role,
  status,
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

const askErrors = [dictErrors.dict_dispute_exists, dictErrors.dict_refused]
const actErrors = [
  dictErrors.dict_dispute_not_yours,
  dictErrors.dict_dispute_state,
  dictErrors.dict_refused,
]

type Text = Pick<RouteDocument, 'operation' | 'summary' | 'description'>
type Described = {
  /** Where they are. */
  readonly base: string
  /** One in a list, and as it is shown alone. */
  readonly item: z.ZodType
  readonly shown: z.ZodType
  /** The member of a page that holds them. */
  readonly member: string
  /** What asks for one. */
  readonly body: z.ZodType
  /** What 202 says. */
  readonly asked: string
}

/** Each kind reads its own bodies. */
const asking = {
  scope: 'dict:write',
  bodyBytesMax: 16_384,
  isBodyReadByHand: true,
  idempotent: true,
} as const

/** The documents of a kind of dispute, but for its acts, and what makes one of an act. */
export const documentsOf = (
  { base, item, shown, member, body, asked: unanswered }: Described,
  { create, list, find }: Readonly<Record<'create' | 'list' | 'find', Text>>,
) => {
  const done = { description: 'The directory has it.', schema: item }
  const asked = { description: unanswered, schema: item }
  const exampleFrom = { id: `${list.operation}#/${member}/0/id` }
  const one = { params: disputeParams, exampleFrom }
  const all = {
    create: {
      ...asking,
      at: `POST ${base}`,
      ...create,
      body: { 'application/json': body },
      responses: { 201: done, 202: asked },
      errors: askErrors,
    },
    list: {
      at: `GET ${base}`,
      scope: 'dict:read',
      ...list,
      query: disputesQuery,
      responses: pageResponses(member, item, 'A page of them'),
    },
    find: {
      at: `GET ${base}/{id}`,
      scope: 'dict:read',
      ...find,
      ...one,
      responses: { 200: { description: 'As it stands', schema: shown } },
    },
  } as const satisfies Readonly<Record<string, RouteContract>>
  const actOn = (
    act: string,
    text: Text,
    of: z.ZodType = emptyBody,
    errors: readonly ErrorDefinition[] = [],
  ) =>
    ({
      ...asking,
      at: `POST ${base}/{id}/${act}`,
      ...text,
      ...one,
      errors: [...actErrors, ...errors],
      body: { 'application/json': of },
      responses: { 200: done, 202: asked },
    }) as const satisfies RouteContract
  return { ...all, actOn }
}

/** Tells what is wrong with a member of a body. */
export const refuseIn =
  (context: z.core.$RefinementCtx) =>
  (member: string, rule: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [member], message, params: { rule } })
