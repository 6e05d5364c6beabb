import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let parent: string | undefined

/** A new directory that any user can enter; it is removed when the test run ends. */
export const temporaryDirectory = (): string => {
  parent ??= makeParent()
  const directory = mkdtempSync(join(parent, 'd-'))
  chmodSync(directory, 0o755)
  return directory
}

/** The runner gives no hook at the very end, and may be killed: a shell waits for it and cleans up. */
const makeParent = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'trilho-test-'))
  chmodSync(made, 0o755)
  const script = `while kill -0 ${process.pid} 2>/dev/null; do sleep 0.5; done; sleep 1; rm -rf "$1"`
  spawn('sh', ['-c', script, 'sh', made], { detached: true, stdio: 'ignore' }).unref()
  return made
}
