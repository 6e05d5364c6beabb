import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { macAlgorithms } from '#src/platform/security/index.ts'
import type { LinkSecurity, PinSecurity } from './link-keys.ts'
import { keyUses, ModuleKey } from './types.ts'

const digitsMax = 999
const checkDigitsMin = 4
/** No module computes more of them. */
const checkDigitsMax = 6
/** The name of a key that PIN blocks come under. */
export const pinSourceName = /^[a-z][a-z0-9_-]{0,31}$/

const placeForm = z.strictObject({
  key: z.enum(keyUses),
  field: z.int().min(2).max(128),
  at: z.int().min(0).max(digitsMax).default(0),
  digits: z.union([z.literal(16), z.literal(32), z.literal(48)]).default(32),
  check_value_at: z.int().min(0).max(digitsMax).default(32),
  check_value_digits: z.int().min(checkDigitsMin).max(checkDigitsMax).default(checkDigitsMax),
})

/** `security` of a network: its keys are in files of their own, as the security module takes them. */
export const securityForm = z.strictObject({
  zone_key_path: z.string().min(1).optional(),
  mac: z
    .strictObject({
      algorithm: z.enum(macAlgorithms),
      bytes: z.union([z.literal(4), z.literal(8)]).default(8),
      key_path: z.string().min(1).optional(),
    })
    .optional(),
  pin: z
    .strictObject({
      format: z.enum(['0', '3']).default('0'),
      key_path: z.string().min(1).optional(),
      sources: z
        .record(
          z.string().regex(pinSourceName),
          z.strictObject({
            key_path: z.string().min(1),
            format: z.enum(['0', '1', '3']).default('0'),
          }),
        )
        .refine((sources) => Object.keys(sources).length > 0, 'a key that PIN blocks come under'),
    })
    .optional(),
  key_exchange: z
    .strictObject({
      network_code: z
        .string()
        .regex(/^\d{3}$/, 'three digits')
        .default('101'),
      /** DE 70 of our 0800 that confirms the keys. */
      confirmation_code: z
        .string()
        .regex(/^\d{3}$/, 'three digits')
        .optional(),
      asks: z.boolean().default(false),
      keys: z.array(placeForm).min(1).max(4),
    })
    .optional(),
})

type SecurityForm = z.infer<typeof securityForm>

/** @throws Error that names the file, and nothing of what it holds */
const keyOf = (path: string): ModuleKey => {
  const text = readFileSync(path, 'utf8').trim()
  if (text === '' || text.length > digitsMax) throw new Error(`security: ${path} holds no key`)
  return new ModuleKey(text)
}

const keyIfAny = (path: string | undefined): ModuleKey | undefined =>
  path === undefined ? undefined : keyOf(path)

const pinOf = ({ format, key_path, sources }: NonNullable<SecurityForm['pin']>): PinSecurity => ({
  format,
  key: keyIfAny(key_path),
  sources: new Map(
    Object.entries(sources).map(([name, source]) => [
      name,
      { key: keyOf(source.key_path), format: source.format },
    ]),
  ),
})

/** @throws Error that says which key is missing */
export const linkSecurityOf = (form: SecurityForm): LinkSecurity => {
  const { mac, pin, key_exchange: exchange } = form
  for (const [use, keyed] of Object.entries({ mac, pin })) {
    const isExchanged = exchange?.keys.some(({ key }) => key === use) ?? false
    if (keyed !== undefined && keyed.key_path === undefined && !isExchanged) {
      throw new Error(`security: ${use} needs key_path, or a key_exchange that brings its key`)
    }
  }
  if (exchange !== undefined && form.zone_key_path === undefined) {
    throw new Error('security: key_exchange needs zone_key_path')
  }
  if (exchange?.asks === true && exchange.confirmation_code !== undefined) {
    throw new Error('security: confirmation_code is of keys that the network sends, without asks')
  }
  return {
    zone: keyIfAny(form.zone_key_path),
    mac: mac && { algorithm: mac.algorithm, bytes: mac.bytes, key: keyIfAny(mac.key_path) },
    pin: pin && pinOf(pin),
    exchange: exchange && {
      networkCode: exchange.network_code,
      confirmationCode: exchange.confirmation_code,
      asks: exchange.asks,
      keys: exchange.keys.map((place) => ({
        use: place.key,
        field: place.field,
        at: place.at,
        digits: place.digits,
        checkValueAt: place.check_value_at,
        checkValueDigits: place.check_value_digits,
      })),
    },
  }
}
