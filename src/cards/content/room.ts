import type { CompositeForm, EntryForm } from './form.ts'
import { constantsOf } from './leaf.ts'
import { sampleFacts } from './samples.ts'
import { type AcquirerNumbers, sources } from './sources.ts'

/** What entries of a composite need of its bytes. */

/** Bytes of identifier and length. */
export const headBytes = (form: CompositeForm): number => {
  if (form.shape !== 'tlv' && form.shape !== 'ltv') return 0
  const { id_digits: idDigits = 0, length_digits: lengthDigits = 0 } = form
  return idDigits + (form.length_encoding === 'bcd' ? (lengthDigits + 1) >> 1 : lengthDigits)
}

/** Bytes of an entry at its longest; undefined if it is not written, or may be of any length. */
export const writtenBytes = (
  entry: EntryForm,
  composite: CompositeForm,
  acquirer: AcquirerNumbers,
): number | undefined => {
  const value = valueBytes(entry, acquirer)
  return value === undefined ? undefined : headBytes(composite) + value
}

const valueBytes = (form: CompositeForm, acquirer: AcquirerNumbers): number | undefined => {
  const { shape, leading = '', bitmap_bytes: bitmapBytes = 0, entries = [], length } = form
  if (shape !== undefined) {
    const written = entries
      .map((one) => writtenBytes(one, form, acquirer))
      .filter((bytes) => bytes !== undefined)
    if (written.length === 0) return undefined
    return written.reduce((sum, bytes) => sum + bytes, leading.length + bitmapBytes)
  }
  const isWritten = form.value !== undefined || form.from !== undefined
  if (!isWritten) return undefined
  const { encoding = 'ascii' } = form
  if (length !== undefined) return encoding === 'bcd' ? (length + 1) >> 1 : length
  const texts = [...constantsOf(form), ...(form.map === undefined ? given(form, acquirer) : [])]
  if (texts.length === 0) return undefined
  return Math.max(...texts.map((text) => bytesIn(text, encoding)))
}

/** What its source gives in samples, which are of the longest values. */
const given = ({ from = '' }: CompositeForm, acquirer: AcquirerNumbers): readonly string[] => {
  const source = Object.hasOwn(sources, from) ? sources[from] : undefined
  return sampleFacts(new Map(), 'capture')
    .map((facts) => source?.get(facts, acquirer))
    .filter((text) => text !== undefined)
}

const bytesIn = (text: string, encoding: EntryForm['encoding']): number => {
  if (encoding === 'base64') return Buffer.from(text, 'base64').length
  return encoding === 'bcd' || encoding === 'hex' ? (text.length + 1) >> 1 : text.length
}
