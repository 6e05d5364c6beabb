import { CodecError } from '#codecs/bytes'
import { type Composite, type Dialect, type ReadEntry, readComposite } from '#codecs/iso8583'
import { storable } from '../text.ts'
import type { ContentForm, EntryForm } from './form.ts'
import { ContentError } from './leaf.ts'

/** A value may be as long as this; what is longer is no identifier. */
const keptCharactersMax = 64

/** Takes from answers what later messages repeat. */
export type Keeper = {
  /** The fields that answers are read for. */
  readonly fields: ReadonlySet<number>
  /** By name; undefined if the answer has none of it. */
  readonly keep: (
    fieldOf: (de: number) => Uint8Array | undefined,
  ) => Readonly<Record<string, string>> | undefined
}

/** How long each kept value may be, as far as its place says. */
export const keptLengths = (
  content: ContentForm | undefined,
  dialect: Dialect,
): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(content?.keep ?? {}).map(([name, { field, path = [] }]) => {
      let entries: readonly EntryForm[] | undefined = content?.composites[field]?.entries
      let length = dialect.fields[field]?.max ?? keptCharactersMax
      for (const id of path) {
        const entry = entries?.find((one) => one.id === id)
        length = entry?.length ?? length
        entries = entry?.entries
      }
      return [name, Math.min(length, keptCharactersMax)]
    }),
  )

/** @throws ContentError */
export const createKeeper = (
  keep: ContentForm['keep'],
  composites: ReadonlyMap<number, Composite<unknown>>,
  dialect: Dialect,
): Keeper | undefined => {
  const wanted = Object.entries(keep)
  if (wanted.length === 0) return undefined
  for (const [name, { field, path }] of wanted) {
    const place = `keep.${name}`
    if (dialect.fields[field] === undefined) {
      throw new ContentError(place, `dialect ${dialect.name} has no field ${field}`)
    }
    if (secret.has(field)) throw new ContentError(place, `field ${field} may not be kept`)
    if (!isShown(composites.get(field), path ?? [])) {
      throw new ContentError(place, `composites.${field} has no such path, or it is sensitive`)
    }
  }
  return {
    fields: new Set(wanted.map(([, { field }]) => field)),
    keep: (fieldOf) => {
      const found: Record<string, string> = {}
      for (const [name, { field, path = [] }] of wanted) {
        // A network that sends it otherwise loses no approval for it.
        const text = storable(keptValueOf(fieldOf(field), field, path, composites.get(field)))
        if (text !== undefined && text.length <= keptCharactersMax) found[name] = text
      }
      return Object.keys(found).length === 0 ? undefined : found
    },
  }
}

/** Card number, expiry, tracks, PIN and keys. */
const secret: ReadonlySet<number> = new Set([2, 14, 34, 35, 36, 45, 52, 53, 55, 64, 96, 128])

/** Whether the path leads to a value with nothing sensitive in it; without a path, that is the whole. */
const isShown = (composite: Composite<unknown> | undefined, path: readonly string[]): boolean => {
  const [id, ...rest] = path
  if (id === undefined) {
    const entries = composite?.entries ?? []
    return entries.every((one) => !one.isSensitive && isShown(one.composite, []))
  }
  const entry = composite?.entries.find((one) => one.id === id)
  return entry !== undefined && !entry.isSensitive && isShown(entry.composite, rest)
}

const keptValueOf = (
  bytes: Uint8Array | undefined,
  field: number,
  path: readonly string[],
  composite: Composite<unknown> | undefined,
): string | undefined => {
  if (bytes === undefined) return undefined
  if (path.length === 0 || composite === undefined) return String.fromCharCode(...bytes).trim()
  try {
    return entryAt(readComposite(bytes, composite, String(field)), path)?.value.trim()
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}

const entryAt = (
  entries: readonly ReadEntry[],
  [id, ...rest]: readonly string[],
): ReadEntry | undefined => {
  const entry = entries.find((one) => one.id === id)
  return entry === undefined || rest.length === 0 ? entry : entryAt(entry.entries, rest)
}
