import { z } from 'zod'
import { isNetwork, type Networks, networkFault, networksOf } from './networks.ts'

/** Entries of one list of a key. */
const entriesMax = 100
export const requestsPerSecondMax = 100_000

const merchant = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,13}[\x21-\x7e])?$/)
const wallet = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((address) => address.toLowerCase())
const network = z.string().refine((text) => networkFault(text) === undefined, {
  error: ({ input }) => networkFault(String(input)),
})
const storedNetwork = z.string().refine(isNetwork, 'no address and no network in CIDR notation')

/**
 * The restrictions of a key within its scopes, as a caller gives them. An absent member restricts nothing. We refuse an
 * unknown one: it may be a restriction of a newer version.
 */
export const restrictionsSchema = z.strictObject({
  merchant_ids: z.array(merchant).min(1).max(entriesMax).optional(),
  wallets: z.array(wallet).min(1).max(entriesMax).optional(),
  own_webhooks: z.literal(true).optional(),
  read_only: z.literal(true).optional(),
  requests_per_second: z.int().min(1).max(requestsPerSecondMax).optional(),
  addresses: z.array(network).min(1).max(entriesMax).optional(),
})

/** The same, as it is stored: values that former versions accepted stay readable. */
export const storedRestrictionsSchema = restrictionsSchema.extend({
  addresses: z.array(storedNetwork).min(1).max(entriesMax).optional(),
})

export type StoredRestrictions = z.infer<typeof restrictionsSchema>

export type RestrictionName = keyof StoredRestrictions

/** The same, ready to be asked. */
export type Restrictions = {
  /** Card transactions of these merchants only. */
  readonly merchantIds?: ReadonlySet<string>
  /** These wallets only; addresses in lower case. */
  readonly wallets?: ReadonlySet<string>
  /** Webhook endpoints only that the key made itself. */
  readonly ownWebhooks?: true
  /** The key may not change, move or sign anything. */
  readonly readOnly?: true
  /** Replaces the limit of all keys. */
  readonly requestsPerSecond?: number
  /** Requests from these networks only. */
  readonly addresses?: Networks
}

const storedNames: Readonly<Record<keyof Restrictions, RestrictionName>> = {
  merchantIds: 'merchant_ids',
  wallets: 'wallets',
  ownWebhooks: 'own_webhooks',
  requestsPerSecond: 'requests_per_second',
  addresses: 'addresses',
  readOnly: 'read_only',
}

/** The names of a key's restrictions, as its owner knows them. */
export const restrictionNamesOf = (restrictions: Restrictions): readonly RestrictionName[] =>
  Object.entries(storedNames).flatMap(([name, stored]) =>
    restrictions[name as keyof Restrictions] === undefined ? [] : [stored],
  )

/** Undefined if this version does not know all of them: a key must not have fewer restrictions than it was given. */
export const restrictionsOf = (stored: unknown): Restrictions | undefined => {
  const given = storedRestrictionsSchema.safeParse(stored ?? {}).data
  if (given === undefined) return undefined
  const { merchant_ids, wallets, own_webhooks, read_only, requests_per_second, addresses } = given
  return {
    ...(merchant_ids === undefined ? {} : { merchantIds: new Set(merchant_ids) }),
    ...(wallets === undefined ? {} : { wallets: new Set(wallets) }),
    ...(own_webhooks === undefined ? {} : { ownWebhooks: own_webhooks }),
    ...(read_only === undefined ? {} : { readOnly: read_only }),
    ...(requests_per_second === undefined ? {} : { requestsPerSecond: requests_per_second }),
    ...(addresses === undefined ? {} : { addresses: networksOf(addresses) }),
  }
}

/**
 * The restriction that forbids a request whatever it asks for; undefined: none does.
 *
 * @param isReading it changes, moves and signs nothing
 * @param addressOf where the request comes from; undefined if that is not known
 */
export const forbiddenBy = (
  { readOnly, addresses }: Restrictions,
  isReading: boolean,
  addressOf: () => string | undefined,
): RestrictionName | undefined => {
  if (addresses !== undefined && !addresses.has(addressOf() ?? '')) return 'addresses'
  return readOnly === true && !isReading ? 'read_only' : undefined
}
