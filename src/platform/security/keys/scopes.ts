/** The scopes of the API Pix, which a token may have: the standard spells them `cob.read`. */
export const pixScopes = [
  'cob:read',
  'cob:write',
  'cobv:read',
  'cobv:write',
  'lotecobv:read',
  'lotecobv:write',
  'payloadlocation:read',
  'payloadlocation:write',
  'solicrec:read',
  'solicrec:write',
  'cobr:read',
  'cobr:write',
  'payloadlocationrec:read',
  'payloadlocationrec:write',
  'rec:read',
  'rec:write',
  'pix:read',
  'pix:write',
  'webhook:read',
  'webhook:write',
  'webhookrec:read',
  'webhookrec:write',
  'webhookcobr:read',
  'webhookcobr:write',
] as const

/** The rights that a key may have: `feature:verb`. `ops:admin` does not imply the others; `*` does. */
export const scopes = [
  'spi:transform',
  'spi:send',
  'spi:catalog',
  'messages:read',
  'dict:read',
  'dict:write',
  'webhooks:read',
  'webhooks:manage',
  'qrcodes:use',
  'jose:use',
  'rsfn:use',
  'cards:authorize',
  'cards:capture',
  'cards:void',
  'cards:refund',
  'cards:read',
  'drex:transfer',
  'drex:read',
  'contracts:deploy',
  'contracts:call',
  'contracts:read',
  'wallets:manage',
  'wallets:read',
  'signatures:make',
  ...pixScopes,
  'keys:read',
  'keys:manage',
  'audit:export',
  'ops:read',
  'ops:admin',
] as const

export type Scope = (typeof scopes)[number]

/** All that they open is the institution's: they are worth nothing to keys of other accounts. */
export const institutionScopes: ReadonlySet<Scope> = new Set([
  'spi:send',
  'messages:read',
  'dict:read',
  'dict:write',
  'rsfn:use',
  'audit:export',
  'ops:read',
])

/** A scope as a key holds it: one scope, a whole feature (`cards:*`), or everything (`*`). */
export const isGrant = (text: string): boolean =>
  text === '*' ||
  scopes.some((scope) => scope === text || `${scope.slice(0, scope.indexOf(':'))}:*` === text)

/** Scopes that keys once had, though they never opened anything: a file that holds one is not malformed. */
const retired = ['cards:tokenize', 'certificates:read', 'certificates:manage', 'certificates:*']

/** A grant that a stored key may hold: a present one, or a retired one. */
export const isStoredGrant = (text: string): boolean => isGrant(text) || retired.includes(text)

/** The scopes that a key's grants open. */
export const expandGrants = (grants: readonly string[]): ReadonlySet<Scope> =>
  new Set(
    scopes.filter((scope) =>
      grants.some(
        (grant) =>
          grant === '*' || grant === scope || grant === `${scope.slice(0, scope.indexOf(':'))}:*`,
      ),
    ),
  )
