import type { Composite, CompositeEntry } from '#codecs/iso8583'
import type { CompositeForm, EntryForm } from './form.ts'
import { ContentError, compileLeaf, constantsOf, type Leaf, type LeafContext } from './leaf.ts'

const bitsPerByte = 8

/** @throws ContentError */
export const compileComposite = (
  form: CompositeForm,
  context: LeafContext,
  path: string,
): Composite<Leaf> => {
  const { shape, entries = [] } = form
  if (shape === undefined) throw new ContentError(path, 'a composite needs a shape')
  checkLengths(form, path)
  const seen = new Set<string>()
  const compiled = entries.map((entry, at): CompositeEntry<Leaf> => {
    const place = `${path}.entries.${at}`
    checkId(entry, form, seen, place)
    return compileEntry(entry, form, context, place)
  })
  // A bitmap announces its entries in the order of their bits.
  const ordered =
    shape === 'bitmap' ? compiled.toSorted((a, b) => Number(a.id) - Number(b.id)) : compiled
  return {
    shape,
    leading: form.leading ?? '',
    idDigits: form.id_digits ?? 0,
    lengthDigits: form.length_digits ?? 0,
    lengthEncoding: form.length_encoding ?? 'ascii',
    bitmapBytes: form.bitmap_bytes ?? 0,
    entries: ordered,
  }
}

/** Whether something in it is never shown. */
export const hasSensitive = (composite: Composite<unknown> | undefined): boolean =>
  composite?.entries.some((one) => one.isSensitive || hasSensitive(one.composite)) ?? false

const checkLengths = (form: CompositeForm, path: string): void => {
  const isHeaded = form.shape === 'tlv' || form.shape === 'ltv'
  const hasDigits = form.id_digits !== undefined && form.length_digits !== undefined
  if (isHeaded && !hasDigits) {
    throw new ContentError(path, `${form.shape} needs id_digits and length_digits`)
  }
  if (form.shape === 'bitmap' && form.bitmap_bytes === undefined) {
    throw new ContentError(path, 'bitmap needs bitmap_bytes')
  }
  if (form.shape === 'bitmap' && form.leading !== undefined) {
    throw new ContentError(path, 'nothing stands before a bitmap')
  }
  if (form.length_encoding !== undefined && form.shape !== 'ltv') {
    throw new ContentError(path, 'length_encoding is for ltv')
  }
}

const checkId = (
  { id }: EntryForm,
  { shape, id_digits: idDigits, bitmap_bytes: bytes = 0 }: CompositeForm,
  seen: Set<string>,
  path: string,
): void => {
  if (seen.has(id)) throw new ContentError(path, `the id ${id} is there twice`)
  seen.add(id)
  if (shape === 'bitmap') {
    const bit = /^[1-9]\d{0,2}$/.test(id) ? Number(id) : 0
    if (bit < 1 || bit > bytes * bitsPerByte) {
      throw new ContentError(path, `the id is a bit from 1 to ${bytes * bitsPerByte}`)
    }
  } else if (idDigits !== undefined && shape !== 'fixed' && id.length !== idDigits) {
    throw new ContentError(path, `the id has ${idDigits} characters`)
  }
}

const compileEntry = (
  entry: EntryForm,
  { shape }: CompositeForm,
  context: LeafContext,
  path: string,
): CompositeEntry<Leaf> => {
  const { encoding = 'ascii', length } = entry
  const isPlaced = shape === 'fixed' || shape === 'bitmap'
  if (entry.shape !== undefined && isPlaced) {
    throw new ContentError(path, `a composite within ${shape} has no length`)
  }
  if (isPlaced && length === undefined) throw new ContentError(path, `${shape} needs a length`)
  // The text of bytes is longer than they are; the writer checks it.
  const isText = encoding === 'ascii' || encoding === 'ebcdic' || encoding === 'bcd'
  const source = compileLeaf(entry, isText ? length : undefined, context, path)
  const hasBoth = entry.shape !== undefined && source !== undefined
  if (hasBoth) throw new ContentError(path, 'a value or a shape, not both')
  const tooLong = isText && constantsOf(entry).some((text) => text.length > (length ?? Infinity))
  if (tooLong) throw new ContentError(path, `at most ${length} characters`)
  return {
    id: entry.id,
    name: entry.name ?? '',
    encoding,
    length,
    pad: entry.pad ?? (encoding === 'bcd' ? 'zeros' : 'blanks'),
    isSensitive: entry.sensitive ?? false,
    source,
    composite: entry.shape === undefined ? undefined : compileComposite(entry, context, path),
  }
}
