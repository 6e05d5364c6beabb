import {
  decodeRsfnHeader,
  explainRsfn,
  RSFN_ERRORS,
  RSFN_HEADER_BYTES,
  type RsfnFieldExplained,
} from '#codecs/rsfn'
import type { Inspector } from '#src/platform/lifecycle/index.ts'

/** C01, which every header begins with, in hexadecimal. */
const START_HEX = '024c'

/** The message's bytes: as they are, or from hexadecimal text. */
function bytesOf(input: Uint8Array): Uint8Array | undefined {
  if (input[0] === 0x02 && input[1] === 0x4c) return input
  const text = Buffer.from(input.subarray(0, 16)).toString('latin1').trimStart().toLowerCase()
  if (!text.startsWith(START_HEX)) return undefined
  const hex = Buffer.from(input).toString('latin1').replace(/\s+/g, '')
  if (!/^([0-9a-f]{2})+$/i.test(hex)) return undefined
  return Uint8Array.fromHex(hex)
}

function lineOf({ field, name, value, meaning }: RsfnFieldExplained) {
  return { name: `${field} (${name})`, value, meaning }
}

/** Explains the security header of a message of the national network. */
export const rsfnInspector: Inspector = {
  name: 'rsfn',
  summary: 'an RSFN security header of 588 bytes, binary or in hexadecimal',
  matches: (input) => bytesOf(input) !== undefined,
  explain: (input) => {
    const bytes = bytesOf(input) ?? input
    const { error } = decodeRsfnHeader(bytes)
    const errors: Readonly<Record<number, { readonly meaning: string }>> = RSFN_ERRORS
    const refused = error === 0 ? '' : `, refused: ${errors[error]?.meaning ?? 'unknown code'}`
    const lines = explainRsfn(bytes)
    const bodyBytes = bytes.length - RSFN_HEADER_BYTES
    return {
      title: `RSFN security header, ${bodyBytes} bytes of body${refused}`,
      fields: lines.map(lineOf),
      value: { fields: lines, body_bytes: bodyBytes },
    }
  },
}
