/**
 * What is secret, or proves that somebody knows a secret, is compared by one function, in a time that tells nothing. The
 * first tests read the code, and so find a comparison on the day it is written; the last one measures the function.
 */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { secretsMatch } from '#src/platform/security/index.ts'
import { root } from '../support/program.ts'

const home = 'src/platform/security/constant-time.ts'

const files = ['src', 'codecs', 'clients']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .filter((name) => /\.tsx?$/.test(name) && !/node_modules|\/generated\//.test(name))
  .sort()

const codeOf = (file: string): string =>
  readFileSync(join(root, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')

/** Names of values that are secret, or that only one who knows a secret can make. */
const names =
  'mac|hmac|hash|digest|secret|token|signature|csrf|password|checkvalue|fingerprint|thumbprint|cookie|credential|apikey|pin'
const operand = String.raw`[\w$.?!]*\b\w*(?:${names})\b(?:\.\w+)?(?:\[[^\]]*\])?(?:\([^()]*\))?`
/** What asks whether there is a value, of which kind or how long, compares no value. */
const isNoValue = (side: string): boolean =>
  /^\(*(?:undefined|null|true|false|'[^']*'|-?[\d_]+n?)\W*$|\.length$/.test(side)
const comparisons = [
  new RegExp(String.raw`(${operand}) [!=]==? (\S+)`, 'gi'),
  new RegExp(String.raw`(?<!typeof )(?<=^|\s)(\S+) [!=]==? (${operand}\S*)`, 'gi'),
  new RegExp(String.raw`${operand}\.(?:startsWith|endsWith|localeCompare)\((?!')[^)]*\)`, 'gi'),
  // Bytes, whatever they are called.
  /\.equals\(|Buffer\.compare\(|deepEquals\(/g,
  /\.(?:every|some|findIndex)\(\(\w+, (?<at>\w+)\) => [^)\n]*[!=]== \w+\[\k<at>\]/g,
]

/** The comparisons of a text that look like those of secrets. */
const comparedIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) =>
      comparisons.some((form) =>
        [...line.matchAll(form)].some(
          ([, left, right]) => right === undefined || ![left ?? '', right].some(isNoValue),
        ),
      ),
    )

/**
 * Where such a name is no secret's, and why. What else is compared there is found all the same: a file, or the start of
 * the paths of a folder, with what its lines must have.
 */
const publicValues: readonly (readonly [at: string, what: RegExp, why: string])[] = [
  ['src/cards/networks/matching.ts', /cardDigest/, 'digests by a seed that nobody is told'],
  ['src/dict/service.ts', /Digest/, 'hashes of what the account asked for and was told'],
  ['src/dict/comparisons/difference.ts', /sha256/, 'the checksum of a file, told with it'],
  ['src/drex/', /hash\b|\btoken\b/i, 'hashes and addresses of a chain that everybody reads'],
  ['src/drex/custody/public-key.ts', /equals\(head\)/, 'the head of a public key'],
  [
    'src/platform/http/audit/chain/',
    /hash|before|sealed|gzipMagic/i,
    'hashes of a log, without a secret',
  ],
  ['src/platform/http/app.ts', /code === hash\b/, 'a character'],
  [
    'src/platform/http/idempotency/',
    /fingerprint/,
    'the hash of a body, asked for by its own account',
  ],
  [
    'src/platform/broker/kafka/inflate.ts',
    /equals\((?:plain|snappyPieces)\)/,
    'what a codec makes, and the head of a format',
  ],
  ['src/platform/security/key-material.ts', /digest === seen/, 'our files with our files'],
  ['src/certificates/', /fingerprint/, 'fingerprints of certificates, which are shown to all'],
  ['src/jose/key-set.ts', /publicKey/, 'public keys'],
  ['src/jose/service.ts', /pin\.keyManagement/, 'the name of an algorithm'],
  ['src/simulators/central-bank/', /hash/, 'hashes of messages'],
  ['src/spi/in/pull/', /digest/, 'the hash of a message that was not read'],
  ['src/spi/messages/', /Buffer\.compare/, 'bytes of messages'],
  [
    'src/platform/security/rsa/choose-provider.ts',
    /octet/,
    'two signatures of our own over a probe',
  ],
  ['src/webhooks/signing.ts', /startsWith\(prefix\)/, 'the letters that each secret begins with'],
  ['codecs/multipart/', /delimiter/, 'the boundary between parts'],
  ['codecs/rsfn/open.ts', /rsfnHash/, 'the number of an algorithm'],
  ['codecs/xml/shapes.ts', /byte === other/, 'bytes of a document'],
]

/** Lines of a file that compare what may be a secret. */
const suspectsOf = (file: string, text: string): string[] => {
  const known = publicValues.filter(([at]) => file.startsWith(at))
  return comparedIn(text).filter((line) => !known.some(([, what]) => what.test(line)))
}

const found = files.map((file) => [file, codeOf(file)] as const)

test('what is secret is compared by no code but one function', () => {
  const others = found.flatMap(([file, text]) =>
    suspectsOf(file, text).map((line) => `${file}: ${line}`),
  )
  expect(others).toEqual([])
  const homes = found.flatMap(([file, text]) => (/timingSafeEqual/.test(text) ? [file] : []))
  expect(homes).toEqual([home])
})

test('what is named as public is there', () => {
  const idle = publicValues.filter(
    ([at, what]) =>
      !found.some(
        ([file, text]) => file.startsWith(at) && comparedIn(text).some((line) => what.test(line)),
      ),
  )
  expect(idle).toEqual([])
})

test.each([
  'if (!wanted.every((byte, at) => byte === mac[at])) throw new Error()',
  'if (!imported.checkValue.toUpperCase().startsWith(checkValue)) {',
  'Buffer.from(macOf(algorithm, key, data)).equals(code),',
  'return row.hash === hashOf(token)',
  'if (given !== session.csrfToken) return undefined',
  "if (headers.get('x-token') !== wanted.secret) return undefined",
  'if (secret === settings.secret) {',
  'const isRight = sent === expectedSignature',
])('a comparison would be found: %s', (line) => {
  expect(suspectsOf('src/new.ts', line)).toEqual([line])
})

test.each([
  'if (token === undefined) return undefined',
  "if (typeof secret === 'string') {",
  "if (secret !== '') {",
  'if (secrets.length === 0) {',
])('and none is where nothing is compared: %s', (line) => {
  expect(suspectsOf('src/new.ts', line)).toEqual([])
})

test('alike is what is alike in each byte', () => {
  expect(secretsMatch('abc', 'abc')).toBe(true)
  expect(secretsMatch('', '')).toBe(true)
  expect(secretsMatch(Buffer.from('abc'), 'abc')).toBe(true)
  for (const other of ['abd', 'xbc', 'ab', 'abcd', 'ABC', '']) {
    expect([other, secretsMatch('abc', other)]).toEqual([other, false])
  }
})

/** The medians of both calls, in turns, so that whatever else the machine does hits both. */
const medianNs = (calls: readonly (() => unknown)[]): number[] => {
  const times = calls.map((): number[] => [])
  for (let round = 0; round < 41; round++) {
    for (const [index, call] of calls.entries()) {
      const before = Bun.nanoseconds()
      call()
      times[index]!.push(Bun.nanoseconds() - before)
    }
  }
  return times.map((one) => one.sort((a, b) => a - b)[one.length >> 1]!)
}

/*
 * Over a million bytes an end at the first of them would be hundreds of times as fast as one at the last: so a factor of
 * eight tells them apart, and no machine is so uneven in each second of 41 turns.
 */
test('where two secrets differ does not show in the time', () => {
  const secret = new Uint8Array(1 << 20).fill(0x61)
  const changedAt = (at: number) => secret.with(at, 0x62)
  const [first, last] = [changedAt(0), changedAt(secret.length - 1)]
  const [early = 0, late = 0] = medianNs([
    () => secretsMatch(secret, first),
    () => secretsMatch(secret, last),
  ])
  expect(early * 8).toBeGreaterThan(late)
  expect(late * 8).toBeGreaterThan(early)
})
