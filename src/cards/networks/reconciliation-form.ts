import { z } from 'zod'
import type { CutOver } from '../reconciliation/days.ts'

const waitSecondsDefault = 300
const waitSecondsMax = 43_200
const expiryHoursDefault = 24
const expiryHoursMax = 720

/** `reconciliation` of a network: when its business days end, and how totals are compared. */
export const reconciliationForm = z.strictObject({
  /** A time of day, or `network`: its 0800 with DE 70 201 ends the day. */
  cut_over: z.union([
    z.literal('network'),
    z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'network, or a time like 22:00'),
  ]),
  time_zone: z
    .string()
    .regex(/^[+-](?:0\d|1[0-4]):[0-5]\d$/, 'an offset like -03:00')
    .default('-03:00'),
  wait_seconds: z.int().min(0).max(waitSecondsMax).default(waitSecondsDefault),
  /** Whether each transaction of the day is sent: never, where the totals differ, or always. */
  batch_upload: z.enum(['never', 'different', 'always']).default('never'),
  expiry_hours: z.int().min(1).max(expiryHoursMax).default(expiryHoursDefault),
})

export type ReconciliationRules = {
  readonly cutOver: CutOver
  /** The network tells when a day ends; else our clock does. */
  readonly isByNetwork: boolean
  /** From the cut-over to the first message: what is on its way is then answered. */
  readonly waitSeconds: number
  readonly batchUpload: 'never' | 'different' | 'always'
  /** Hours after the wait, after which a comparison that was not answered is given up. */
  readonly expiryHours: number
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

export const reconciliationRulesOf = (
  form: z.infer<typeof reconciliationForm>,
): ReconciliationRules => {
  const isByNetwork = form.cut_over === 'network'
  const offset = minutesOf(form.time_zone.slice(1))
  return {
    isByNetwork,
    cutOver: {
      minutes: isByNetwork ? 0 : minutesOf(form.cut_over),
      offsetMinutes: form.time_zone.startsWith('-') ? -offset : offset,
    },
    waitSeconds: form.wait_seconds,
    batchUpload: form.batch_upload,
    expiryHours: form.expiry_hours,
  }
}
