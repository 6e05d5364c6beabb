import { z } from 'zod'
import {
  idParams,
  nextCursor,
  pageQuery,
  type RouteContract,
  traceId,
} from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'

/** Events of one transaction on a page; few have a dozen. */
const eventsMax = 1_000

const eventsQuery = z.strictObject(pageQuery(/^\d{1,18}$/, eventsMax, eventsMax))

/** The history of a transaction, in the OpenAPI document. */
export const eventsDocument = {
  at: 'GET /v1/transactions/{id}/events',
  scope: 'cards:read',
  operation: 'listTransactionEvents',
  summary: 'What happened to a transaction, oldest first',
  params: idParams,
  query: eventsQuery,
  exampleFrom: { id: 'listTransactions#/transactions/0/id' },
  responses: {
    200: {
      description: 'Its events',
      schema: z.object({
        trace_id: traceId,
        events: z.array(
          z.object({
            id: z.string(),
            type: z.string(),
            at: z.iso.datetime(),
            data: z.record(z.string(), z.unknown()),
            messages: z
              .array(
                z.object({
                  mti: z.string(),
                  fields: z.array(z.object({ de: z.int(), name: z.string(), value: z.string() })),
                }),
              )
              .describe(
                'What went over the wire, the request first: of the card number BIN and last four digits, *** for what is not shown',
              ),
          }),
        ),
        next_cursor: nextCursor,
      }),
    },
  },
  errors: [cardErrors.transaction_not_found],
} satisfies RouteContract
