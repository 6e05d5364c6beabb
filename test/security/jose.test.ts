import { describe, expect, test } from 'bun:test'
import {
  constants,
  createCipheriv,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  publicEncrypt,
  sign,
} from 'node:crypto'
import { headerCharsMax, kidCharsMax } from '../../src/jose/domain.ts'
import { createKeyring } from '../../src/jose/keyring.ts'
import { createJoseService } from '../../src/jose/service.ts'
import { keySourceOf } from '../support/jose-keys.ts'
import { countProcessorMs } from '../support/processor-ms.ts'
import { unlessMissing } from '../support/second-implementation.ts'

const openssl = unlessMissing('openssl')
const rsa = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength }).privateKey
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey

const keys = {
  rs: rsa(),
  ps: rsa(),
  small: rsa(1024),
  p256: ec('prime256v1'),
  p384: ec('secp384r1'),
  p521: ec('secp521r1'),
}
const source = openssl.missing
  ? { list: async () => [], readKey: async () => undefined }
  : await keySourceOf(keys)
const keyring = createKeyring(source, [
  { kid: 'ps', algorithm: 'PS256' },
  { kid: 'small', algorithm: 'RS256' },
])
const service = createJoseService(keyring)

const base64url = (content: string | Uint8Array) => Buffer.from(content).toString('base64url')
const part = (token: string, i: number) => token.split('.')[i] ?? ''
const replaced = (token: string, i: number, value: string) =>
  token.split('.').with(i, value).join('.')

