import { expect, test } from 'bun:test'
import { chownSync } from 'node:fs'
import { userInfo } from 'node:os'
import { ownFolder } from './made-once.ts'
import { temporaryDirectory } from './temporary.ts'

const nobody = 65_534

/** Only root may give a folder away; to everybody else, the root of the file system is another's. */
const foreignFolder = (): string => {
  if (userInfo().uid !== 0) return '/'
  const folder = temporaryDirectory()
  chownSync(folder, nobody, nobody)
  return folder
}

test('what another user has made is not used', () => {
  expect(() => ownFolder(foreignFolder())).toThrow("is another user's")
  const own = temporaryDirectory()
  expect(ownFolder(own)).toBe(own)
})
