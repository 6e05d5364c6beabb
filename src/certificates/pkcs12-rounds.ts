import { pbkdf2Sync } from 'node:crypto'
import type Forge from 'node-forge'

/** A message digest that the library hands to its key derivations. */
type Digest = { readonly algorithm: string }

type Salt = string | Forge.util.ByteStringBuffer

/** The two key derivations that the library uses for every part of a file. */
type Derivations = {
  readonly pkcs12: { generateKey: DeriveBuffer }
  readonly pki: { readonly pbe: { generatePkcs12Key: DeriveBuffer } }
  readonly pkcs5: { pbkdf2: DeriveText }
}

/** RFC 7292 appendix B: id 1 for keys, 2 for initial vectors, 3 for integrity. */
type DeriveBuffer = (
  password: string,
  salt: Forge.util.ByteStringBuffer,
  id: number,
  rounds: number,
  length: number,
  digest?: Digest,
) => Forge.util.ByteStringBuffer

/** RFC 8018 section 5.2. */
type DeriveText = (
  password: string,
  salt: string,
  rounds: number,
  length: number,
  digest?: Digest,
) => string

/**
 * Calls `run` and counts the library's key derivations. Each number of rounds, anywhere in a file and in any wrapping,
 * takes effect only here.
 *
 * The rounds of a repeated derivation count once, because it runs once. PBKDF2 takes the password in UTF-8, as RFC 8018
 * recommends and others do, instead of the library's octets.
 *
 * @param roundsMax - of all derivations together
 * @param refuse - makes the error that is thrown before any round over the limit runs
 */
export const withRoundsMax = <T>(
  forge: typeof Forge,
  roundsMax: number,
  refuse: () => Error,
  run: () => T,
): T => {
  const library = forge as unknown as Derivations
  const { generatePkcs12Key } = library.pki.pbe
  const { pbkdf2 } = library.pkcs5
  const known = new Map<string, string>()
  let total = 0
  const once = (
    kind: string,
    salt: Salt,
    [rounds, length, digest]: readonly [number, number, Digest | undefined],
    derive: (algorithm: string) => string,
  ): string => {
    if (!(rounds >= 1)) throw new Error('a number of rounds is not positive')
    const algorithm = digest?.algorithm ?? 'sha1'
    const octets = typeof salt === 'string' ? salt : salt.bytes()
    const name = `${kind} ${algorithm} ${rounds} ${length} ${octets}`
    const found = known.get(name)
    if (found !== undefined) return found
    total += rounds
    if (total > roundsMax) throw refuse()
    const derived = derive(algorithm)
    known.set(name, derived)
    return derived
  }
  const counted: DeriveBuffer = (password, salt, id, rounds, length, digest) =>
    forge.util.createBuffer(
      once(`pkcs12 ${id}`, salt, [rounds, length, digest], () =>
        generatePkcs12Key(password, salt, id, rounds, length, digest).getBytes(),
      ),
    )
  library.pki.pbe.generatePkcs12Key = counted
  library.pkcs12.generateKey = counted
  library.pkcs5.pbkdf2 = (password, salt, rounds, length, digest) =>
    once('pbkdf2', salt, [rounds, length, digest], (algorithm) =>
      pbkdf2Sync(password, Buffer.from(salt, 'latin1'), rounds, length, algorithm).toString(
        'latin1',
      ),
    )
  try {
    return run()
  } finally {
    library.pki.pbe.generatePkcs12Key = generatePkcs12Key
    library.pkcs12.generateKey = generatePkcs12Key
    library.pkcs5.pbkdf2 = pbkdf2
  }
}
