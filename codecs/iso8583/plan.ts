import { latin1 } from './characters.ts'
import { fieldMax } from './dialect.ts'
import {
  bytesForm,
  type Layout,
  packedForm,
  prefixDigits,
  prefixNone,
  textForm,
  wireBytes,
} from './layout.ts'

/** What one step of a plan does with the bytes at hand. Anything unusual is read field by field. */
export const stepSkip = 0
export const stepText = 1
export const stepPacked = 2
export const stepEdge = 3
export const stepTextVariable = 4
export const stepField = 5

/** Numbers of one step: what, first field, bytes on the wire, mask. */
export const stepNumbers = 4

/**
 * The way through all messages of one dialect that have the same bitmap: neighbours of fixed length and like
 * content are one step, so that a message is a few loops and a few additions.
 *
 * @property first - the bitmaps' fields, 32 bits each, the lowest field highest
 * @property place - for each field the first one of its step, whose offset the parser keeps, in the lowest
 *   eight bits; above them the bytes from there to the field
 */
export type Plan = {
  first: number
  second: number
  third: number
  fourth: number
  readonly fields: Uint8Array
  readonly present: Uint8Array
  readonly place: Int32Array
  readonly steps: Int32Array
}

/** A plan to be filled while fields are read one by one: each is its own step. */
export const emptyPlan = (): Plan => ({
  first: 0,
  second: 0,
  third: 0,
  fourth: 0,
  fields: new Uint8Array(fieldMax),
  present: new Uint8Array(fieldMax + 1),
  place: Int32Array.from({ length: fieldMax + 1 }, (_, de) => de),
  steps: new Int32Array(0),
})

/** Says in a plan that is being filled that the field is there. */
export const mark = (plan: Plan, de: number): void => {
  const bit = 1 << (31 - ((de - 1) & 31))
  plan.present[de] = 1
  if (de <= 32) plan.first |= bit
  else if (de <= 64) plan.second |= bit
  else if (de <= 96) plan.third |= bit
  else if (de <= 128) plan.fourth |= bit
}

export const clear = (plan: Plan): void => {
  plan.present.fill(0)
  plan.first = 0
  plan.second = 0
  plan.third = 0
  plan.fourth = 0
}

/** The plan for a message whose first two bitmaps are these four words, the first bit highest. */
export const makePlan = (
  layout: Layout,
  first: number,
  second: number,
  third: number,
  fourth: number,
): Plan => {
  const plan = emptyPlan()
  const words = Int32Array.of(first, second, third, fourth)
  const fields: number[] = []
  const steps: number[] = []
  for (let de = 2; de <= 128; de++) {
    if (((words[(de - 1) >> 5]! >>> (31 - ((de - 1) & 31))) & 1) === 0) continue
    fields.push(de)
    plan.present[de] = 1
    addStep(layout, plan, de, steps)
  }
  return {
    ...plan,
    first,
    second,
    third,
    fourth,
    fields: Uint8Array.from(fields),
    steps: Int32Array.from(steps),
  }
}

const addStep = (layout: Layout, plan: Plan, de: number, steps: number[]): void => {
  const what = stepOf(layout, de)
  const mask = layout.classes[de]!
  if (what === stepField || what === stepTextVariable) {
    steps.push(what, de, layout.max[de]!, mask)
    return
  }
  const size = wireBytes(layout.kind[de]!, layout.max[de]!)
  const last = steps.length - stepNumbers
  const odd = what === stepPacked && layout.max[de]! % 2 === 1
  if (last >= 0 && steps[last] === what && steps[last + 3] === mask) {
    plan.place[de] = steps[last + 1]! | (steps[last + 2]! << 8)
    steps[last + 2]! += size
  } else steps.push(what, de, size, mask)
  // The filling nibble: the byte that has it, counted from the end of the run so far; its bits; its value.
  if (odd) steps.push(stepEdge, ...edgeOf(layout, de, size))
}

const edgeOf = (layout: Layout, de: number, size: number): [number, number, number] => {
  const nibble = layout.padNibble[de]!
  return layout.padRight[de] === 1 ? [1, 0x0f, nibble] : [size, 0xf0, nibble << 4]
}

const stepOf = (layout: Layout, de: number): number => {
  const kind = layout.kind[de]
  const fixed = layout.prefix[de] === prefixNone
  if (kind === textForm && layout.plain[de] === 1) {
    if (fixed) return stepText
    return layout.prefix[de] === prefixDigits && layout.prefixPages[de] === latin1
      ? stepTextVariable
      : stepField
  }
  if (!fixed) return stepField
  if (kind === bytesForm) return stepSkip
  // A filling nibble above nine, and the characters of tracks, are no digits.
  const plain = kind === packedForm && layout.track[de] === 0
  return plain && (layout.max[de]! % 2 === 0 || layout.padNibble[de]! <= 9) ? stepPacked : stepField
}
