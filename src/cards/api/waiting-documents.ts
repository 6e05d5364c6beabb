import { z } from 'zod'
import { pageQuery, pageResponses, type RouteContract } from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import { reversedOperations } from '../reversals/schema.ts'
import { unmatchedMtis } from '../transactions/schema.ts'
import { adviceResolutionBody } from './bodies.ts'
import { listDefault, listMax, posted } from './documents.ts'

/** What waits for a network or for somebody, in the OpenAPI document. */

const reversalQuery = z.strictObject(pageQuery(/^\d{1,18}$/, listMax, listDefault))

const waiting = {
  id: z.string(),
  transaction_id: z.string(),
  network: z.string(),
  amount: z.int().meta({ description: 'In minor units.' }),
  currency: z.string().meta({ description: 'ISO 4217.' }),
  attempts: z.int().meta({ description: 'How often the network may have got it.' }),
  next_attempt_at: z.iso.datetime(),
  last_attempt_at: z.iso.datetime().nullable(),
  response_code: z.string().nullable().meta({ description: 'DE 39 of the last answer.' }),
  created_at: z.iso.datetime(),
}

const reversal = z
  .object({
    ...waiting,
    reverses: z.enum(reversedOperations).meta({ description: 'What is taken back.' }),
  })
  .meta({ id: 'WaitingReversal' })

const advice = z
  .object({
    ...waiting,
    advises: z.enum(['authorization', 'capture', 'partial_capture', 'refund']).meta({
      description: 'What was decided while the network was away.',
    }),
    expires_at: z.iso.datetime().nullable().meta({ description: 'When it is given up.' }),
  })
  .meta({ id: 'WaitingAdvice' })

const adviceParams = z.object({ id: z.string().regex(/^\d{1,18}$/) })

const unmatchedAdvice = z
  .object({
    id: z.string(),
    network: z.string(),
    mti: z.enum(unmatchedMtis).meta({ description: 'Of its first sending.' }),
    stan: z.string().meta({ description: 'DE 11.' }),
    transmission: z.string().meta({ description: 'DE 7.' }),
    rrn: z.string().meta({ description: 'DE 37.' }),
    processing_code: z.string().nullable().meta({ description: 'DE 3.' }),
    amount: z.int().nullable().meta({ description: 'In minor units.' }),
    currency: z.string().nullable().meta({
      description: 'ISO 4217; DE 49 as it came where its letters are not known.',
    }),
    response_code: z.string().nullable().meta({ description: 'DE 39.' }),
    times: z.int().meta({ description: 'How often it was told.' }),
    first_at: z.iso.datetime(),
    last_at: z.iso.datetime(),
  })
  .meta({ id: 'UnmatchedAdvice' })

/** A route by which somebody says to have seen to what waits for a person. */
export const seenTo = {
  ...posted,
  scope: 'ops:admin',
  ofInstitution: true,
  description: 'The reason is kept with it, and the act is audited. Needs the scope ops:admin.',
  body: { 'application/json': adviceResolutionBody },
  responses: {
    200: {
      description: 'It waits no more',
      schema: z.object({ id: z.string(), resolved: z.literal(true) }),
    },
  },
} as const

export const waitingDocuments = {
  unmatched: {
    at: 'GET /v1/transactions/unmatched-advices',
    scope: 'ops:read',
    operation: 'listUnmatchedAdvices',
    summary: 'What networks told of that is not known here, oldest first',
    description:
      'Of all accounts. Decisions, bookings and reversals of a network whose DE 37 is none of ours, administrative advices about nothing, and approvals that came late and are nobody’s here, whose money may be on hold; kept until somebody has seen to each.',
    query: reversalQuery,
    responses: pageResponses('advices', unmatchedAdvice),
  },
  resolveAdvice: {
    ...seenTo,
    at: 'POST /v1/transactions/unmatched-advices/{id}/resolve',
    operation: 'resolveUnmatchedAdvice',
    summary: 'Say that somebody has seen to an advice that is not known here',
    params: adviceParams,
    exampleFrom: { id: 'listUnmatchedAdvices#/advices/0/id' },
    errors: [cardErrors.advice_not_found, cardErrors.invalid_reason],
  },
  reversals: {
    at: 'GET /v1/transactions/reversals',
    scope: 'cards:read',
    operation: 'listReversals',
    summary: 'Reversals that wait for the network, oldest first',
    description: 'Each is sent again until the network confirms it or its time is over.',
    query: reversalQuery,
    responses: pageResponses('reversals', reversal),
  },
  advices: {
    at: 'GET /v1/transactions/advices',
    scope: 'cards:read',
    operation: 'listAdvices',
    summary: 'Advices that wait for the network, oldest first',
    description:
      'What was decided while a network was away, where its rules allow it. Each is sent again until the network confirms or refuses it, or its time is over.',
    query: reversalQuery,
    responses: pageResponses('advices', advice),
  },
} satisfies Readonly<Record<string, RouteContract>>
