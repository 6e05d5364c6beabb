import { CodecError } from '#codecs/bytes'
import type { XmlDocument } from '#codecs/xml'
import { demandText, type Element, textAt } from './markup.ts'

const ispbForm = /^[0-9A-Za-z]{8}$/
const idForm = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/
/** Year and offset as far as PostgreSQL takes them. */
const momentForm =
  /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-5]):[0-5]\d)$/
const dayChars = 10
const amountForm = /^(\d{1,13})(?:\.(\d{1,2}))?$/
const wordForm = /^[A-Z][A-Z_]{1,49}$/
const detailsCharsMax = 2_000

/** How a value stands in an element. */
export type Kind<T> = {
  /** @throws CodecError `dict_document` */
  readonly read: (document: XmlDocument, node: number, path: string) => T
  /** Undefined: there is no such element. */
  readonly write: (value: T) => Element[1]
}

/** The elements of a value in their order, each with the property that it holds. */
export type Fields<T> = { readonly [P in keyof T]-?: readonly [name: string, kind: Kind<T[P]>] }

type AnyFields = Readonly<Record<string, readonly [name: string, kind: Kind<unknown>]>>

export const elementsOf = <T extends object>(fields: Fields<T>, value: T): readonly Element[] =>
  Object.entries(fields as unknown as AnyFields).map(([property, [name, kind]]) => [
    name,
    kind.write(value[property as keyof T]),
  ])

/** @throws CodecError `dict_document` */
export const readFields = <T extends object>(
  fields: Fields<T>,
  document: XmlDocument,
  node: number,
): T =>
  Object.fromEntries(
    Object.entries(fields as unknown as AnyFields).map(([property, [name, kind]]) => [
      property,
      kind.read(document, node, name),
    ]),
  ) as T

export const text = (form: RegExp): Kind<string> => ({
  read: (document, node, path) => demandText(document, node, path, form),
  write: (value) => value,
})

export const optional = <T>({ read, write }: Kind<T>): Kind<T | undefined> => ({
  read: (document, node, path) =>
    textAt(document, node, path) === undefined ? undefined : read(document, node, path),
  write: (value) => (value === undefined ? undefined : write(value)),
})

/** A word of a closed list: it decides what happens. */
export const oneOf = <W extends string>(words: readonly W[]): Kind<W> => ({
  read: (document, node, path) => {
    const found = demandText(document, node, path)
    const known = words.find((word) => word === found)
    if (known !== undefined) return known
    throw new CodecError('dict_document', document.start(node), `${path} is nothing that we know`)
  },
  write: (value) => value,
})

/** Lower case, whatever the directory writes. */
export const id: Kind<string> = {
  read: (document, node, path) => demandText(document, node, path, idForm).toLowerCase(),
  write: (value) => value,
}

/** Capital letters, whatever the directory writes. */
export const ispb: Kind<string> = {
  read: (document, node, path) => demandText(document, node, path, ispbForm).toUpperCase(),
  write: (value) => value,
}

/** A word of a list that the directory may make longer. */
export const word = text(wordForm)

/** A moment as it is written, of a day that there is: `Date.parse` takes the 31st of February for a day in March. */
export const momentText: Kind<string> = {
  read: (document, node, path) => {
    const found = demandText(document, node, path, momentForm)
    const day = found.slice(0, dayChars)
    const dayMs = Date.parse(`${day}T00:00:00Z`)
    const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(day)
    if (isDay && !Number.isNaN(Date.parse(found))) return found
    throw new CodecError('dict_document', document.start(node), `${path} is no moment`)
  },
  write: (value) => value,
}

/** Milliseconds since the epoch. */
export const moment: Kind<number> = {
  read: (document, node, path) => Date.parse(momentText.read(document, node, path)),
  write: (ms) => new Date(ms).toISOString(),
}

export const cents: Kind<bigint> = {
  read: (document, node, path) => {
    const [, whole = '', part = ''] =
      amountForm.exec(demandText(document, node, path, amountForm)) ?? []
    return BigInt(whole) * 100n + BigInt(part.padEnd(2, '0'))
  },
  write: (value) => `${value / 100n}.${String(value % 100n).padStart(2, '0')}`,
}

/** Text of people for people: in one line, at most as long as the directory allows. */
export const proseAt = (document: XmlDocument, node: number, path: string): string | undefined => {
  const found = textAt(document, node, path)
    ?.replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (found === undefined || found === '') return undefined
  // Half a character is none, and nobody could store it.
  return found.slice(0, detailsCharsMax).replace(/[\ud800-\udbff]$/, '')
}

export const prose: Kind<string | undefined> = { read: proseAt, write: (value) => value }
