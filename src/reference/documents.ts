import { z } from 'zod'
import { ispbForm } from '#codecs/taxpayer'
import { nextCursor, pageQuery, type RouteContract, text } from '#src/platform/http/index.ts'

const limitMax = 500
const limitDefault = 50
const nameCharsMax = 100

const list = {
  source: z.string().meta({ description: 'Where the list was read.' }),
  as_of: z.iso.date().meta({ description: 'The day that the list is of.' }),
}

const participant = z
  .object({
    ispb: z.string().meta({ example: '00000000' }),
    name: z.string().meta({ example: 'Banco do Brasil' }),
    settlement: z.enum(['direct', 'indirect']).nullable().meta({
      description: 'Settles in the SPI by itself or by another; null: the list does not say.',
    }),
    modality: z
      .string()
      .nullable()
      .meta({ description: 'How it takes part in Pix, in the words of the list.' }),
    code: z.string().nullable().meta({ description: 'Number of the bank (COMPE).' }),
  })
  .meta({ id: 'Participant' })

const ispbParams = z.object({
  ispb: z
    .string()
    .regex(ispbForm)
    .meta({ description: 'Eight digits or capital letters.', example: '00000000' }),
})

const participantsQuery = z.strictObject({
  name: text(nameCharsMax)
    .optional()
    .meta({ description: 'Part of the name; accents and case make no difference.' }),
  ...pageQuery(ispbForm, limitMax, limitDefault),
})

const yearParams = z.object({
  year: z
    .string()
    .regex(/^(?:19|2\d)\d\d$/)
    .transform(Number)
    .meta({ example: '2027' }),
})

export const documents = {
  participants: {
    at: 'GET /v1/participants',
    scope: 'dict:read',
    operation: 'listParticipants',
    summary: 'List the institutions that take part in Pix',
    description:
      'In the order of their ISPB. The program knows some large ones; `trilho lists refresh participants` takes the list of the central bank in their place.',
    query: participantsQuery,
    responses: {
      200: {
        description: 'One page.',
        schema: z.object({
          participants: z.array(participant),
          next_cursor: nextCursor,
          ...list,
        }),
      },
    },
  },
  participant: {
    at: 'GET /v1/participants/{ispb}',
    scope: 'dict:read',
    operation: 'getParticipant',
    summary: 'Read who has an ISPB',
    params: ispbParams,
    responses: { 200: { description: 'The institution.', schema: participant } },
  },
  holidays: {
    at: 'GET /v1/holidays/{year}',
    scope: 'cobv:read',
    operation: 'listHolidays',
    summary: 'List the holidays of a year',
    description:
      'Those of the whole country, on which charges with a due date are put off. They are as the laws have them, or as `trilho lists refresh holidays` has read them.',
    params: yearParams,
    responses: {
      200: {
        description: 'In their order.',
        schema: z.object({
          year: z.int(),
          holidays: z.array(z.object({ day: z.iso.date(), name: z.string() })),
          ...list,
        }),
      },
    },
  },
} as const satisfies Readonly<Record<string, RouteContract>>
