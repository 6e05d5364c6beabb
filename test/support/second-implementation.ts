import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Names a test after the tool it needs, so that a skip always says its reason. */
export const unlessMissing = (
  tool: string,
): { readonly missing: boolean; readonly note: string } => {
  const missing = Bun.which(tool) === null
  return { missing, note: missing ? ` [skipped: no ${tool} on this machine]` : '' }
}

/** Runs a command to its end and returns what it printed. */
export const runTool = (
  command: readonly string[],
): {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
} => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command])
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

/** Gives the callback an empty directory that is gone afterwards. */
export const withScratch = async <T>(use: (directory: string) => Promise<T>): Promise<T> => {
  const directory = mkdtempSync(join(tmpdir(), 'trilho-test-'))
  try {
    return await use(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
