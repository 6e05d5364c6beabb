import type { Kind } from '#src/platform/config/kinds.ts'

const keyBytes = 32
/** Fewer distinct octets than this do not come from a random source. */
const distinctOctetsMin = 12

const octetsOf = (text: string): Uint8Array | undefined => {
  if (/^[0-9A-Fa-f]{64}$/.test(text)) return Uint8Array.fromHex(text)
  if (/^[A-Za-z0-9+/]{43}=?$/.test(text)) return Uint8Array.fromBase64(text.padEnd(44, '='))
  return undefined
}

/** 32 random bytes in base64 or hexadecimal; also read from NAME_FILE. */
export const masterKey = (): Kind<Uint8Array> => ({
  expected: '32 random bytes in base64 or hexadecimal (openssl rand -base64 32)',
  from: 'secret',
  mask: () => '***',
  parse: (text) => {
    const octets = octetsOf(text.trim())
    if (octets?.length !== keyBytes) throw new Error('is not 32 bytes in base64 or hexadecimal')
    if (new Set(octets).size < distinctOctetsMin) throw new Error('is not random')
    return octets
  },
})
