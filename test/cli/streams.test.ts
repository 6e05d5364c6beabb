import { expect, test } from 'bun:test'
import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBytes } from '../../src/cli/streams.ts'
import { anyVariant, bareEnvironment } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const large = join(temporaryDirectory(), 'large.jws')
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
writeFileSync(large, `${part({ alg: 'ES256' })}.${part({ text: 'x'.repeat(1_000_000) })}.AAAA`)

const start = <Out extends 'pipe' | number>(stdout: Out) =>
  Bun.spawn([...anyVariant.command(), 'inspect', '--json', large], {
    env: bareEnvironment(),
    stdin: 'ignore',
    stdout,
    stderr: 'pipe',
  })

test('a reader that takes its time is given all of the output', async () => {
  // A shell's pipe, since the runtime reads those of its children at once.
  const line = [...anyVariant.command(), 'inspect', '--json', large].join(' ')
  const shell = Bun.spawn(['sh', '-c', `${line} | (sleep 3; wc -c)`], { env: bareEnvironment() })
  expect(Number(await shell.stdout.text())).toBeGreaterThan(1_000_000)
}, 60_000)

test('a reader that goes early ends the command quietly; a disk that is full does not', async () => {
  const child = start('pipe')
  await child.stdout.cancel()
  expect([await child.exited, await child.stderr.text()]).toEqual([0, ''])
  const full = start(openSync('/dev/full', 'w'))
  expect(await full.exited).toBe(1)
  expect(await full.stderr.text()).toContain('trilho: standard output: ENOSPC')
}, 60_000)

test('of a long input only its last bytes are kept', async () => {
  let sent = 0
  const chunks = async function* () {
    for (; sent < 100; sent++) yield new Uint8Array(1_000).fill(sent)
  }
  const bytes = await readBytes(chunks(), 1_500)
  expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([1_500, 98, 99])
  expect(await readBytes(chunks(), 10)).toHaveLength(0)
  sent = 0
  expect(await readBytes(chunks())).toHaveLength(100_000)
  sent = 99
  expect(await readBytes(chunks(), 1_500)).toHaveLength(1_000)
})
