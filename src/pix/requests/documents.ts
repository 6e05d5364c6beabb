import { z } from 'zod'
import type { RouteContract } from '#src/platform/http/index.ts'

const requestsQuery = z.strictObject({
  recurrence_id: z
    .string()
    .regex(/^[a-zA-Z0-9]{29}$/, 'must be 29 letters and digits')
    .meta({ description: 'idRec of the API Pix.', example: 'RR1234567820260302abcdefghijk' }),
})

const request = z
  .object({
    id: z.string().meta({ description: 'idSolicRec of the API Pix.' }),
    status: z.enum([
      'CRIADA',
      'ENVIADA',
      'RECEBIDA',
      'ACEITA',
      'REJEITADA',
      'EXPIRADA',
      'CANCELADA',
    ]),
    payer_ispb: z.string().meta({ description: 'Institution of the payer.' }),
    expires_at: z.iso.datetime().meta({ description: 'Until when the payer may answer.' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'PixRecurrenceRequest' })

export const listDocument = {
  at: 'GET /v1/pix/recurrence-requests',
  scope: 'solicrec:read',
  operation: 'listPixRecurrenceRequests',
  summary: 'Requests to the payer of a recurrence, newest first',
  description: 'The last twenty. The API Pix finds each by its identifier and lists none.',
  query: requestsQuery,
  responses: {
    200: {
      description: 'The requests.',
      schema: z.object({ requests: z.array(request) }).meta({ id: 'PixRecurrenceRequestList' }),
    },
  },
} as const satisfies RouteContract
