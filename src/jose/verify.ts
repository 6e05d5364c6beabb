import type { FlattenedJWS, FlattenedJWSInput } from 'jose'
import type { VerificationFailure } from './errors.ts'
import type { JoseHeader } from './header.ts'
import { allowedJku } from './jku.ts'
import { type Keyring, verificationKeyOf } from './keyring.ts'
import { answersTo, type JoseKeyNames, namesIn, namesKey, type VerificationKey } from './names.ts'
import { openJws, type ReadToken, readJws, type TokenParts } from './open.ts'
import { KeysUnavailableError, type RemoteKeys } from './remote-keys.ts'

/** Keys tried for one token: a token without a key's name would cost a signature for each key there is. */
const triesMax = 16

/**
 * @property kid - of the key, where it came beside the token
 * @property payload - of a detached token (RFC 7515, appendix F)
 * @property keys - trusted for this request, and then the only ones
 * @property account - who asks: the address of a key set is what an account wants
 */
export type VerifyRequest = {
  readonly token: string | TokenParts<FlattenedJWS>
  readonly kid?: string | undefined
  readonly payload?: Uint8Array | undefined
  readonly keys?: readonly VerificationKey[] | undefined
  /** The address in the token, where the caller trusts it besides those of the settings. */
  readonly trustedJku?: string | undefined
  readonly account?: string | undefined
}

export type Verified =
  | {
      readonly valid: true
      readonly algorithm: string
      readonly content: Uint8Array
      readonly header: JoseHeader
      readonly key: VerificationKey
    }
  | { readonly valid: false; readonly reason: VerificationFailure; readonly message?: string }

export type VerifyDeps = {
  readonly keyring: Pick<Keyring, 'named'>
  /** The keys that the settings pin. */
  readonly pinned: () => Promise<readonly VerificationKey[]>
  readonly jkuAllowed: readonly string[]
  readonly remote: RemoteKeys
}

const refused = (reason: VerificationFailure): Verified => ({ valid: false, reason })

const answering = (keys: readonly VerificationKey[], names: JoseKeyNames) =>
  namesKey(names) ? keys.filter((key) => answersTo(key.names, names)) : keys

/** The first key under which the signature holds, or why it holds under none. */
const tryKeys = async (
  read: ReadToken<FlattenedJWSInput>,
  keys: readonly VerificationKey[],
): Promise<Verified> => {
  if (keys.length === 0) return refused('key_unknown')
  const alg = read.header['alg']
  const fitting = keys.filter(({ algorithms }) => algorithms.some((name) => name === alg))
  if (fitting.length === 0) return refused('algorithm_not_allowed')
  if (fitting.length > triesMax) return refused('key_ambiguous')
  let reason: VerificationFailure = 'key_unknown'
  for (const key of fitting) {
    const algorithm = key.algorithms.find((name) => name === alg)
    const publicKey = algorithm && (await key.import(algorithm))
    if (algorithm === undefined || publicKey === undefined) continue
    const opened = await openJws(read, publicKey, algorithm)
    if (typeof opened !== 'string') return { valid: true, algorithm, key, ...opened }
    reason = opened
    if (reason === 'malformed') break
  }
  return refused(reason)
}

const fromStore = async (
  keyring: Pick<Keyring, 'named'>,
  names: JoseKeyNames,
): Promise<readonly VerificationKey[] | 'purpose_not_allowed'> => {
  const found = await keyring.named(names, 'verify')
  const allowed = found.filter((key) => key.objection('verify') === undefined)
  if (allowed.length === 0 && found.length > 0) return 'purpose_not_allowed'
  return allowed.map(verificationKeyOf)
}

/** The keys at the address in the token, if it is allowed; read again where none answers to the names. */
const fromAddress = async (
  { remote }: VerifyDeps,
  url: string | undefined,
  names: JoseKeyNames,
  account: string | undefined,
): Promise<readonly VerificationKey[] | Verified> => {
  if (url === undefined) return refused('jku_not_allowed')
  try {
    const kept = answering(await remote(url, account), names)
    return kept.length > 0 ? kept : answering(await remote(url, account, true), names)
  } catch (error) {
    if (!(error instanceof KeysUnavailableError)) throw error
    return { valid: false, reason: 'keys_unavailable', message: error.message }
  }
}

/** Verifies with trusted keys alone: a token can add keys only by the address of a key set. */
export const verifyToken = async (deps: VerifyDeps, request: VerifyRequest): Promise<Verified> => {
  const read = readJws(request.token, request.payload)
  if (read === undefined) return refused('malformed')
  const { header, unprotected } = read
  const names = namesIn(header, { kid: request.kid, header: unprotected })
  if (names === undefined) return refused('malformed')
  if (request.keys !== undefined) return tryKeys(read, answering(request.keys, names))
  const stored = await fromStore(deps.keyring, names)
  if (stored === 'purpose_not_allowed') return refused(stored)
  const known = [...stored, ...answering(await deps.pinned(), names)]
  if (header['jku'] === undefined) return tryKeys(read, known)
  const own = known.length > 0 && namesKey(names) ? await tryKeys(read, known) : undefined
  if (own?.valid === true) return own
  const url = request.trustedJku ?? allowedJku(header['jku'], deps.jkuAllowed)
  if (url === undefined && own !== undefined) return own
  // Two issuers may give their keys one name: if our keys did not sign it, those of the address may have.
  const found = await fromAddress(deps, url, names, request.account)
  if ('valid' in found) return found
  const theirs = await tryKeys(read, found)
  return found.length === 0 && own !== undefined ? own : theirs
}
