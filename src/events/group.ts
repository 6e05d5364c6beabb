import { z } from 'zod'

/** The types that share a payload. */
type EventGroup = {
  readonly payload: z.ZodType
  /** What its `sequence` counts by. */
  readonly subject: string
  /** Type by type: when it is emitted. */
  readonly types: Readonly<Record<string, string>>
}

export type EventGroups = Readonly<Record<string, EventGroup>>

export const money = z.string().meta({ description: 'Reais with two decimals.' })
export const text = z.string().nullable()
