import { DIGIT, PADDED_LEFT_TABLE, PADDED_RIGHT_TABLE, PAIRS_TABLE } from './characters.ts'
import { FIELD_MAX } from './dialect.ts'
import { isSecretField, type Layout, TEXT } from './layout.ts'

/** Steps of a plan: three numbers each, the kind and two arguments. */
export const STEP_RUN = 0
export const STEP_CHECK = 1
export const STEP_FIELD = 2
export const STEP_SIZE = 3

/** Words of 32 bits in three bitmaps. */
const WORDS = 6
/** Bitmaps that a parser remembers; a peer that sends more kinds of message than that makes plans anew. */
const PLANS_MAX = 32

/**
 * What a bitmap asks for, made once for each: fixed fields that follow one another are one run, of which only the
 * place is kept, and of which stretches of one class are checked in one loop.
 *
 * @property steps - `RUN, bytes, segment` begins a run; `CHECK, bytes, class and table` checks its next bytes;
 *   `FIELD, number, segment` reads any other field
 * @property segment - by field: whose start is kept under this number
 * @property relative - by field: its offset from the start of its run
 */
export type Plan = {
  readonly words: Int32Array
  readonly fields: Uint8Array
  readonly present: Uint8Array
  readonly steps: Int32Array
  readonly segment: Uint8Array
  readonly relative: Uint16Array
  /** By field: its offset in the characters of its run. */
  readonly staged: Uint16Array
  /** Characters or digits of the fields of runs; 0 for others. */
  readonly lengths: Uint16Array
  /** The first field whose value may be a string; 0 where there is none. */
  readonly firstText: number
  /** True when every field from `firstText` on is Latin-1 text without secrets: one decoding serves all. */
  readonly isPlain: boolean
}

/** What the bytes of a field are checked for, as pairs of a number of bytes and class with table. */
const checksOf = (layout: Layout, de: number): (readonly [bytes: number, check: number])[] => {
  const bytes = layout.runBytes[de] ?? 0
  if (layout.kind[de] === TEXT) {
    return [[bytes, (layout.classes[de] ?? 0) | ((layout.pageNumber[de] ?? 0) << 8)]]
  }
  const pairs = DIGIT | (PAIRS_TABLE << 8)
  if ((layout.max[de] ?? 0) % 2 === 0) return [[bytes, pairs]]
  const nibble = layout.padNibble[de] ?? 0
  return layout.padRight[de] === 1
    ? [
        [bytes - 1, pairs],
        [1, DIGIT | ((PADDED_RIGHT_TABLE + nibble) << 8)],
      ]
    : [
        [1, DIGIT | ((PADDED_LEFT_TABLE + nibble) << 8)],
        [bytes - 1, pairs],
      ]
}

/** The steps of one run: its bytes, then what each stretch of one class is checked for. */
const runSteps = (layout: Layout, fields: readonly number[], segment: number): number[] => {
  const steps = [STEP_RUN, 0, segment]
  let last = 0
  for (const [bytes, check] of fields.flatMap((de) => checksOf(layout, de))) {
    steps[1] = (steps[1] ?? 0) + bytes
    if (check === last) steps[steps.length - 2] = (steps.at(-2) ?? 0) + bytes
    else if (bytes > 0) steps.push(STEP_CHECK, bytes, check)
    if (bytes > 0) last = check
  }
  return steps
}

const fieldsOf = (words: Int32Array): number[] => {
  const fields: number[] = []
  for (let de = 2; de <= FIELD_MAX; de++) {
    // Bit 65 says that a third bitmap follows; it is no field.
    if (de === 65) continue
    const word = words[(de - 1) >> 5] ?? 0
    if ((word & (0x80000000 >>> ((de - 1) & 31))) !== 0) fields.push(de)
  }
  return fields
}

const isPlainText = (layout: Layout, de: number): boolean =>
  layout.kind[de] === TEXT && layout.pageNumber[de] === 0 && !isSecretField(de)

const makePlan = (layout: Layout, words: Int32Array): Plan => {
  const fields = fieldsOf(words)
  const present = new Uint8Array(FIELD_MAX + 1)
  const segment = new Uint8Array(FIELD_MAX + 1)
  const relative = new Uint16Array(FIELD_MAX + 1)
  const staged = new Uint16Array(FIELD_MAX + 1)
  const lengths = new Uint16Array(FIELD_MAX + 1)
  const steps: number[] = []
  let segments = 0
  let run: number[] = []
  let runBytes = 0
  let runCharacters = 0
  const endRun = (): void => {
    if (run.length > 0) steps.push(...runSteps(layout, run, segments++))
    run = []
    runBytes = 0
    runCharacters = 0
  }
  for (const de of fields) {
    present[de] = 1
    if (layout.runBytes[de] === 0) {
      endRun()
      segment[de] = segments
      steps.push(STEP_FIELD, de, segments++)
      continue
    }
    segment[de] = segments
    relative[de] = runBytes
    staged[de] = runCharacters
    lengths[de] = layout.max[de] ?? 0
    runCharacters += lengths[de] ?? 0
    runBytes += layout.runBytes[de] ?? 0
    run.push(de)
  }
  endRun()
  const texts = fields.filter((de) => !isSecretField(de))
  return {
    words: words.slice(),
    fields: Uint8Array.from(fields),
    present,
    steps: Int32Array.from(steps),
    segment,
    relative,
    staged,
    lengths,
    firstText: texts[0] ?? 0,
    isPlain:
      texts.every((de) => isPlainText(layout, de)) &&
      fields.every((de) => de === 2 || !isSecretField(de)),
  }
}

/** The plan as far as the field `failed`: what was read before it stays readable. */
export const planBefore = (plan: Plan, failed: number): Plan => ({
  ...plan,
  words: new Int32Array(WORDS),
  fields: plan.fields.filter((de) => de < failed),
  present: plan.present.map((isPresent, de) => (de < failed ? isPresent : 0)),
  isPlain: false,
})

/** Plans by bitmap, the latest asked for first. */
export class PlanCache {
  private readonly layout: Layout
  private readonly plans: Plan[] = []
  private next = 0
  private latest: Plan
  /** Of no field at all. */
  readonly empty: Plan
  /** Where the caller puts the bitmap. */
  readonly words: Int32Array = new Int32Array(WORDS)

  constructor(layout: Layout) {
    this.layout = layout
    this.empty = makePlan(layout, this.words)
    this.latest = this.empty
  }

  /** The plan of the bitmap in `words`. */
  find(): Plan {
    if (this.isFor(this.latest)) return this.latest
    let found = this.plans.find((plan) => this.isFor(plan))
    if (found === undefined) {
      found = makePlan(this.layout, this.words)
      this.plans[this.next] = found
      this.next = (this.next + 1) % PLANS_MAX
    }
    this.latest = found
    return found
  }

  private isFor({ words }: Plan): boolean {
    const wanted = this.words
    return (
      words[1] === wanted[1] &&
      words[0] === wanted[0] &&
      words[2] === wanted[2] &&
      words[3] === wanted[3] &&
      words[4] === wanted[4] &&
      words[5] === wanted[5]
    )
  }
}
