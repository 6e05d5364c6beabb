import { describe, expect, test } from 'bun:test'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import forge from 'node-forge'
import {
  type Pkcs12Content,
  Pkcs12Error,
  pkcs12BytesMax,
  pkcs12RoundsMax,
  readPkcs12,
} from '../../src/certificates/pkcs12.ts'
import { makePkcs12, type Pkcs12Layout } from '../support/pkcs12.ts'
import { issueCertificate } from '../support/pki.ts'

// Written by `openssl pkcs12 -export` 3.0 with test keys; password "segredo" but where said.
const file = (name: string) =>
  new Uint8Array(readFileSync(join(import.meta.dir, '../fixtures/pkcs12', name)))

const reasonOf = (run: () => Pkcs12Content): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof Pkcs12Error) return error.reason
    throw error
  }
  return 'read'
}

const belongs = ({ key, certificates }: Pkcs12Content): boolean => {
  const der = { key: Buffer.from(key ?? []), format: 'der', type: 'pkcs8' } as const
  return certificates.some((certificate) =>
    new X509Certificate(certificate).checkPrivateKey(createPrivateKey(der)),
  )
}

describe('kinds of files', () => {
  const kinds: Readonly<Record<string, number>> = {
    'legacy-rc2.p12': 2,
    'legacy-3des.p12': 2,
    'aes.p12': 2,
    'aes128.p12': 1,
    'nomac.p12': 1,
    'ec.p12': 1,
  }
  for (const [name, certificates] of Object.entries(kinds)) {
    test(`${name}: key and certificates with the password, refusal with another`, () => {
      const content = readPkcs12(file(name), 'segredo')
      expect(content.certificates.length).toBe(certificates)
      expect(belongs(content)).toBe(true)
      expect(reasonOf(() => readPkcs12(file(name), 'errada'))).toBe('wrong_password')
      expect(reasonOf(() => readPkcs12(file(name), ''))).toBe('wrong_password')
    })
  }

  test('certificates come out byte for byte', () => {
    const { certificates } = readPkcs12(file('legacy-rc2.p12'), 'segredo')
    const names = ['leaf.crt', 'ca.crt']
    expect(certificates.map((certificate) => new X509Certificate(certificate).toString())).toEqual(
      names.map((name) => new X509Certificate(file(name)).toString()),
    )
  })

  test('an empty password', () => {
    expect(belongs(readPkcs12(file('empty.p12'), ''))).toBe(true)
    expect(reasonOf(() => readPkcs12(file('empty.p12'), 'x'))).toBe('wrong_password')
  })

  test('a file without a key', () => {
    expect(readPkcs12(file('nokey.p12'), 'segredo').key).toBeUndefined()
  })

  test('a password beyond ASCII', () => {
    expect(belongs(readPkcs12(file('utf8.p12'), 'sênha€'))).toBe(true)
    expect(reasonOf(() => readPkcs12(file('utf8.p12'), 'senha€'))).toBe('wrong_password')
  })
})

describe('damaged files', () => {
  test('no PKCS#12 at all', () => {
    for (const bytes of [new Uint8Array(), new Uint8Array(100), file('leaf.crt')]) {
      expect(reasonOf(() => readPkcs12(bytes, 'segredo'))).toBe('damaged')
    }
  })

  test('cut at any place', () => {
    const whole = file('aes.p12')
    for (let length = 0; length < whole.length; length += 97) {
      expect(reasonOf(() => readPkcs12(whole.subarray(0, length), 'segredo'))).toBe('damaged')
    }
  })

  test('with the right password an altered file is damaged, not a wrong password', () => {
    for (const name of ['aes.p12', 'legacy-3des.p12']) {
      const whole = file(name)
      const reasons: string[] = []
      for (let at = 200; at < whole.length; at += 211) {
        const copy = whole.slice()
        copy[at] = copy[at]! ^ 0x55
        reasons.push(reasonOf(() => readPkcs12(copy, 'segredo')))
      }
      expect(new Set(reasons)).toEqual(new Set(['damaged']))
    }
  }, 60_000)

  test('nested without end, of known and of unknown length', () => {
    for (const tag of [0x30, 0xa0, 0x24, 0x31]) {
      const unknown = new Uint8Array(pkcs12BytesMax).map((_, i) => (i % 2 === 0 ? tag : 0x80))
      const known: number[] = []
      for (let rest = pkcs12BytesMax - 5; rest > 5; rest -= 5) {
        known.push(tag, 0x83, rest >> 16, (rest >> 8) & 0xff, rest & 0xff)
      }
      for (const bytes of [unknown, new Uint8Array(known)]) {
        expect(reasonOf(() => readPkcs12(bytes, 'segredo'))).toBe('damaged')
      }
    }
  })

  test('lengths that say more than there is, or nothing', () => {
    const whole = file('nomac.p12')
    for (let at = 0; at < 80; at++) {
      for (const octet of [0x00, 0x7f, 0x80, 0x81, 0x84, 0x88, 0xff]) {
        const reason = reasonOf(() => readPkcs12(whole.with(at, octet), 'segredo'))
        expect(['damaged', 'read', 'rounds_exceeded', 'no_certificate']).toContain(reason)
      }
    }
  })

  test('whatever is changed, a reason is given', () => {
    const bases = ['nomac.p12', 'ec.p12'].map(file)
    const change = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 8 }),
      insert: fc.uint8Array({ maxLength: 8 }),
    })
    const changes = fc.array(change, { minLength: 1, maxLength: 4 })
    const passwords = fc.constantFrom('segredo', 'errada')
    fc.assert(
      fc.property(fc.constantFrom(...bases), changes, passwords, (base, edits, password) => {
        let bytes = base
        for (const { at, remove, insert } of edits) {
          const from = at % (bytes.length + 1)
          bytes = new Uint8Array([
            ...bytes.subarray(0, from),
            ...insert,
            ...bytes.subarray(from + remove),
          ])
        }
        // Anything else that is thrown would end the thread without a reason.
        reasonOf(() => readPkcs12(bytes, password))
      }),
      { numRuns: 500 },
    )
  }, 60_000)

  test('262144 bytes are looked at, one more is not', () => {
    const at = new Uint8Array(pkcs12BytesMax)
    expect(reasonOf(() => readPkcs12(at, ''))).toBe('damaged')
    expect(reasonOf(() => readPkcs12(new Uint8Array(pkcs12BytesMax + 1), ''))).toBe('too_large')
  })
})

