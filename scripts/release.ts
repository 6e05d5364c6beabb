import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { archive } from './release/archive.ts'
import { compile } from './release/bundle.ts'
import { npmPackage } from './release/npm.ts'
import { releasedPackages } from './release/packages.ts'
import { run, textOf } from './release/run.ts'
import { ownTarget, postgresPackage, type Target, targets } from './release/targets.ts'
import {
  billOfMaterials,
  changelog,
  type Origin,
  provenance,
  thirdPartyNotices,
} from './release/texts.ts'

/*
 * Makes a release of the tracked files: an archive for each platform, a package of npm, checksums, bill of materials,
 * licences, changes, provenance. The same commit gives the same bytes, from any directory.
 *
 *   bun scripts/release.ts                 all platforms, to dist/release
 *   bun scripts/release.ts --own           this platform only, with the packages that are installed
 *   bun scripts/release.ts --out <dir>
 */

const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist/release') },
    own: { type: 'boolean', default: false },
  },
})

const originOf = async (): Promise<Origin> => {
  const [commit = '', seconds] = (
    await textOf(['git', 'log', '-1', '--format=%H %ct'], root)
  ).split(' ')
  const isChanged = (await textOf(['git', 'status', '--porcelain', '-uno'], root)) !== ''
  return {
    version: manifest.version,
    commit: isChanged ? `${commit}+changes` : commit,
    at: new Date(Number(seconds) * 1000),
    bun: manifest.devDependencies.bun,
  }
}

/**
 * Copies the tracked files, with the packages of a platform. The packages are no link, because the bundler names the
 * parts of a program by their real paths.
 */
const stage = async (directory: string, { os, cpu }: Target): Promise<void> => {
  await mkdir(directory)
  const files = await textOf(['git', 'ls-files'], root)
  for (const file of files.split('\n')) await cp(join(root, file), join(directory, file))
  const install = ['install', '--frozen-lockfile', '--ignore-scripts', '--os', os, '--cpu', cpu]
  await run([process.execPath, ...install], directory)
}

/** Adds the texts that stand beside the program in every form of the release. */
const addTexts = async (directory: string, sources: string, origin: Origin, target: Target) => {
  const packages = releasedPackages(sources, target)
  const log = await textOf(['git', 'log', '--format=%h %s', '--abbrev=10'], root)
  const changes = log
    .split('\n')
    .map((line) => ({ hash: line.slice(0, 10), subject: line.slice(11) }))
  await Bun.write(join(directory, 'CHANGELOG.md'), changelog(origin, changes))
  await Bun.write(join(directory, 'THIRD-PARTY.txt'), thirdPartyNotices(packages))
  for (const file of ['LICENSE', 'README.md']) await cp(join(root, file), join(directory, file))
  return billOfMaterials(origin, packages)
}

const releaseFor = async (work: string, target: Target, origin: Origin): Promise<void> => {
  const sources = join(work, target.name)
  await stage(sources, target)
  const name = `trilho-${origin.version}-${target.name}`
  const directory = join(work, name)
  const runtime = join(sources, 'node_modules', target.runtime, 'bin/bun')
  await mkdir(directory)
  const isOwn = target === ownTarget
  await compile(
    sources,
    join(directory, 'trilho'),
    isOwn ? undefined : { platform: target.name, runtime },
  )
  const postgres = join('node_modules', postgresPackage(target))
  // The first start makes links between its libraries: a used package has them, a fresh one has not.
  const isNoLink = (path: string): boolean => !lstatSync(path).isSymbolicLink()
  await cp(join(sources, postgres), join(directory, postgres), {
    recursive: true,
    filter: isNoLink,
  })
  const bill = await addTexts(directory, sources, origin, target)
  await Bun.write(join(values.out, `${name}.cdx.json`), bill)
  await archive(directory, join(values.out, `${name}.tar.gz`), origin.at)
  if (isOwn) {
    const npm = join(work, 'package')
    await npmPackage(sources, npm)
    await addTexts(npm, sources, origin, target)
    await archive(npm, join(values.out, `trilho-${origin.version}.tgz`), origin.at)
  }
}

const checksums = async (): Promise<string> => {
  const lines: string[] = []
  for (const file of (await readdir(values.out)).sort()) {
    const bytes = await Bun.file(join(values.out, file)).bytes()
    lines.push(`${createHash('sha256').update(bytes).digest('hex')}  ${file}\n`)
  }
  return lines.join('')
}

if (ownTarget === undefined) throw new Error('releases are made on Linux or macOS, x64 or arm64')
const origin = await originOf()
await rm(values.out, { recursive: true, force: true })
await mkdir(values.out, { recursive: true })
const work = await mkdtemp(join(tmpdir(), 'trilho-release-'))
try {
  for (const target of values.own ? [ownTarget] : targets) {
    await releaseFor(work, target, origin)
    console.log(`trilho ${origin.version} for ${target.name}`)
  }
  await Bun.write(join(values.out, 'PROVENANCE.txt'), provenance(origin))
  await Bun.write(join(values.out, 'SHA256SUMS'), await checksums())
} finally {
  await rm(work, { recursive: true, force: true })
}
