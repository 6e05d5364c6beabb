import { type BrCodeNode, explainBrCode, parseBrCode } from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'
import type { ExplainedField, Inspector } from '#src/platform/lifecycle/index.ts'
import { drawText } from './picture.ts'
import { viewOf } from './service.ts'

/** Explains BR Codes: the tree of data objects, and the code to scan from the terminal. */
export const brCodeInspector: Inspector = {
  name: 'brcode',
  summary: 'a BR Code or another EMV merchant-presented QR code, as text',
  matches: (input) => /^\s*000201\d{4}/.test(Buffer.from(input.subarray(0, 64)).toString('utf8')),
  explain: async (input) => {
    const payload = Buffer.from(input).toString('utf8').trim()
    try {
      const code = parseBrCode(payload)
      const kind = code.pix === undefined ? 'EMV code, not of Pix' : `Pix code, ${code.pix.kind}`
      return {
        title: `${kind}${code.pix?.composite === true ? ', with a recurrence' : ''}`,
        fields: explainBrCode(payload).nodes.map(fieldOf),
        value: viewOf(code),
        picture: await drawText(payload),
      }
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      const path = String(error.context['path'] ?? '')
      const place = `${path === '' ? 'payload' : `tag ${path}`}, offset ${error.offset}`
      throw new Error(`${place}: ${error.message} (${error.code})`)
    }
  },
}

const fieldOf = ({ id, name, value, children }: BrCodeNode): ExplainedField => ({
  name: `${id} ${name}`,
  ...(children.length > 0 ? { children: children.map(fieldOf) } : { value }),
})
