import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
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

  test('an artifact that is missing is stale, and so is one whose source is gone', () => {
    const copy = mkdtempSync(join(tmpdir(), 'contracts-'))
    const folder = 'src/drex/templates/lien'
    for (const name of [folder, 'scripts/contracts.ts']) {
      cpSync(join(root, name), join(copy, name), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    const run = (...args: string[]) => {
      const cmd = [process.execPath, join(copy, 'scripts/contracts.ts'), ...args]
      const { exitCode, stderr } = Bun.spawnSync(cmd, { cwd: copy })
      return { exitCode, said: stderr.toString() }
    }
    const stale = (reason: string) => ({
      exitCode: 1,
      said: `${reason}; run: bun scripts/contracts.ts\n`,
    })
    try {
      expect(run('--check')).toEqual({ exitCode: 0, said: '' })
      rmSync(join(copy, folder, 'generated/Lien.json'))
      expect(run('--check')).toEqual(stale(`${folder}/generated/Lien.json: missing`))
      rmSync(join(copy, folder, 'Lien.sol'))
      expect(run('--check')).toEqual(stale(`${folder}/Lien.sol: compiled, but gone`))
      expect(run()).toEqual({ exitCode: 0, said: '' })
      expect(existsSync(join(copy, folder, 'generated'))).toBe(false)
    } finally {
      rmSync(copy, { recursive: true })
    }
  })
})
