import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDevState } from '../../../src/cli/dev/state.ts'
import { untilExit } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const stateModule = join(import.meta.dir, '../../../src/cli/dev/state.ts')

/** A process that holds the state, and others of these arguments, that do not. */
const holding = `await (await import('${stateModule}')).openDevState(process.argv[1])
console.log('open')
await Bun.sleep(60_000)`

const holder = async (directory: string) => {
  const child = untilExit(
    Bun.spawn([process.execPath, '-e', holding, directory], { stdout: 'pipe', stderr: 'inherit' }),
  )
  await child.stdout.getReader().read()
  return child
}

/** Any program with this argument. */
const other = (argument: string) =>
  untilExit(Bun.spawn(['sh', '-c', 'read line', 'sh', argument], { stdin: 'pipe' }))

const outcomeOf = (directory: string): Promise<string> =>
  openDevState(directory).then(
    () => 'open',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )

test('a state is of the process that holds it, until that has ended, and of no other with its number', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'pid')
  const child = await holder(directory)
  const held = readFileSync(path, 'utf8')
  expect(await outcomeOf(directory)).toContain(`another dev (process ${child.pid}) uses`)
  // A later process has the same number.
  writeFileSync(path, `${child.pid} 1`)
  expect(await outcomeOf(directory)).toBe('open')
  writeFileSync(path, held)
  child.kill('SIGKILL')
  await child.exited
  expect(await outcomeOf(directory)).toBe('open')
  expect(await outcomeOf(directory)).toBe('open')
})

test.skipIf(!existsSync('/proc/self/cmdline'))(
  'a file with a number alone, as once written, tells of a process with the argument dev',
  async () => {
    const directory = temporaryDirectory()
    for (const [argument, outcome] of [
      ['dev', 'another dev'],
      ['start', 'open'],
    ] as const) {
      const child = other(argument)
      writeFileSync(join(directory, 'pid'), String(child.pid))
      expect(await outcomeOf(directory)).toStartWith(outcome)
      child.kill()
    }
    // In a container the next start may have the number of the last.
    const own = `await Bun.write(process.argv[1] + '/pid', String(process.pid))\n${holding}`
    const again = untilExit(
      Bun.spawn([process.execPath, '-e', own, directory, 'dev'], {
        stdout: 'pipe',
        stderr: 'inherit',
      }),
    )
    expect((await again.stdout.getReader().read()).done).toBe(false)
    again.kill()
  },
)
