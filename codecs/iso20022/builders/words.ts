/**
 * Bytes are copied eight at a time, as numbers of floating point. No eight bytes of UTF-8 are one that is no number,
 * of which a processor may change the bits.
 */
export const wordBytes = 8

const view = new DataView(new ArrayBuffer(wordBytes))

/** Up to eight characters of ASCII, the first in the lowest byte, zeros behind them. */
export const wordOf = (text: string): number => {
  view.setFloat64(0, 0)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x7f) throw new Error('constants of a message are ASCII')
    view.setUint8(i, code)
  }
  return view.getFloat64(0, true)
}
