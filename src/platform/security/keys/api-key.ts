import { createHash, randomBytes } from 'node:crypto'
import { secretsMatch } from '../constant-time.ts'

/*
 * key      = "trl_" environment "_" id "_" secret checksum
 * id       = 12 base62 characters, public: it names the key in lists and logs
 * secret   = 43 base62 characters: 256 random bits
 * checksum = 6 base62 characters: CRC-32 of all before it, so that a typing error costs no look-up
 */
export type KeyEnvironment = 'live' | 'test'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 12
const secretLength = 43
const checksumLength = 6
const form = /^trl_(live|test)_([0-9A-Za-z]{12})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** The account of keys that were created without one. */
export const defaultAccount = 'default'

/** 1 to 63 characters. */
export const accountForm = /^[0-9A-Za-z][0-9A-Za-z._-]{0,62}$/

export type ParsedKey = {
  readonly environment: KeyEnvironment
  readonly id: string
  readonly hash: Buffer
}

const base62 = (value: bigint, length: number): string => {
  let rest = value
  let out = ''
  for (let index = 0; index < length; index++) {
    out = alphabet.charAt(Number(rest % 62n)) + out
    rest /= 62n
  }
  return out
}

const randomBase62 = (bytes: number, length: number): string =>
  base62(BigInt(`0x${randomBytes(bytes).toString('hex')}`), length)

const checksumOf = (text: string): string => base62(BigInt(Bun.hash.crc32(text)), checksumLength)

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/**
 * A new key: the text is shown once to its owner; only id and hash are stored.
 *
 * @param id of a key that gets a new secret
 */
export const generateKey = (
  environment: KeyEnvironment,
  id = randomBase62(9, idLength),
): { readonly key: string; readonly id: string; readonly hash: string } => {
  const secret = randomBase62(32, secretLength)
  const body = `trl_${environment}_${id}_${secret}`
  return { key: body + checksumOf(body), id, hash: hashOf(secret).toString('hex') }
}

/** Undefined when the text is not a key of ours or its checksum is wrong. */
export const parseKey = (text: string): ParsedKey | undefined => {
  const found = form.exec(text)
  if (found === null) return undefined
  const [, environment, id = '', secret = '', checksum = ''] = found
  const body = text.slice(0, -checksumLength)
  if (checksumOf(body) !== checksum) return undefined
  return { environment: environment === 'live' ? 'live' : 'test', id, hash: hashOf(secret) }
}

/** Whether the hash of a key is the one that is stored. */
export const hashMatches = (hash: Buffer, storedHex: string): boolean =>
  secretsMatch(Buffer.from(storedHex, 'hex'), hash)
