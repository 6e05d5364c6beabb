/** Bytes kept of one value; a longer one is decoded anew each time. */
const valueBytesMax = 16

/**
 * The last value of a field in which neighbouring messages most often say the same, as bytes and as text: to
 * compare ten bytes costs a third of making their string. Members are plain, since private names are slow in
 * JavaScriptCore.
 */
export class LastText {
  text = ''
  private count = 0
  private readonly kept: Uint8Array = new Uint8Array(valueBytesMax)

  /** Whether `text` was made of these bytes and as many digits: packed, five and six take three bytes. */
  is(bytes: Uint8Array, start: number, size: number, count: number): boolean {
    if (this.count !== count) return false
    const { kept } = this
    for (let i = 0; i < size; i++) if (kept[i] !== bytes[start + i]) return false
    return true
  }

  keep(text: string, bytes: Uint8Array, start: number, size: number, count: number): void {
    if (size > valueBytesMax) return
    for (let i = 0; i < size; i++) this.kept[i] = bytes[start + i]!
    this.count = count
    this.text = text
  }
}

/**
 * Processing code, the two times and the institutions. None of them tells of a card or a person, so that one may
 * be kept after its message.
 */
export type RecurringField = 3 | 7 | 12 | 32 | 33

export type LastTexts = Readonly<Record<RecurringField, LastText>>

export const lastTexts = (): LastTexts => ({
  3: new LastText(),
  7: new LastText(),
  12: new LastText(),
  32: new LastText(),
  33: new LastText(),
})
