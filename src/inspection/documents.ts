import { z } from 'zod'
import { dialects } from '#codecs/iso8583'
import { type RouteContract, text } from '#src/platform/http/index.ts'
import { inspectorNames } from '#src/platform/lifecycle/index.ts'

/** The text may be written with escapes. */
const bodyBytesMax = 524_288

/** The length of the text; `trilho inspect` explains a longer message. */
const contentCharsMax = 65_536
const nameCharsMax = 40

export const inspectionBody = z
  .strictObject({
    content: text(contentCharsMax, { isMultiline: true }).meta({
      description: 'The message as text; one of bytes as hexadecimal digits.',
    }),
    kind: text(nameCharsMax)
      .optional()
      .meta({
        description: `What it is: one of ${inspectorNames.join(', ')}. Left out, it is recognised by its content.`,
      }),
    dialect: text(nameCharsMax)
      .optional()
      .meta({
        description: `Of ISO 8583: one of ${Object.keys(dialects).join(', ')}; left out, ascii.`,
      }),
    frame: text(nameCharsMax).optional().meta({
      description: 'Of ISO 8583: the framing around the message, such as binary-2; left out, none.',
    }),
  })
  .meta({ id: 'MessageToExplain' })

const line = z
  .object({
    depth: z.int().meta({ description: 'How deep in the message, from 0.' }),
    name: z.string(),
    value: z.string().nullable().meta({
      description:
        'Card data of ISO 8583 is masked; a card number within XML, a token or a QR code is told as it was pasted.',
    }),
    meaning: z.string().nullable().meta({
      description: 'Of ISO 20022 in the language of Accept-Language; of the others in English.',
    }),
    path: z.string().nullable().meta({
      description: 'XPath of the element, as POST /v1/validate names it; null where it is no XML.',
    }),
  })
  .meta({ id: 'ExplainedLine' })

const explained = z
  .object({
    kind: z.string(),
    title: z.string().meta({ description: 'What the message is, in one line.' }),
    failure: z.string().nullable().meta({
      description: 'What is wrong with it; the lines are then those before the fault.',
    }),
    lines: z.array(line).meta({ description: 'The fields in the order of the message.' }),
  })
  .meta({ id: 'ExplainedMessage' })

const exampleCode =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000520400005303986540510.005802BR5913Fulano de Tal6008BRASILIA62070503***6304288F'

export const documents = {
  inspect: {
    at: 'POST /v1/inspect',
    scope: 'messages:read',
    bodyBytesMax,
    isPure: true,
    operation: 'explainMessage',
    summary: 'Explain a message, whatever it is',
    description:
      'What `trilho inspect` tells: the fields of an ISO 20022 or ISO 8583 message, an RSFN header, a token or a QR code, with the meaning of codes. Nothing is stored, nothing fetched, no signature verified.',
    body: { 'application/json': inspectionBody },
    bodyExamples: { qr_code: { content: exampleCode } },
    responses: { 200: { description: 'The message, explained.', schema: explained } },
  },
} as const satisfies Readonly<Record<string, RouteContract>>
