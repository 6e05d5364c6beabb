import { z } from 'zod'
import { compositeShapes, entryEncodings } from '#codecs/iso8583'

/**
 * What a network's file says of the content of messages. The rules that hold between members are those of the
 * compiler, which knows the dialect.
 */

const textMax = 999
const entriesMax = 128
const depthMax = 3

/** For each source: whether it must be there, or which values it may have. */
const condition = z.record(z.string(), z.union([z.boolean(), z.array(z.string()).min(1).max(64)]))

const leafMembers = {
  name: z.string().max(64).optional(),
  value: z.string().max(textMax).optional(),
  from: z.string().max(64).optional(),
  map: z.record(z.string(), z.string().max(textMax)).optional(),
  else: z.string().max(textMax).optional(),
  when: condition.optional(),
  required: z.boolean().optional(),
  cut: z.boolean().optional(),
  length: z.int().min(1).max(textMax).optional(),
  pad: z.enum(['zeros', 'blanks']).optional(),
}

const compositeMembers = {
  shape: z.enum(compositeShapes).optional(),
  leading: z.string().max(16).optional(),
  id_digits: z.int().min(1).max(4).optional(),
  length_digits: z.int().min(1).max(4).optional(),
  length_encoding: z.enum(['ascii', 'bcd']).optional(),
  bitmap_bytes: z.int().min(1).max(16).optional(),
}

const entryMembers = {
  ...leafMembers,
  ...compositeMembers,
  id: z.string().min(1).max(16),
  encoding: z.enum(entryEncodings).optional(),
  sensitive: z.boolean().optional(),
}

/** An entry of a composite, which may be one itself, to a depth of three. */
export type EntryForm = z.infer<z.ZodObject<typeof entryMembers, z.core.$strict>> & {
  readonly entries?: readonly EntryForm[] | undefined
}
export type CompositeForm = Omit<EntryForm, 'id'>

const entryForm = (depth: number): z.ZodType<EntryForm> =>
  depth === 0
    ? z.strictObject(entryMembers)
    : z.strictObject({
        ...entryMembers,
        entries: z
          .array(entryForm(depth - 1))
          .min(1)
          .max(entriesMax)
          .optional(),
      })

const compositeForm = z.strictObject({
  ...compositeMembers,
  entries: z
    .array(entryForm(depthMax - 1))
    .min(1)
    .max(entriesMax),
})

/** A constant, a value from a source, `"composite"` for the one of this field, or null for nothing. */
const fieldForm = z.union([z.string().max(textMax), z.null(), z.strictObject(leafMembers)])
export type FieldForm = z.infer<typeof fieldForm>
export type LeafForm = Exclude<FieldForm, string | null>

const fieldsForm = z.record(z.string().regex(/^[1-9]\d{0,2}$/, 'a field number'), fieldForm)

const messageForm = <const M extends readonly [string, ...string[]]>(...mtis: M) =>
  z
    .union([
      z.strictObject({ mti: z.enum(mtis).optional(), fields: fieldsForm.optional() }),
      z.null(),
    ])
    .optional()

/** A part of an answer that later messages repeat. */
const keptForm = z.strictObject({
  field: z.int().min(2).max(128),
  path: z.array(z.string().min(1).max(16)).max(depthMax).optional(),
})

export const contentForm = z.strictObject({
  acquirer_id: z
    .string()
    .regex(/^\d{1,11}$/)
    .optional(),
  forwarder_id: z
    .string()
    .regex(/^\d{1,11}$/)
    .optional(),
  time_zone: z
    .string()
    .regex(/^[+-](?:0\d|1[0-4]):[0-5]\d$/, 'an offset like -03:00')
    .default('-03:00'),
  composites: z
    .record(z.string().regex(/^[1-9]\d{0,2}$/, 'a field number'), compositeForm)
    .default({}),
  fields: fieldsForm.default({}),
  messages: z
    .strictObject({
      authorization: messageForm('0100', '0200'),
      verification: messageForm('0100'),
      increment: messageForm('0100'),
      capture: messageForm('0200', '0220'),
      refund: messageForm('0200', '0220', '0100'),
      authorization_advice: messageForm('0120', '0220'),
      capture_advice: messageForm('0220'),
      refund_advice: messageForm('0220', '0120'),
      reversal: messageForm('0400', '0420'),
      partial_reversal: messageForm('0400', '0420'),
      batch_upload: messageForm('0320'),
      reconciliation: messageForm('0500', '0520'),
      management: messageForm('0800'),
    })
    .default({}),
  keep: z.record(z.string().regex(/^[a-z][a-z0-9_]{0,31}$/), keptForm).default({}),
})

export type ContentForm = z.infer<typeof contentForm>
export type MessageName = keyof ContentForm['messages']
