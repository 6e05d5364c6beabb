import { describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import {
  createAuthenticator,
  createKeyFileSource,
  createKeyFileStore,
  generateKey,
  hashMatches,
  isGrant,
  type KeyRecord,
  parseKey,
  readKeyFile,
  scopes,
} from '#src/platform/security/index.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const recordFor = (more: Partial<KeyRecord> = {}) => {
  const { key, id, hash } = generateKey('live')
  const record: KeyRecord = {
    id,
    name: 'shop',
    account: 'default',
    hash,
    grants: ['cards:*'],
    environment: 'live',
    expiresAt: undefined,
    revokedAt: undefined,
    ...more,
  }
  return { key, record }
}

describe('keys', () => {
  test('have their documented form and are never the same', () => {
    const keys = Array.from({ length: 200 }, () => generateKey('test').key)
    for (const key of keys) expect(key).toMatch(/^trl_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/)
    expect(new Set(keys).size).toBe(200)
  })

  test('match their own hash only', () => {
    const one = generateKey('live')
    const parsed = parseKey(one.key)
    expect(parsed?.id).toBe(one.id)
    expect(hashMatches(parsed?.hash ?? Buffer.alloc(0), one.hash)).toBe(true)
    expect(hashMatches(parsed?.hash ?? Buffer.alloc(0), generateKey('live').hash)).toBe(false)
    expect(hashMatches(parsed?.hash ?? Buffer.alloc(0), one.hash.slice(2))).toBe(false)
  })

  test('with any one character changed are refused without a look-up', () => {
    const { key } = generateKey('live')
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...'0aZ_'), (at, character) => {
        const changed = key.slice(0, at) + character + key.slice(at + 1)
        expect(parseKey(changed) === undefined).toBe(changed !== key)
      }),
    )
  })
})

