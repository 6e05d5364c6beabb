import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  artifactText,
  compileFolder,
  contractBytesMax,
  contractFolders,
  staleReason,
} from '../../../scripts/contracts.ts'

const root = join(import.meta.dirname, '../../..')
/** The compiler needs seconds of a processor, which others may have. */
const compileMs = 300_000

describe('committed artifacts', () => {
  for (const folder of contractFolders) {
    test(
      `${folder}: a fresh compilation gives the same bytes, without a warning`,
      () => {
        const { artifacts, fingerprint } = compileFolder(folder)
        expect(artifacts.size).toBeGreaterThan(0)
        for (const [path, artifact] of artifacts) {
          const stored = readFileSync(join(root, path), 'utf8')
          expect(stored).toBe(artifactText(artifact))
          expect((artifact.deployedBytecode.length - 2) / 2).toBeLessThan(contractBytesMax)
        }
        const stored = readFileSync(join(root, folder, 'generated/fingerprint.json'), 'utf8')
        expect(stored).toBe(artifactText(fingerprint))
      },
      compileMs,
    )

    test(`${folder}: the fingerprint says fresh`, () => {
      expect(staleReason(folder)).toBeUndefined()
    })
  }

  test('a folder without artifacts is stale', () => {
    expect(staleReason('scripts')).toBe('scripts/generated is missing')
  })
})
