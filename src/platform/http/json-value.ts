import { z } from 'zod'
import { line, text } from './text.ts'

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue }

/**
 * Any JSON value: what a body holds is one that the database can store, see `parseJson`. The OpenAPI document says
 * "anything", because generators of clients leave out whatever holds a type that refers to itself.
 */
export const jsonValue = z.unknown().meta({
  description: 'Any JSON value',
}) as z.ZodType<unknown> as z.ZodType<JsonValue>

/** An object of any members. The generator of the document tells nothing of their names, so we do. */
export const jsonMembers = (nameCharactersMax: number) =>
  z.record(text(nameCharactersMax), jsonValue).meta({
    propertyNames: { minLength: 1, maxLength: nameCharactersMax, pattern: line.source },
  })