describe('the authenticator', () => {
  test('a key of one environment is not rewritten into one of the other', async () => {
    const { key, record } = recordFor()
    const body = key.replace('trl_live_', 'trl_test_').slice(0, -6)
    let checksum = BigInt(Bun.hash.crc32(body))
    let digits = ''
    for (let at = 0; at < 6; at++) {
      const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
      digits = alphabet.charAt(Number(checksum % 62n)) + digits
      checksum /= 62n
    }
    expect(parseKey(body + digits)?.environment).toBe('test')
    expect(await harness(record).verify(body + digits)).toBeUndefined()
    expect((await harness(record).verify(key))?.environment).toBe('live')
    const old = { ...record, environment: undefined }
    expect((await harness(old).verify(key))?.environment).toBe('live')
  })

  test('where test keys do not count, live ones do', async () => {
    const live = recordFor()
    const made = generateKey('test')
    const test = { ...live.record, id: made.id, hash: made.hash, environment: 'test' as const }
    const source = {
      find: async (id: string) => [live.record, test].find((each) => each.id === id),
    }
    const authenticator = createAuthenticator({ sources: [source], refused: 'test' })
    expect(await authenticator.verify(`Bearer ${made.key}`)).toBeUndefined()
    expect(await authenticator.verify(`Bearer ${live.key}`)).toBeDefined()
  })

  const harness = (record: KeyRecord, startMs = 1_000_000) => {
    let nowMs = startMs
    let tickMs = 0
    let lookUps = 0
    const used: string[] = []
    const source = {
      find: async (id: string) => {
        lookUps++
        return id === record.id ? record : undefined
      },
      used: (id: string) => used.push(id),
    }
    const authenticator = createAuthenticator({
      sources: [source],
      now: () => nowMs,
      tickMs: () => tickMs,
      cacheMs: 5_000,
    })
    return {
      verify: async (key: string) => authenticator.verify(`Bearer ${key}`),
      verifyNow: (key: string) => authenticator.verify(`Bearer ${key}`),
      advance: (ms: number) => {
        nowMs += ms
        tickMs += ms
      },
      /** As a correction of the system's clock does. */
      setBack: (ms: number) => {
        nowMs -= ms
      },
      lookUps: () => lookUps,
      used,
    }
  }

  test('knows the scopes of a feature grant and no others', async () => {
    const { key, record } = recordFor()
    const principal = await harness(record).verify(key)
    expect([...(principal?.scopes ?? [])]).toEqual(
      scopes.filter((scope) => scope.startsWith('cards:')),
    )
    const all = recordFor({ grants: ['*'] })
    expect((await harness(all.record).verify(all.key))?.scopes.size).toBe(scopes.length)
  })

  test('answers without I/O while a key is fresh, and asks again after', async () => {
    const { key, record } = recordFor()
    const { verify, verifyNow, advance, lookUps, used } = harness(record)
    await verify(key)
    advance(4_999)
    expect(verifyNow(key)).toMatchObject({ keyId: record.id })
    expect(lookUps()).toBe(1)
    advance(1)
    await verify(key)
    expect(lookUps()).toBe(2)
    expect(used).toEqual([record.id, record.id])
  })

  test('asks again in time though the clock was set back, after a good key and after an unknown one', async () => {
    const { key, record } = recordFor()
    const { verify, advance, setBack, lookUps } = harness(record)
    const unknown = generateKey('live').key
    await verify(key)
    await verify(unknown)
    setBack(900_000)
    advance(5_000)
    await verify(key)
    await verify(unknown)
    expect(lookUps()).toBe(4)
  })

  test('an unknown key costs one look-up a second, and no number of them costs a good one its place', async () => {
    const { key, record } = recordFor()
    const { verify, verifyNow, advance, lookUps } = harness(record)
    await verify(key)
    const unknown = generateKey('live').key
    await Promise.all([verify(unknown), verify(unknown)])
    expect(verifyNow(unknown)).toBeUndefined()
    expect(lookUps()).toBe(2)
    advance(1_000)
    await verify(unknown)
    expect(lookUps()).toBe(3)
    for (let made = 0; made < 5_000; made++) await verify(generateKey('live').key)
    expect(verifyNow(key)).toMatchObject({ keyId: record.id })
  })

  test('a key that is made after it was refused is known a second later', async () => {
    const { key, record } = recordFor()
    let tickMs = 0
    let known: KeyRecord | undefined
    const authenticator = createAuthenticator({
      sources: [{ find: async () => known }],
      tickMs: () => tickMs,
    })
    expect(await authenticator.verify(`Bearer ${key}`)).toBeUndefined()
    known = record
    tickMs = 1_000
    expect(await authenticator.verify(`Bearer ${key}`)).toBeDefined()
  })

  test('refuses at the moment of expiry, also from its cache', async () => {
    const { key, record } = recordFor({ expiresAt: new Date(1_002_000) })
    const { verify, advance } = harness(record)
    expect(await verify(key)).toBeDefined()
    advance(1_999)
    expect(await verify(key)).toBeDefined()
    advance(1)
    expect(await verify(key)).toBeUndefined()
  })

  test('refuses revoked keys, wrong secrets and unknown ids', async () => {
    const revoked = recordFor({ revokedAt: new Date(1) })
    expect(await harness(revoked.record).verify(revoked.key)).toBeUndefined()
    const { key, record } = recordFor()
    const forged = { ...record, hash: generateKey('live').hash }
    expect(await harness(forged).verify(key)).toBeUndefined()
    expect(await harness(record).verify(generateKey('live').key)).toBeUndefined()
  })

  test('takes the scheme in any case, and spaces after it', async () => {
    const { key, record } = recordFor()
    const authenticator = createAuthenticator({ sources: [{ find: async () => record }] })
    for (const scheme of ['bearer ', 'BEARER  ', 'Bearer  ', 'Bearer    ']) {
      expect(await authenticator.verify(`${scheme}${key}`)).toBeDefined()
    }
    for (const scheme of ['', 'Bearer', 'Bearer\t', 'Bearer Bearer ']) {
      expect(await authenticator.verify(`${scheme}${key}`)).toBeUndefined()
    }
    expect(await authenticator.verify(`Token ${key}`)).toBeUndefined()
    expect(await authenticator.verify('x'.repeat(1_000_000))).toBeUndefined()
  })
})

