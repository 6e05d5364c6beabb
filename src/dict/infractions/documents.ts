import { z } from 'zod'
import { fraudTypes, infractionReasons, infractionResults, situationTypes } from '#codecs/dict'
import {
  disputeMembers,
  documentsOf,
  prose,
  refuseIn,
  transactionId,
} from '../disputes/documents.ts'

const contact = z.strictObject({
  email: z.string().regex(/^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9.-]{1,64}$/),
  phone: z.string().regex(/^\+\d{2,15}$/, 'must be a phone with +'),
})

export const newReport = z
  .strictObject({
    transaction_id: transactionId,
    reason: z.enum(infractionReasons).meta({
      description: 'REFUND_REQUEST by the payer’s institution, REFUND_CANCELLED by the receiver’s.',
    }),
    situation: z.enum(situationTypes),
    details: prose.optional().meta({ description: 'For the other institution; needed of OTHER.' }),
    contact: contact.optional().meta({ description: 'Who there may ask.' }),
  })
  .meta({
    example: {
      transaction_id: 'E1234567820261120120000000000001',
      reason: 'REFUND_REQUEST',
      situation: 'SCAM',
      details: 'Boleto falso com QR Code',
    },
  })
  .superRefine(({ reason, situation, details }, context) => {
    const refuse = refuseIn(context)
    if (situation === 'OTHER' && details === undefined) {
      refuse('details', 'required', 'is missing')
    }
    if (reason === 'REFUND_CANCELLED' && situation !== 'OTHER') {
      refuse('situation', 'consistency', 'must be OTHER for this reason')
    }
  })

export const closing = z
  .strictObject({
    result: z.enum(infractionResults),
    fraud_type: z
      .enum(fraudTypes)
      .optional()
      .meta({ description: 'With AGREED, which marks the receiver for it in the directory.' }),
    analysis: prose.optional(),
  })
  .meta({ example: { result: 'AGREED', fraud_type: 'SCAMMER_ACCOUNT' } })
  .superRefine(({ result, fraud_type: type, analysis }, context) => {
    const refuse = refuseIn(context)
    if (result === 'AGREED' && type === undefined) refuse('fraud_type', 'required', 'is missing')
    if (result === 'DISAGREED' && type !== undefined) {
      refuse('fraud_type', 'forbidden', 'is of what is agreed to')
    }
    if (type === 'OTHER' && analysis === undefined) refuse('analysis', 'required', 'is missing')
  })

const report = z
  .object({
    ...disputeMembers,
    situation: z.string(),
    contact: z.object({ email: z.string(), phone: z.string() }).nullable(),
    fraud_type: z.string().nullable(),
    fraud_marker_id: z.string().nullable(),
    answer_until: z.iso.datetime().nullable().meta({
      description: 'Until when who is asked closes it; null once it is closed or cancelled.',
    }),
  })
  .meta({ id: 'InfractionReport' })

const { actOn, ...documents } = documentsOf(
  {
    base: '/v1/dict/infraction-reports',
    item: report,
    shown: report,
    member: 'infraction_reports',
    body: newReport,
    asked: 'The directory has not answered, and is asked again until it does.',
  },
  {
    create: {
      operation: 'createInfractionReport',
      summary: 'Report a payment as an infraction',
      description:
        'Stored before the directory is told, and told again until it answers, also after a restart: one report is made. Before a refund for fraud is asked for, the receiver’s institution must have agreed to a report.',
    },
    list: {
      operation: 'listInfractionReports',
      summary: 'Infraction reports that we are a party of, newest first',
    },
    find: { operation: 'getInfractionReport', summary: 'An infraction report' },
  },
)

export const reportDocuments = {
  ...documents,
  acknowledge: actOn('acknowledge', {
    operation: 'acknowledgeInfractionReport',
    summary: 'Acknowledge a report about a payment to us',
    description: 'Says that it was received, and nothing about whether it is right.',
  }),
  close: actOn(
    'close',
    {
      operation: 'closeInfractionReport',
      summary: 'Close a report with what was found',
      description: 'By the institution that is asked, once it is acknowledged.',
    },
    closing,
  ),
  cancel: actOn('cancel', {
    operation: 'cancelInfractionReport',
    summary: 'Cancel a report of ours, closed ones too',
  }),
}
