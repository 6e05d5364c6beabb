import { z } from 'zod'
import type { RouteContract } from '#src/platform/http/index.ts'
import { catalogueErrors } from './errors.ts'

const entry = z.object({
  name: z.string().describe('As the central bank writes it: `pacs.008.spi.1.13`.'),
  type: z.string().describe('Dotted message type; empty when the name has another form.'),
  version: z.string(),
})

/** The answer of `GET /v1/catalog/in` and `/out`. */
export const catalogueDocument = (direction: 'in' | 'out'): RouteContract => ({
  at: `GET /v1/catalog/${direction}`,
  scope: 'spi:catalog',
  operation: direction === 'in' ? 'listInboundVersions' : 'listOutboundVersions',
  summary:
    direction === 'in'
      ? 'Message versions that the central bank takes'
      : 'Message versions that the central bank delivers',
  description:
    'Asked of the message interface, and kept for a minute. `Accept: application/xml` gives its own answer, byte for byte.',
  responses: {
    200: {
      description: 'The catalogue',
      schema: z.object({ messages: z.array(entry) }),
      alsoAs: ['application/xml'],
      example: { messages: [{ name: 'pacs.008.spi.1.13', type: 'pacs.008', version: '1.13' }] },
    },
  },
  errors: [catalogueErrors.message_interface_unavailable],
})