describe('the key file', () => {
  const path = () => join(temporaryDirectory(), 'keys.json')

  test('is readable by its owner only and never holds a secret', async () => {
    const file = path()
    const store = createKeyFileStore(file, () => new Date(0))
    const { id, key } = await store.create({
      name: 'shop',
      account: 'default',
      environment: 'live',
      grants: ['spi:send'],
      expiresAt: new Date(86_400_000),
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const content = await Bun.file(file).text()
    expect(content).not.toContain(key.slice(-49))
    expect(await store.list()).toMatchObject([{ id, expires_at: '1970-01-02T00:00:00.000Z' }])
  })

  const newKey = {
    name: 'shop',
    account: 'default',
    environment: 'live',
    grants: ['spi:send'],
    expiresAt: undefined,
  } as const

  const isRoot = process.getuid?.() === 0
  test.skipIf(!isRoot)('stays with whom it belongs to when another changes it', async () => {
    const file = path()
    const store = createKeyFileStore(file, () => new Date(0))
    const { id } = await store.create(newKey)
    chownSync(file, 4_711, 4_712)
    chmodSync(file, 0o640)
    expect(await store.revoke(id)).toBe(true)
    const { uid, gid, mode } = statSync(file)
    expect([uid, gid, mode & 0o777]).toEqual([4_711, 4_712, 0o640])
    expect(readdirSync(dirname(file))).toEqual(['keys.json'])
  })

  test('takes the changes of commands that run at once', async () => {
    const file = path()
    const create = () => createKeyFileStore(file, () => new Date(0)).create(newKey)
    const made = await Promise.all(Array.from({ length: 8 }, create))
    const { keys } = await readKeyFile(file)
    expect(keys.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort())
    expect(readdirSync(dirname(file))).toEqual(['keys.json'])
  })

  test('is changed though a command died with the lock', async () => {
    const file = path()
    writeFileSync(`${file}.lock`, '')
    const { id } = await createKeyFileStore(file, () => new Date(0)).create(newKey)
    expect((await readKeyFile(file)).keys).toMatchObject([{ id }])
    expect(readdirSync(dirname(file))).toEqual(['keys.json'])
  })

  test('is read again when it changes; a broken one leaves the last good in force', async () => {
    const file = path()
    let tickMs = 0
    const problems: unknown[] = []
    const source = createKeyFileSource({
      path: file,
      tickMs: () => tickMs,
      onProblem: (error) => problems.push(error),
    })
    expect(await source.find('x')).toBeUndefined()
    const store = createKeyFileStore(file, () => new Date())
    const { id } = await store.create({
      name: 'shop',
      account: 'default',
      environment: 'live',
      grants: ['*'],
      expiresAt: undefined,
    })
    expect(await source.find(id)).toBeUndefined()
    tickMs += 1_000
    expect(await source.find(id)).toMatchObject({ id, grants: ['*'] })
    writeFileSync(file, '{"keys": [{"id": "short"}]}')
    tickMs += 1_000
    expect(await source.find(id)).toMatchObject({ id })
    expect(String(problems.at(-1))).toContain('malformed at keys.0.id')
  })

  test('may hold a scope of former times, which opens nothing and cannot be given', async () => {
    const file = path()
    const store = createKeyFileStore(file, () => new Date())
    const common = { account: 'default', environment: 'live', expiresAt: undefined } as const
    const former = ['cards:tokenize', 'certificates:read', 'certificates:manage', 'certificates:*']
    const { key } = await store.create({ ...common, name: 'old', grants: ['spi:send', ...former] })
    const fail = (error: unknown) => {
      throw error
    }
    const source = createKeyFileSource({ path: file, onProblem: fail })
    const principal = await createAuthenticator({ sources: [source] }).verify(`Bearer ${key}`)
    expect([...(principal?.scopes ?? [])]).toEqual(['spi:send'])
    for (const grant of former) expect(isGrant(grant)).toBe(false)
    await store.create({ ...common, name: 'misspelt', grants: ['spi:sent'] })
    await expect(readKeyFile(file)).rejects.toThrow('malformed at keys.1.scopes.0: unknown scope')
  })
})

test('grants are scopes, features or everything', () => {
  for (const good of ['*', 'cards:*', 'cards:authorize']) expect(isGrant(good)).toBe(true)
  for (const bad of ['', 'cards', 'cards:', 'card:*', 'cards:fly', '**'])
    expect(isGrant(bad)).toBe(false)
})
