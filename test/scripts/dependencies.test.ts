import { expect, test } from 'bun:test'
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dependencyFindings } from '../../scripts/release/findings.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

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

const bytesMax = 100_000_000

const bytesOf = (path: string): number => {
  const found = lstatSync(path)
  if (!found.isDirectory()) return found.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

test('what serves payments takes less than 100 MB beside the runtime, by the command of the page', () => {
  const [, command = ''] =
    /`bun (install --production [^`]+)`/.exec(
      readFileSync(join(root, 'docs/release.md'), 'utf8'),
    ) ?? []
  const directory = temporaryDirectory()
  for (const file of ['package.json', 'bun.lock', 'patches']) {
    cpSync(join(root, file), join(directory, file), { recursive: true })
  }
  mkdirSync(join(directory, 'src'))
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, ...command.split(' ')], {
    cwd: directory,
  })
  expect([exitCode, stderr.toString().includes('error')]).toEqual([0, false])
  expect(readdirSync(join(directory, 'node_modules'))).toContain('hono')
  expect(bytesOf(join(directory, 'node_modules'))).toBeLessThan(bytesMax)
})

test('every install script that is not run is named, with the reason', () => {
  const { stdout } = Bun.spawnSync([process.execPath, 'pm', 'untrusted'], { cwd: root })
  const names = [...stdout.toString().matchAll(/^\.\/(\S+) @/gm)].map(([, path = '']) =>
    path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
  )
  const page = readFileSync(join(root, 'SECURITY.md'), 'utf8')
  expect(names.length).toBeGreaterThan(0)
  expect(
    names.filter((name) => !page.includes(`\`${name.replace(/\/(linux|darwin)-.*/, '/*')}\``)),
  ).toEqual([])
})
