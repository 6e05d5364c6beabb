/** Fields that templates share. Amounts are decimal strings, dates ISO 8601, hashes 32 bytes in hexadecimal. */
import { z } from 'zod'
import { instant as moment, text } from '#src/platform/http/index.ts'
import { amountForm, unitsOf } from '../domain.ts'

export const bpsMax = 10_000

export const hash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 32 bytes in hexadecimal')
  .default(`0x${'00'.repeat(32)}`)

export const name = text(100).trim().min(1)
export const symbol = z
  .string()
  .regex(/^[A-Za-z0-9@._-]{1,20}$/, 'must be 1 to 20 letters, digits or @._-')
/** The chain counts seconds, and has no moment before 1970. */
export const instant = moment
  .refine((at) => at.getTime() >= 0, 'must not be before 1970')
  .transform((at) => Math.floor(at.getTime() / 1000))
/** A day of that chain, which is its midnight of UTC. */
export const day = z.iso.date().refine((text) => !(Date.parse(text) < 0), 'must not be before 1970')
export const bps = (max: number) => z.int().min(0).max(max)

/** How many fraction digits there may be depends on the token. */
export const amount = z
  .string()
  .regex(amountForm, 'must be a positive amount with two fraction digits, such as 150.00')

/** An amount in reais, as cents. */
export const reais = amount.transform((value, context): bigint => {
  const cents = unitsOf(value, 2)
  if (cents !== undefined) return cents
  context.addIssue({ code: 'custom', message: 'must have two fraction digits' })
  return z.NEVER
})

/** The institution, by the first eight digits of its CNPJ; contracts keep it as a number. */
export const cnpj8 = z.string().regex(/^\d{8}$/, 'must be the first eight digits of a CNPJ')

/** Fraction digits of an asset. Nothing goes on to scale by what is none. */
export const decimals = z.int({ abort: true }).min(0, { abort: true }).max(18, { abort: true })

/** A quantity of whole units, for example `1000000` or `12.50`. */
export const quantity = z.string().regex(/^\d{1,40}(\.\d{1,18})?$/, {
  message: 'must be a decimal number',
  // Nothing goes on to scale what is none.
  abort: true,
})

/** @returns the quantity in its smallest unit; undefined if it has more than `decimals` fraction digits */
export const scaled = (text: string, decimals: number): bigint | undefined => {
  const [whole = '0', fraction = ''] = text.split('.')
  if (fraction.length > decimals) return undefined
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** Refuses quantities that have more fraction digits than the asset. */
export const requireScalable =
  <F extends string>(...fields: readonly F[]) =>
  (
    params: { readonly decimals: number } & { readonly [K in F]?: string | undefined },
    context: z.RefinementCtx,
  ): void => {
    for (const field of fields) {
      const value: string | undefined = params[field]
      if (value === undefined || scaled(value, params.decimals) !== undefined) continue
      const message = `has more than ${params.decimals} fraction digits`
      context.addIssue({ code: 'custom', path: [field], message })
    }
  }
