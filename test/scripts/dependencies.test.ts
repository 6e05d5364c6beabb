import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dependencyFindings } from '../../scripts/release/findings.ts'
import { root } from '../support/program.ts'

const one = (name: string, license: string) => ({ name, version: '1.0.0', license })

test('licences that a release may not carry and packages with telemetry are named', () => {
  const packages = [
    one('fine', 'MIT'),
    one('copyleft', 'AGPL-3.0'),
    one('silent', 'UNKNOWN'),
    one('@scarf/scarf', 'Apache-2.0'),
  ]
  expect(dependencyFindings(packages)).toEqual([
    'copyleft 1.0.0: licence AGPL-3.0',
    'silent 1.0.0: licence UNKNOWN',
    '@scarf/scarf 1.0.0: telemetry',
  ])
})

test('the check looks at the dependencies of this checkout', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly check: string }
  }
  expect(scripts.check).toContain('bun scripts/licences.ts')
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'scripts/licences.ts'], {
    cwd: root,
  })
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
})
