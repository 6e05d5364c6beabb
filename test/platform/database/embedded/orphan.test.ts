import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/until.ts'

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Made once: the cluster may be opened again by the next owner. */
const directory = join(temporaryDirectory(), 'postgres')

describe('a database of our own ends with the process that started it', () => {
  test.each(['stop', 'exit', 'throw', 'SIGKILL'] as const)('which ends by %s', async (end) => {
    const owner = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'victim.ts'), directory, end],
      {
        stdout: 'pipe',
        stderr: 'ignore',
      },
    )
    const { value } = await owner.stdout.getReader().read()
    const pid = Number(new TextDecoder().decode(value))
    expect(pid).toBeGreaterThan(1)
    if (end === 'SIGKILL') owner.kill(end)
    await owner.exited
    await until(() => !isAlive(pid))
    expect(isAlive(pid)).toBe(false)
  })
})
