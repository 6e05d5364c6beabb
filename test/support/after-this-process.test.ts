import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { untilExit } from './program.ts'
import { until } from './until.ts'

const temporary = JSON.stringify(join(import.meta.dir, 'temporary.ts'))
const program = `
import { temporaryDirectory } from ${temporary}
console.log(temporaryDirectory())
if (process.argv.includes('stay')) setInterval(() => {}, 1_000)`

const start = (...args: readonly string[]) =>
  untilExit(Bun.spawn([process.execPath, '-e', program, ...args], { stdout: 'pipe' }))

const directoryOf = async (stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> => {
  const { value } = await stdout.getReader().read()
  return new TextDecoder().decode(value).trim()
}

test('a process that ends by itself is not held up, and its directory goes', async () => {
  const { stdout, exited } = start()
  const directory = await directoryOf(stdout)
  expect(await exited).toBe(0)
  await until(() => !existsSync(directory))
})

test('of a process that is killed the directory goes, and not before', async () => {
  const child = start('stay')
  const directory = await directoryOf(child.stdout)
  await Bun.sleep(1_500)
  expect(existsSync(directory)).toBe(true)
  child.kill('SIGKILL')
  await child.exited
  await until(() => !existsSync(directory))
})
