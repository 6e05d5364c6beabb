import {
  decodeRsfnHeader,
  explainRsfn,
  type RsfnFieldExplained,
  rsfnErrors,
  rsfnHeaderBytes,
} from '#codecs/rsfn'
import { loadSettings } from '#src/platform/config/index.ts'
import type { Explanation, InspectOptions, Inspector } from '#src/platform/lifecycle/index.ts'
import { spiSettings } from '../../config.ts'
import { rsfnKeysOf, rsfnProblems } from './keys.ts'
import { type OpenedText, openText } from './open-text.ts'

/** C01 in hexadecimal; every header begins with it. */
const startHex = '024c'

/** Returns the message's bytes, from bytes or from hexadecimal text. */
const bytesOf = (input: Uint8Array): Uint8Array | undefined => {
  if (input[0] === 0x02 && input[1] === 0x4c) return input
  const text = Buffer.from(input.subarray(0, 16)).toString('latin1').trimStart().toLowerCase()
  if (!text.startsWith(startHex)) return undefined
  const hex = Buffer.from(input).toString('latin1').replace(/\s+/g, '')
  // The engine cannot take a group that repeats as often as a long message has octets.
  if (hex.length % 2 !== 0 || !/^[0-9a-f]+$/i.test(hex)) return undefined
  return Uint8Array.fromHex(hex)
}

const lineOf = ({ field, name, value, meaning }: RsfnFieldExplained) => ({
  name: `${field} (${name})`,
  value,
  meaning,
})

/** @throws Error when a key is missing or does not fit */
const openedWith = async (
  bytes: Uint8Array,
  env: NonNullable<InspectOptions['openWith']>,
): Promise<OpenedText> => {
  const { values, problems } = loadSettings({ spi: spiSettings }, env)
  const [problem] = [...problems, ...rsfnProblems(values.spi)].filter(({ name }) =>
    name.startsWith('RSFN_'),
  )
  if (problem !== undefined) throw new Error(`${problem.name} ${problem.problem}`)
  return openText(bytes, rsfnKeysOf(values.spi))
}

const explain = async (input: Uint8Array, options?: InspectOptions): Promise<Explanation> => {
  const bytes = bytesOf(input) ?? input
  const { error } = decodeRsfnHeader(bytes)
  const errors: Readonly<Record<number, { readonly meaning: string }>> = rsfnErrors
  const refused = error === 0 ? '' : `, refused: ${errors[error]?.meaning ?? 'unknown code'}`
  const lines = explainRsfn(bytes)
  const bodyBytes = bytes.length - rsfnHeaderBytes
  const about = {
    title: `RSFN security header, ${bodyBytes} bytes of body${refused}`,
    fields: lines.map(lineOf),
    value: { fields: lines, body_bytes: bodyBytes },
  }
  if (options?.openWith === undefined) return about
  const opened = await openedWith(bytes, options.openWith)
  if (!opened.ok) return { ...about, failure: { message: opened.message, code: opened.code } }
  const { content, signed, encrypted } = opened
  const how = `${encrypted ? 'decrypted' : 'not encrypted'}, ${signed ? 'signature valid' : 'not signed'}`
  return {
    ...about,
    fields: [...about.fields, { name: 'body', value: content, meaning: how }],
    value: { ...about.value, signed, encrypted, content },
  }
}

/** Explains the security header of a message of the national network, and opens its body on request. */
export const rsfnInspector: Inspector = {
  name: 'rsfn',
  summary: 'an RSFN security header of 588 bytes, binary or in hexadecimal',
  matches: (input) => bytesOf(input) !== undefined,
  explain,
}
