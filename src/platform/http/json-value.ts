import { z } from 'zod'
import { text } from './text.ts'

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue }

/** The request's own bound is lower. */
const charactersMax = 1_048_576
const jsonText = text(charactersMax, { isMultiline: true, charactersMin: 0 })

/**
 * Any JSON value. A name of its own is what lets the OpenAPI document refer back to it; `z.json()` has none,
 * and the document's generator would follow it for ever.
 */
export const jsonValue: z.ZodType<JsonValue> = z
  .lazy(() =>
    z.union([
      jsonText,
      z.number(),
      z.boolean(),
      z.null(),
      z.array(jsonValue),
      z.record(jsonText, jsonValue),
    ]),
  )
  .meta({ id: 'JsonValue', description: 'Any JSON value' })