describe('rounds of key derivation', () => {
  const pair = issueCertificate('rounds')
  const reason = (layout: Pkcs12Layout, password = 'segredo') => {
    const bytes = makePkcs12(pair, 'segredo', layout)
    return reasonOf(() => readPkcs12(bytes, password))
  }
  const layouts: Readonly<Record<string, (rounds: number) => Pkcs12Layout>> = {
    'of a key': (keyRounds) => ({ keyRounds }),
    'of a key inside encrypted content': (rounds) => ({ keyRounds: rounds - 1, outerRounds: 1 }),
    'of encrypted content': (rounds) => ({ keyRounds: 1, outerRounds: rounds - 1 }),
    'in a segmented octet string': (keyRounds) => ({ keyRounds, segmentBytes: 100 }),
    'of several derivations, each under the limit': (rounds) => ({
      keyRounds: rounds / 2,
      outerRounds: rounds / 2,
    }),
  }
  for (const [place, layout] of Object.entries(layouts)) {
    test(`${place}: 2000000 are worked, more are refused`, () => {
      expect(reason(layout(pkcs12RoundsMax))).toBe('read')
      const { keyRounds, ...more } = layout(pkcs12RoundsMax)
      expect(reason({ keyRounds: keyRounds + 1, ...more })).toBe('rounds_exceeded')
    })
  }

  test('with a wrong password too, and the password is told where the limit is kept', () => {
    expect(reason({ keyRounds: pkcs12RoundsMax + 1 }, 'errada')).toBe('rounds_exceeded')
    expect(reason({ keyRounds: 1000, outerRounds: 1000 }, 'errada')).toBe('wrong_password')
  })

  test('of the integrity check, in numbers of any length', () => {
    const withCheckRounds = (octets: string): Uint8Array => {
      const bytes = Buffer.from(file('aes.p12')).toString('latin1')
      const pfx = forge.asn1.fromDer(bytes)
      const parts = (node: forge.asn1.Asn1 | undefined) => (node?.value ?? []) as forge.asn1.Asn1[]
      const rounds = parts(parts(pfx)[2])[2]
      if (rounds === undefined) throw new Error('the file has no integrity check')
      rounds.value = octets
      return new Uint8Array(Buffer.from(forge.asn1.toDer(pfx).getBytes(), 'latin1'))
    }
    const reasons = (octets: string) =>
      reasonOf(() => readPkcs12(withCheckRounds(octets), 'segredo'))
    expect(reasons('\x08\x00')).toBe('read')
    expect(reasons('\x7f\xff\xff\xff')).toBe('rounds_exceeded')
    // None, negative, and longer than any number of the runtime.
    for (const octets of ['', '\x00', '\xff', '\x80\x00\x00\x00', '\x7f'.repeat(9)]) {
      expect(['damaged', 'rounds_exceeded']).toContain(reasons(octets))
    }
  })

  test('of an integrity check by openssl', () => {
    // 1000001 for the check, as many for the certificate, as many for the key.
    expect(reasonOf(() => readPkcs12(file('iterations.p12'), 'segredo'))).toBe('rounds_exceeded')
  })
})
