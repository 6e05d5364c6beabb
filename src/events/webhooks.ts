import { z } from 'zod'
import type { EventGroups } from './group.ts'

const endpoint = z
  .strictObject({ endpoint_id: z.string(), reason: z.string() })
  .meta({ id: 'EndpointEvent' })
const delivery = z
  .strictObject({
    delivery_id: z.string(),
    endpoint_id: z.string(),
    event_id: z.string(),
    event_type: z.string(),
  })
  .meta({ id: 'DeliveryEvent' })

export const webhookEvents = {
  endpoints: {
    payload: endpoint,
    subject: 'endpoint_id',
    types: { 'webhook.endpoint.disabled': 'An endpoint was disabled: gone, or failing for days.' },
  },
  deliveries: {
    payload: delivery,
    subject: 'endpoint_id',
    types: { 'webhook.delivery.exhausted': 'The last attempt of a delivery has failed.' },
  },
} as const satisfies EventGroups