/** A JWS whose signature holds for one key, whatever its header says. */
const jws = (header: string | object, key: KeyObject = keys.rs, payload = 'x') => {
  const text = typeof header === 'string' ? header : JSON.stringify(header)
  const input = `${base64url(text)}.${base64url(payload)}`
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${base64url(signature)}`
}

const verdict = async (token: string) => {
  const result = await service.verify({ token })
  return result.valid ? 'valid' : result.reason
}

type Parts = {
  readonly header?: object
  readonly cek?: Uint8Array
  readonly iv?: Uint8Array
}

const good = { alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'rs' }

/** A JWE made step by step, so that any of them can be wrong. */
const jwe = ({
  header = good,
  cek = new Uint8Array(32).fill(7),
  iv = new Uint8Array(12),
}: Parts) => {
  const encoded = base64url(JSON.stringify(header))
  const cipher = createCipheriv(cek.length === 16 ? 'aes-128-gcm' : 'aes-256-gcm', cek, iv)
  cipher.setAAD(Buffer.from(encoded))
  const ciphertext = Buffer.concat([cipher.update('plain'), cipher.final()])
  const wrapped = publicEncrypt(
    {
      key: createPublicKey(keys.rs),
      padding: constants.RSA_PKCS1_OAEP_PADDING,
      oaepHash: 'sha256',
    },
    cek,
  )
  return [encoded, ...[wrapped, iv, ciphertext, cipher.getAuthTag()].map(base64url)].join('.')
}

const outcome = (token: string) =>
  service.decrypt({ token }).then(
    ({ content }) => new TextDecoder().decode(content),
    (error: { reason?: string }) => error.reason ?? String(error),
  )

describe.skipIf(openssl.missing)(`signatures of RSA${openssl.note}`, () => {
  const token = jws({ alg: 'RS256', kid: 'rs' })
  const signature = Buffer.from(part(token, 2), 'base64url')
  const withSignature = (bytes: Uint8Array) => replaced(token, 2, base64url(bytes))

  test('the whole one holds', async () => expect(await verdict(token)).toBe('valid'))

  test('truncated, extended, empty, of zeros or ones, shifted: none holds', async () => {
    const wrong: Readonly<Record<string, Uint8Array>> = {
      'without its last octet': signature.subarray(0, -1),
      'without its first octet': signature.subarray(1),
      'a zero before': Buffer.concat([Buffer.alloc(1), signature]),
      'a zero behind': Buffer.concat([signature, Buffer.alloc(1)]),
      twice: Buffer.concat([signature, signature]),
      empty: new Uint8Array(),
      zeros: new Uint8Array(256),
      one: new Uint8Array(256).with(255, 1),
      ones: new Uint8Array(256).fill(255),
    }
    for (const [label, bytes] of Object.entries(wrong)) {
      expect(await verdict(withSignature(bytes)), label).toBe('signature_invalid')
    }
  })

  test('no bit of it may change', async () => {
    for (let at = 0; at < signature.length; at += 15) {
      const bytes = Uint8Array.from(signature)
      bytes[at] = bytes[at]! ^ (1 << (at % 8))
      expect(await verdict(withSignature(bytes)), `octet ${at}`).toBe('signature_invalid')
    }
  })

  test('PKCS#1 v1.5 is not PSS, nor the other way round', async () => {
    expect(await verdict(jws({ alg: 'PS256', kid: 'ps' }, keys.ps))).toBe('signature_invalid')
    expect(await verdict(jws({ alg: 'RS256', kid: 'ps' }, keys.ps))).toBe('algorithm_not_allowed')
    expect(await verdict(jws({ alg: 'PS256', kid: 'rs' }))).toBe('algorithm_not_allowed')
  })

  test('keys of 1024 bits are no keys, and leave the others in the key set', async () => {
    expect(await verdict(jws({ alg: 'RS256', kid: 'small' }, keys.small))).toBe('key_unknown')
    const request = { algorithm: undefined, type: undefined, serialization: 'compact' } as const
    await expect(
      service.sign({ kid: 'small', content: new Uint8Array(1), ...request }),
    ).rejects.toMatchObject({
      reason: 'key_unknown',
    })
    const kids = (await keyring.publicKeys()).map(({ kid }) => kid ?? '')
    expect(new Set(kids)).toEqual(new Set(['rs', 'ps', 'p256', 'p384']))
  })
})

describe.skipIf(openssl.missing)(`signatures of ECDSA${openssl.note}`, () => {
  const order = Buffer.from(
    'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551',
    'hex',
  )
  const token = jws({ alg: 'ES256', kid: 'p256' }, keys.p256)
  const signature = Buffer.from(part(token, 2), 'base64url')
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)]
  const zero = Buffer.alloc(32)
  const one = Buffer.from(zero.with(31, 1))
  const ones = Buffer.alloc(32, 255)
  const der = sign('sha256', Buffer.from(token.split('.', 2).join('.')), keys.p256)

  test('the whole one holds', async () => expect(await verdict(token)).toBe('valid'))

  const wrong: Readonly<Record<string, Uint8Array>> = {
    'r and s of zero': Buffer.concat([zero, zero]),
    'r of zero': Buffer.concat([zero, s]),
    's of zero': Buffer.concat([r, zero]),
    'r and s of one': Buffer.concat([one, one]),
    'r of the order': Buffer.concat([order, s]),
    's of the order': Buffer.concat([r, order]),
    'r and s of the order': Buffer.concat([order, order]),
    'r and s out of range': Buffer.concat([ones, ones]),
    'r and s exchanged': Buffer.concat([s, r]),
    'r alone': r,
    'the form of DER': der,
    'a zero before each half': Buffer.concat([Buffer.alloc(1), r, Buffer.alloc(1), s]),
    'one octet less': signature.subarray(0, -1),
    'one octet more': Buffer.concat([signature, Buffer.alloc(1)]),
    empty: new Uint8Array(),
  }
  for (const [label, bytes] of Object.entries(wrong)) {
    test(`${label} does not hold`, async () => {
      expect(await verdict(replaced(token, 2, base64url(bytes)))).toBe('signature_invalid')
    })
  }

  test('another curve, or the key of another kind, is another algorithm', async () => {
    expect(await verdict(jws({ alg: 'ES384', kid: 'p256' }, keys.p256))).toBe(
      'algorithm_not_allowed',
    )
    expect(await verdict(jws({ alg: 'ES256', kid: 'p384' }, keys.p384))).toBe(
      'algorithm_not_allowed',
    )
    expect(await verdict(jws({ alg: 'ES384', kid: 'p384' }, keys.p384))).toBe('signature_invalid')
    expect(await verdict(jws({ alg: 'ES256', kid: 'rs' }, keys.p256))).toBe('algorithm_not_allowed')
    expect(await verdict(jws({ alg: 'RS256', kid: 'p256' }))).toBe('algorithm_not_allowed')
    expect(await verdict(jws({ alg: 'ES512', kid: 'p521' }, keys.p521))).toBe('key_unknown')
  })
})

describe.skipIf(openssl.missing)(`headers that a signature holds for${openssl.note}`, () => {
  const header = { alg: 'RS256', kid: 'rs' }

  test('the algorithm is that text and nothing else', async () => {
    for (const alg of ['none', 'None', 'rs256', 'RS256 ', '', 'HS256', ['RS256'], 1, null, {}]) {
      expect(await verdict(jws({ ...header, alg })), String(alg)).toBe('algorithm_not_allowed')
    }
    expect(await verdict(jws({ kid: 'rs' }))).toBe('algorithm_not_allowed')
  })

  test('the kid is the text of a key of ours', async () => {
    for (const kid of [1, null, ['rs'], { a: 'rs' }, 'k'.repeat(kidCharsMax + 1)]) {
      expect(await verdict(jws({ alg: 'RS256', kid }))).toBe('malformed')
    }
    for (const kid of ['', 'RS', '__proto__', '../rs', 'rs\u0000', 'k'.repeat(kidCharsMax)]) {
      expect(await verdict(jws({ alg: 'RS256', kid }))).toBe('key_unknown')
    }
  })

  const repeated: Readonly<Record<string, string>> = {
    alg: '{"alg":"none","alg":"RS256","kid":"rs"}',
    kid: '{"alg":"RS256","kid":"p256","kid":"rs"}',
    'alg, once escaped': '{"\\u0061lg":"none","alg":"RS256","kid":"rs"}',
    'a member below': '{"alg":"RS256","kid":"rs","x":{"a":1,"b":[{}],"a":2}}',
    'a member in a list': '{"alg":"RS256","kid":"rs","x":[1,{"a":1,"a":1}]}',
    'the name of nothing': '{"":1,"":2,"alg":"RS256","kid":"rs"}',
  }
  for (const [label, text] of Object.entries(repeated)) {
    test(`a header that repeats ${label} is malformed`, async () => {
      expect(await verdict(jws(text))).toBe('malformed')
    })
  }

  test('the same name in two objects, or as a value, is no repetition', async () => {
    const text = '{"alg":"RS256","kid":"rs","x":{"alg":["alg","alg"]},"y":{"alg":"}{,\\"alg\\":"}}'
    expect(await verdict(jws(text))).toBe('valid')
  })

  test('critical members are not known, whatever they are', async () => {
    for (const crit of [[], ['x'], ['alg'], ['x', 'x'], ['b64'], ['exp'], 'x', {}, null, [1]]) {
      expect(await verdict(jws({ ...header, crit, x: 1, exp: 1 })), JSON.stringify(crit)).toBe(
        'malformed',
      )
    }
  })

  test('b64 is refused, true or false', async () => {
    for (const b64 of [true, false, 'false', null]) {
      expect(await verdict(jws({ ...header, b64 }))).toBe('malformed')
    }
  })

  test('keys and their places in the token: not used, not fetched', async () => {
    let asked = 0
    const server = Bun.serve({
      port: 0,
      fetch: () => {
        asked++
        return new Response('{}')
      },
    })
    const foreign = rsa()
    const jwk = createPublicKey(foreign).export({ format: 'jwk' })
    const url = `http://localhost:${server.port}/keys`
    for (const more of [{ jwk }, { jku: url }, { x5u: url }, { x5c: ['AAAA'] }]) {
      expect(await verdict(jws({ ...header, ...more }, foreign))).toBe('signature_invalid')
      expect(await verdict(jws({ ...header, ...more }))).toBe('valid')
    }
    expect(asked).toBe(0)
    await server.stop(true)
  })

  test('a header at its limit is read, one character more is not', async () => {
    const padded = (pad: number) => JSON.stringify({ ...header, x: 'a'.repeat(pad) })
    const most = Math.floor((headerCharsMax * 3) / 4) - padded(0).length
    expect(base64url(padded(most)).length).toBe(headerCharsMax)
    expect(await verdict(jws(padded(most)))).toBe('valid')
    expect(await verdict(jws(padded(most + 1)))).toBe('malformed')
  })

  test('a header that is no object in UTF-8 and base64url is malformed', async () => {
    for (const text of ['[]', 'null', '"alg"', '1', '', '{', '{}{}', '\ufeff{}']) {
      expect(await verdict(jws(text)), text).toBe('malformed')
    }
    const token = jws(header)
    const invalid = Buffer.from(JSON.stringify({ ...header, x: '\u00e9' }), 'latin1')
    for (const encoded of [
      `${part(token, 0)}=`,
      `${part(token, 0)} `,
      `${part(token, 0)}\n`,
      base64url(invalid),
      Buffer.from(JSON.stringify({ ...header, x: '\u00ff\u00fe\u00fb\u00ef' })).toString('base64'),
    ]) {
      expect(await verdict(replaced(token, 0, encoded))).toBe('malformed')
    }
  })

  test('payload and signature have one spelling', async () => {
    const token = jws(header)
    // One octet in two characters: the last four bits are nobody's.
    expect(part(token, 1)).toBe('eA')
    for (const payload of ['eB', 'eP', 'eA==', 'eA ', 'e', 'e+']) {
      expect(await verdict(replaced(token, 1, payload)), payload).toBe('malformed')
    }
    const last = part(token, 2).slice(-1)
    const next = String.fromCharCode(last.charCodeAt(0) + 1)
    const respelled = part(token, 2).slice(0, -1) + next
    expect(Buffer.from(respelled, 'base64url')).toEqual(Buffer.from(part(token, 2), 'base64url'))
    expect(await verdict(replaced(token, 2, respelled))).toBe('malformed')
  })

  test('other numbers of parts are malformed', async () => {
    const token = jws(header)
    for (const text of ['', '.', '..', '...', part(token, 0), `${token}.`, `.${token}`, '....']) {
      expect(await verdict(text), text).toBe('malformed')
    }
  })
})

