import { expect, test } from 'bun:test'
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { dependencyFindings } from '../../scripts/release/findings.ts'
import { releasedPackages } from '../../scripts/release/packages.ts'
import { billOfMaterials } from '../../scripts/release/texts.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { zipOf } from '../support/zip.ts'

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

const advisories = process.env['OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY']
const noScanner = Bun.which('osv-scanner') === null ? ' (needs osv-scanner)' : ''
const noAdvisories =
  noScanner === '' && advisories === undefined
    ? ' (needs OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY)'
    : noScanner

/** What the scanner says of the bill of a release, by the advisories in a folder, without a network. */
const scan = (folder: string): readonly [exitCode: number, report: string] => {
  const packages = releasedPackages(root, { os: process.platform, cpu: process.arch })
  const origin = { ...manifest, commit: '', at: new Date(0), bun: manifest.devDependencies.bun }
  const bill = join(temporaryDirectory(), 'trilho.cdx.json')
  writeFileSync(bill, billOfMaterials(origin, packages))
  const { exitCode, stdout } = Bun.spawnSync(
    ['osv-scanner', 'scan', 'source', '--offline', '-L', bill],
    { env: { ...process.env, OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY: folder } },
  )
  return [exitCode, stdout.toString()]
}

test.skipIf(noScanner !== '')(
  `an advisory against a package of a release is found by its bill, one against an older version is not${noScanner}`,
  () => {
    const advisory = (name: string, fixed: string) => ({
      schema_version: '1.6.0',
      id: `GHSA-${name}`,
      modified: '2026-01-01T00:00:00Z',
      affected: [
        {
          package: { ecosystem: 'npm', name },
          ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed }] }],
        },
      ],
    })
    const known = [
      advisory('hono', '99.0.0'),
      advisory('zod', '1.0.0'),
      advisory('absent', '9.0.0'),
    ]
    const folder = join(temporaryDirectory(), 'osv-scanner/npm')
    mkdirSync(folder, { recursive: true })
    const files = known.map((one) => [`${one.id}.json`, JSON.stringify(one)])
    writeFileSync(join(folder, 'all.zip'), zipOf(Object.fromEntries(files)))
    const [exitCode, report] = scan(join(folder, '../..'))
    expect([exitCode, report.match(/GHSA-\w+/g)]).toEqual([1, ['GHSA-hono']])
  },
)

test.skipIf(noAdvisories !== '')(
  `no known advisory stands against a package of a release${noAdvisories}`,
  () => {
    expect(scan(advisories ?? '')).toEqual([0, expect.any(String)])
  },
)
