import type { Metadata } from '@grpc/grpc-js'
import { type Language, languageOf } from '#src/platform/http/index.ts'

/*
 * The library's own map: each of its public views copies the values and checks the name again, which costs more per
 * call than the look-up itself. Names are in lower case.
 */
type Entries = Map<string, (string | Buffer)[]>

const entriesOf = (metadata: Metadata): Entries =>
  (metadata as unknown as { readonly internalRepr: Entries }).internalRepr

/** Undefined when the key is missing or occurs more than once. */
export const onlyText = (metadata: Metadata, key: string): string | undefined => {
  const values = entriesOf(metadata).get(key)
  if (values?.length !== 1) return undefined
  const [value] = values
  return typeof value === 'string' ? value : undefined
}

/** The language that people are answered in, as over HTTP. */
export const languageOfCall = (metadata: Metadata): Language =>
  languageOf(onlyText(metadata, 'accept-language') ?? null)

/** The caller knows that `value` is printable. */
export const setText = (metadata: Metadata, key: string, value: string): void => {
  entriesOf(metadata).set(key, [value])
}

export const metadataBytes = (metadata: Metadata): number => {
  let size = 0
  for (const [key, values] of entriesOf(metadata)) {
    for (const value of values) size += key.length + value.length
  }
  return size
}
