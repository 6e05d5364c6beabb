import { z } from 'zod'
import { findInIdentifier, findSensitive } from '#src/platform/security/index.ts'
import {
  type Details,
  entries,
  initiators,
  installmentPlans,
  type Secrets,
  storedReasons,
} from '../content/index.ts'
import { pinSourceName } from '../security/index.ts'

/** Fields of an authorization that not every card network takes. */

const referenceMax = 64
const softDescriptorMax = 22
const iccHexMax = 510

/** Printable text without blanks at its ends, which the fixed fields of a message would lose. */
const printable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

export const reference = z
  .string()
  .min(1)
  .max(referenceMax)
  .regex(printable)
  .refine((value) => findInIdentifier(value) !== 'card number')
  .meta({ description: 'Your own name of the payment; search finds it.', example: 'order-4711' })

export const paymentFields = {
  reference: reference.optional(),
  entry: z.enum(entries).optional().meta({ description: 'How the card came to the merchant.' }),
  installment_plan: z.enum(installmentPlans).optional().meta({
    description:
      'Who bears the interest of several installments: merchant (none for the holder) or issuer.',
  }),
  soft_descriptor: z
    .string()
    .min(1)
    .max(softDescriptorMax)
    .regex(printable)
    .refine((value) => findSensitive(value) !== 'card number')
    .optional()
    .meta({ description: 'The name on the holder’s statement.', example: 'PADARIA*PEDIDO 42' }),
  three_ds: z
    .strictObject({
      eci: z.string().regex(/^\d{2}$/),
      cavv: z
        .string()
        .regex(/^[A-Za-z0-9+/]{27}=$/)
        .optional()
        .meta({ description: 'CAVV or AAV: 20 bytes as base64. Never stored.' }),
      ds_transaction_id: z.uuid().optional(),
    })
    .optional()
    .meta({ description: 'What 3-D Secure 2 gave.' }),
  icc_data: z
    .string()
    .min(2)
    .max(iccHexMax)
    .regex(/^(?:[0-9A-Fa-f]{2})+$/)
    .optional()
    .meta({
      description:
        'DE 55 of a chip: BER-TLV as hexadecimal digits, without the tags 57, 5A, 5F20, 56, 9F1F, 9F20 and 9F6B. Never stored.',
    }),
  pin: z
    .strictObject({
      key: z.string().regex(pinSourceName).meta({
        description: 'Which of the keys that the network is configured with the block is under.',
        example: 'pos',
      }),
      block: z
        .string()
        .regex(/^[0-9A-Fa-f]{16}$/)
        .meta({ description: 'The encrypted PIN block of ISO 9564, as hexadecimal digits.' }),
    })
    .optional()
    .meta({
      description:
        'The PIN of the holder, encrypted. It goes out under the key of the network, and is never stored.',
    }),
  card_sequence: z
    .string()
    .regex(/^\d{3}$/)
    .optional(),
  stored_credential: z
    .strictObject({
      initiator: z.enum(initiators),
      reason: z.enum(storedReasons),
      network_transaction_id: z
        .string()
        .regex(/^[0-9A-Z]{1,15}$/)
        .optional(),
    })
    .optional(),
}

type Given = {
  readonly [K in keyof typeof paymentFields]?: z.infer<(typeof paymentFields)[K]>
} & { readonly accept_partial?: boolean | undefined }

/** The fields that we store; undefined if there are none. */
export const detailsIn = (given: Given): Details | undefined => {
  const { three_ds: threeDs, stored_credential: stored } = given
  const all: {
    readonly [K in Exclude<keyof Details, 'balances' | 'kept'>]: Details[K] | undefined
  } = {
    entry: given.entry,
    installmentPlan: given.installment_plan,
    softDescriptor: given.soft_descriptor,
    eci: threeDs?.eci,
    dsTransactionId: threeDs?.ds_transaction_id,
    initiator: stored?.initiator,
    storedReason: stored?.reason,
    networkTransactionId: stored?.network_transaction_id,
    cardSequence: given.card_sequence,
    acceptPartial: given.accept_partial === true ? true : undefined,
  }
  const there = Object.entries(all).filter(([, value]) => value !== undefined)
  return there.length === 0 ? undefined : (Object.fromEntries(there) as Details)
}

/** The fields that we do not store. */
export const secretsIn = ({ three_ds: threeDs, icc_data: icc }: Given): Secrets | undefined =>
  threeDs?.cavv === undefined && icc === undefined
    ? undefined
    : {
        ...(threeDs?.cavv === undefined ? {} : { cavv: threeDs.cavv }),
        ...(icc === undefined ? {} : { icc: icc.toUpperCase() }),
      }
