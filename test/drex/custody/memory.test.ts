/** What is left of keys in the memory of a process that has used them. */
import { expect, test } from 'bun:test'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { createSealer } from '#src/platform/security/index.ts'
import { ecdsaBackend } from '../../../src/drex/evm/secp256k1.ts'

const chunkBytes = 1 << 22
const neededBytes = 16
/** It reads hundreds of megabytes. */
const isLong = process.env['TRILHO_LONG'] === '1'
const canRead = isLong && process.platform === 'linux' && ecdsaBackend().name === 'native'

/** What a copy looks like: the bytes, their text, and a number's limbs from the lowest. */
const looksOf = (key: Buffer): readonly Buffer[] => [
  key.subarray(0, neededBytes),
  key.subarray(neededBytes),
  Buffer.from(key.toString('hex').slice(0, 2 * neededBytes)),
  Buffer.from(key).reverse().subarray(0, neededBytes),
]

/** Counts what is found in everything that the process may write to. */
const count = (pid: number, wanted: readonly Buffer[]): number => {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const chunk = Buffer.alloc(chunkBytes)
  let found = 0
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
      const end = Number.parseInt(to, 16)
      for (let at = Number.parseInt(from, 16); at < end; at += chunkBytes - neededBytes) {
        const bytes = readSome(memory, chunk.subarray(0, Math.min(chunkBytes, end - at)), at)
        found += wanted.filter((each) => bytes.includes(each)).length
      }
    }
  } finally {
    closeSync(memory)
  }
  return found
}

/** What is reserved and was never touched cannot be read. */
const readSome = (memory: number, into: Buffer, at: number): Buffer => {
  try {
    return into.subarray(0, readSync(memory, into, 0, into.length, at))
  } catch {
    return into.subarray(0, 0)
  }
}

test.skipIf(!canRead)(
  'nothing of a key that was made, sealed, opened and signed with (TRILHO_LONG, Linux, native signing)',
  async () => {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'key-user.ts')], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    try {
      let said = ''
      for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
        said += chunk
        if (said.endsWith('\n')) break
      }
      const sealer = createSealer(new Uint8Array(32).fill(3))
      const sealed = (JSON.parse(said) as string[]).map((hex) => Uint8Array.fromHex(hex))
      // What is certainly there is found.
      expect(count(child.pid, [Buffer.from(sealed[0]!).subarray(0, neededBytes)])).toBeGreaterThan(
        0,
      )
      const keys = sealed.map((each) => Buffer.from(sealer.open(each, 'key')))
      expect(count(child.pid, keys.flatMap(looksOf))).toBe(0)
    } finally {
      child.kill('SIGKILL')
      await child.exited
    }
  },
  60_000,
)
