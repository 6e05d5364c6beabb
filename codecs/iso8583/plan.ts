import { fieldMax } from './dialect.ts'
import { checkAlone, type Field, wireBytes } from './layout.ts'

/**
 * Neighbouring fields of fixed length that are checked together, or one field that is read alone.
 *
 * @property de - the first of them
 * @property before - fields of the message before it
 */
export type Run = {
  readonly de: number
  readonly before: number
  readonly check: number
  readonly wireBytes: number
}

/**
 * How to read all messages of one dialect with the same bitmaps, in a few loops and additions.
 *
 * @property words - the bitmaps, 32 bits each, without the bits that announce another bitmap
 * @property order - for each field its place among the fields, or `absent`
 * @property places - for each field the first one of its run, whose offset the parser keeps, in the lowest eight
 *   bits; above them the bytes from there to the field
 */
export type Plan = {
  readonly words: Int32Array
  readonly fields: Uint8Array
  readonly order: Uint8Array
  readonly places: Int32Array
  readonly runs: readonly Run[]
}

const absent = 255

/** Whether the bitmaps announce the field. */
const isSet = (words: Int32Array, de: number): boolean =>
  words[(de - 1) >> 5]! << ((de - 1) & 31) < 0

export const makePlan = (known: readonly (Field | undefined)[], words: Int32Array): Plan => {
  const fields: number[] = []
  const runs: Run[] = []
  const order = new Uint8Array(fieldMax + 1).fill(absent)
  const places = new Int32Array(fieldMax + 1)
  for (let de = 2; de <= fieldMax; de++) {
    if (!isSet(words, de)) continue
    const field = known[de]
    const check = field?.check ?? checkAlone
    const bytes = field === undefined ? 0 : wireBytes(field, field.max)
    const last = runs.at(-1)
    if (last !== undefined && check !== checkAlone && last.check === check) {
      places[de] = last.de | (last.wireBytes << 8)
      runs[runs.length - 1] = { ...last, wireBytes: last.wireBytes + bytes }
    } else {
      places[de] = de
      runs.push({ de, before: fields.length, check, wireBytes: bytes })
    }
    order[de] = fields.length
    fields.push(de)
  }
  return { words: words.slice(), fields: Uint8Array.from(fields), order, places, runs }
}

export const isPlanOf = ({ words: own }: Plan, words: Int32Array): boolean =>
  own[0] === words[0] &&
  own[1] === words[1] &&
  own[2] === words[2] &&
  own[3] === words[3] &&
  own[4] === words[4] &&
  own[5] === words[5]