describe.skipIf(openssl.missing)(`encrypted tokens${openssl.note}`, () => {
  test('the whole one is opened', async () => {
    expect(await outcome(jwe({}))).toBe('plain')
    expect(
      await outcome(jwe({ header: { ...good, enc: 'A128GCM' }, cek: new Uint8Array(16) })),
    ).toBe('plain')
  })

  test('a tag cut short is not enough, and one too long is too much', async () => {
    const token = jwe({})
    const tag = Buffer.from(part(token, 4), 'base64url')
    for (const length of [0, 1, 4, 8, 12, 15]) {
      const cut = replaced(token, 4, base64url(tag.subarray(0, length)))
      expect(['malformed', 'decryption_failed'], `${length}`).toContain(await outcome(cut))
    }
    for (const longer of [Buffer.concat([tag, tag]), Buffer.concat([tag, Buffer.alloc(1)])]) {
      expect(['malformed', 'decryption_failed']).toContain(
        await outcome(replaced(token, 4, base64url(longer))),
      )
    }
    for (let at = 0; at < 16; at++) {
      const changed = Uint8Array.from(tag)
      changed[at] = changed[at]! ^ 0x80
      expect(await outcome(replaced(token, 4, base64url(changed)))).toBe('decryption_failed')
    }
  })

  test('bytes moved between ciphertext and tag do not open', async () => {
    const token = jwe({})
    const [body, tag] = [3, 4].map((i) => Buffer.from(part(token, i), 'base64url'))
    const all = Buffer.concat([body ?? Buffer.alloc(0), tag ?? Buffer.alloc(0)])
    for (const length of [0, 4, 6, all.length]) {
      const moved = replaced(
        replaced(token, 3, base64url(all.subarray(0, length))),
        4,
        base64url(all.subarray(length)),
      )
      expect(['malformed', 'decryption_failed']).toContain(await outcome(moved))
    }
  })

  test('an initialisation vector of another length is refused, though it would decrypt', async () => {
    for (const length of [1, 8, 11, 13, 16, 64]) {
      expect(await outcome(jwe({ iv: new Uint8Array(length) })), `${length}`).toBe('malformed')
    }
  })

  test('a content key of another size than the algorithm says is refused', async () => {
    expect(await outcome(jwe({ cek: new Uint8Array(16) }))).not.toBe('plain')
    expect(await outcome(jwe({ header: { ...good, enc: 'A128GCM' } }))).not.toBe('plain')
    for (const cek of [new Uint8Array(16), new Uint8Array(32)]) {
      const enc = cek.length === 16 ? 'A256GCM' : 'A128GCM'
      expect(['malformed', 'decryption_failed']).toContain(
        await outcome(jwe({ header: { ...good, enc }, cek })),
      )
    }
  })

  test('an encrypted key of another length or content is refused', async () => {
    const token = jwe({})
    const wrapped = Buffer.from(part(token, 1), 'base64url')
    for (const bytes of [
      new Uint8Array(),
      wrapped.subarray(1),
      Buffer.concat([wrapped, wrapped]),
      new Uint8Array(256),
      new Uint8Array(256).fill(255),
    ]) {
      expect(['malformed', 'decryption_failed']).toContain(
        await outcome(replaced(token, 1, base64url(bytes))),
      )
    }
  })

  test('the header is covered, and may not repeat a member', async () => {
    const more = base64url(JSON.stringify({ ...good, x: 1 }))
    expect(await outcome(replaced(jwe({}), 0, more))).toBe('decryption_failed')
    const twice = JSON.stringify(good).replace('{', '{"enc":"A128GCM",')
    expect(await outcome(replaced(jwe({}), 0, base64url(twice)))).toBe('malformed')
  })

  test('zip, crit and rounds of a password: refused, or nothing to do with the key', async () => {
    expect(await outcome(jwe({ header: { ...good, zip: 'DEF' } }))).toBe('malformed')
    expect(await outcome(jwe({ header: { ...good, zip: null } }))).toBe('malformed')
    expect(await outcome(jwe({ header: { ...good, crit: ['exp'], exp: 1 } }))).toBe('malformed')
    const usedMs = countProcessorMs()
    expect(await outcome(jwe({ header: { ...good, p2c: 2 ** 31, p2s: 'AAAA' } }))).toBe('plain')
    expect(
      await outcome(
        jwe({ header: { ...good, alg: 'PBES2-HS256+A128KW', p2c: 2 ** 31, p2s: 'AAAA' } }),
      ),
    ).toBe('algorithm_not_allowed')
    // So many rounds would take minutes.
    expect(usedMs()).toBeLessThan(30_000)
  })

  test('a key of a curve, a small key and none of ours: not for decryption', async () => {
    expect(await outcome(jwe({ header: { ...good, kid: 'p256' } }))).toBe('algorithm_not_allowed')
    expect(await outcome(jwe({ header: { ...good, kid: 'small' } }))).toBe('key_unknown')
    expect(await outcome(jwe({ header: { ...good, kid: 'nobody' } }))).toBe('key_unknown')
    expect(await outcome(jwe({ header: { ...good, alg: 'dir' } }))).toBe('algorithm_not_allowed')
    expect(await outcome(jwe({ header: { ...good, alg: 'ECDH-ES' } }))).toBe(
      'algorithm_not_allowed',
    )
  })
})
