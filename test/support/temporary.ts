import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterThisProcess } from './after-this-process.ts'

let parent: string | undefined

/** A new directory that any user can enter; it is removed when the test run ends. */
export const temporaryDirectory = (): string => {
  parent ??= makeParent()
  const directory = mkdtempSync(join(parent, 'd-'))
  chmodSync(directory, 0o755)
  return directory
}

const makeParent = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'trilho-test-'))
  chmodSync(made, 0o755)
  // What is ending meanwhile may write there still.
  afterThisProcess('sleep 1; rm -rf "$1"', made)
  return made
}
