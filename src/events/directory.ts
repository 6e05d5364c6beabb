import { z } from 'zod'
import { type EventGroups, money, text } from './group.ts'

/** `requested`: the directory has not answered yet. `refused`: it does not take what we asked for. */
export const disputeStatuses = [
  'requested',
  'open',
  'acknowledged',
  'closed',
  'cancelled',
  'refused',
] as const

export const disputeRoles = ['asking', 'asked'] as const

const dispute = {
  role: z.enum(disputeRoles).meta({ description: 'Ours.' }),
  status: z.enum(disputeStatuses),
  transaction_id: z.string().meta({ description: 'EndToEndId of the payment.' }),
  reason: z.string(),
  result: text,
}

const infraction = z
  .strictObject({ infraction_report_id: z.string(), ...dispute })
  .meta({ id: 'InfractionReportEvent' })

const refund = z
  .strictObject({
    refund_id: z.string(),
    ...dispute,
    amount: money,
    return_id: text.meta({ description: 'RtrId of the return that answers it.' }),
  })
  .meta({ id: 'RefundRequestEvent' })

/** `opening`, `refused`: ours. The directory has not answered, or does not want it. The others are the directory's. */
export const claimStatuses = [
  'opening',
  'open',
  'waiting_resolution',
  'confirmed',
  'cancelled',
  'completed',
  'refused',
] as const

/** We give a key up, or want it. */
export const claimRoles = ['donor', 'claimer'] as const

const claim = z
  .strictObject({
    id: z.string(),
    claim_id: text.meta({ description: 'The directory’s; null until it has answered.' }),
    role: z.enum(claimRoles),
    type: z.enum(['OWNERSHIP', 'PORTABILITY']),
    key_type: z.string(),
    status: z.enum(claimStatuses),
    resolution_ends_at: text,
    completion_ends_at: text,
  })
  .meta({ id: 'DirectoryClaimEvent' })

export const directoryEvents = {
  claims: {
    payload: claim,
    subject: 'id',
    types: {
      'dict.claim.received': 'Somebody claims a key that this institution keeps.',
      'dict.claim.changed': 'A claim, ours or against us, has another status.',
    },
  },
  infractions: {
    payload: infraction,
    subject: 'infraction_report_id',
    types: {
      'dict.infraction.received':
        'Another institution has reported a payment that we are a party of.',
      'dict.infraction.changed': 'An infraction report has another status.',
    },
  },
  refund_requests: {
    payload: refund,
    subject: 'refund_id',
    types: {
      'dict.refund.received': 'Another institution asks us to give a payment back.',
      'dict.refund.changed': 'A refund request has another status.',
      'dict.refund.returned': 'The return that answers a refund request of ours has arrived.',
    },
  },
} as const satisfies EventGroups
