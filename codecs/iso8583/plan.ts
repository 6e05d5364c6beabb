import { latin1 } from './characters.ts'
import { FIELD_MAX } from './dialect.ts'
import {
  BYTES,
  type Layout,
  PACKED,
  PREFIX_DIGITS,
  PREFIX_NONE,
  TEXT,
  wireBytes,
} from './layout.ts'

/** What one step of a plan does with the bytes at hand. Anything unusual is read field by field. */
export const STEP_SKIP = 0
export const STEP_TEXT = 1
export const STEP_PACKED = 2
export const STEP_EDGE = 3
export const STEP_TEXT_VARIABLE = 4
export const STEP_FIELD = 5

/** Numbers of one step: what, first field, bytes on the wire, mask. */
export const STEP_NUMBERS = 4

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
  fields: new Uint8Array(FIELD_MAX),
  present: new Uint8Array(FIELD_MAX + 1),
  place: Int32Array.from({ length: FIELD_MAX + 1 }, (_, de) => de),
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
  if (what === STEP_FIELD || what === STEP_TEXT_VARIABLE) {
    steps.push(what, de, layout.max[de]!, mask)
    return
  }
  const size = wireBytes(layout.kind[de]!, layout.max[de]!)
  const last = steps.length - STEP_NUMBERS
  const odd = what === STEP_PACKED && layout.max[de]! % 2 === 1
  if (last >= 0 && steps[last] === what && steps[last + 3] === mask) {
    plan.place[de] = steps[last + 1]! | (steps[last + 2]! << 8)
    steps[last + 2]! += size
  } else steps.push(what, de, size, mask)
  // The filling nibble: the byte that has it, counted from the end of the run so far; its bits; its value.
  if (odd) steps.push(STEP_EDGE, ...edgeOf(layout, de, size))
}

const edgeOf = (layout: Layout, de: number, size: number): [number, number, number] => {
  const nibble = layout.padNibble[de]!
  return layout.padRight[de] === 1 ? [1, 0x0f, nibble] : [size, 0xf0, nibble << 4]
}

const stepOf = (layout: Layout, de: number): number => {
  const kind = layout.kind[de]
  const fixed = layout.prefix[de] === PREFIX_NONE
  if (kind === TEXT && layout.plain[de] === 1) {
    if (fixed) return STEP_TEXT
    return layout.prefix[de] === PREFIX_DIGITS && layout.prefixPages[de] === latin1
      ? STEP_TEXT_VARIABLE
      : STEP_FIELD
  }
  if (!fixed) return STEP_FIELD
  if (kind === BYTES) return STEP_SKIP
  // A filling nibble above nine, and the characters of tracks, are no digits.
  const plain = kind === PACKED && layout.track[de] === 0
  return plain && (layout.max[de]! % 2 === 0 || layout.padNibble[de]! <= 9)
    ? STEP_PACKED
    : STEP_FIELD
}
