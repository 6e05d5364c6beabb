import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { macAlgorithms } from '#src/platform/security/index.ts'
import type { LinkSecurity } from './link-keys.ts'
import { keyUses, ModuleKey } from './types.ts'

const digitsMax = 999

const placeForm = z.strictObject({
  key: z.enum(keyUses),
  field: z.int().min(2).max(128),
  at: z.int().min(0).max(digitsMax).default(0),
  digits: z.union([z.literal(16), z.literal(32), z.literal(48)]).default(32),
  check_value_at: z.int().min(0).max(digitsMax).default(32),
  check_value_digits: z.int().min(4).max(16).default(6),
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
  key_exchange: z
    .strictObject({
      network_code: z
        .string()
        .regex(/^\d{3}$/, 'three digits')
        .default('101'),
      asks: z.boolean().default(false),
      keys: z.array(placeForm).min(1).max(4),
    })
    .optional(),
})

type SecurityForm = z.infer<typeof securityForm>

/** @throws Error that names the file, and nothing of what it holds */
const keyOf = (path: string | undefined): ModuleKey | undefined => {
  if (path === undefined) return undefined
  const text = readFileSync(path, 'utf8').trim()
  if (text === '' || text.length > digitsMax) throw new Error(`security: ${path} holds no key`)
  return new ModuleKey(text)
}

/** @throws Error that says which key is missing */
export const linkSecurityOf = (form: SecurityForm): LinkSecurity => {
  const { mac, key_exchange: exchange } = form
  const isExchanged = exchange?.keys.some(({ key }) => key === 'mac') ?? false
  if (mac !== undefined && mac.key_path === undefined && !isExchanged) {
    throw new Error('security: mac needs key_path, or a key_exchange that brings its key')
  }
  if (exchange !== undefined && form.zone_key_path === undefined) {
    throw new Error('security: key_exchange needs zone_key_path')
  }
  return {
    zone: keyOf(form.zone_key_path),
    mac: mac && { algorithm: mac.algorithm, bytes: mac.bytes, key: keyOf(mac.key_path) },
    exchange: exchange && {
      networkCode: exchange.network_code,
      asks: exchange.asks,
      keys: exchange.keys.map((place) => ({
        ...{ use: place.key, field: place.field, at: place.at, digits: place.digits },
        checkValueAt: place.check_value_at,
        checkValueDigits: place.check_value_digits,
      })),
    },
  }
}
