import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package of npm that a release holds or installs. */
export type ReleasedPackage = {
  readonly name: string
  readonly version: string
  /** SHA-512, base64, of the archive that the registry serves. */
  readonly sha512: string
  /** SPDX expression, as the package says it; `UNKNOWN` when it says none. */
  readonly license: string
  /** The texts of its licence files. */
  readonly notices: readonly string[]
}

type Names = Readonly<Record<string, string>>
type Wants = { readonly dependencies?: Names; readonly optionalDependencies?: Names }
type Platform = { readonly os?: string | string[]; readonly cpu?: string | string[] }
type Entry = readonly [id: string, registry: string, wants: Wants & Platform, integrity: string]
type Lock = { readonly packages: Readonly<Record<string, Entry>> }

type Manifest = Wants & { readonly devDependencies?: Names; readonly license?: unknown }

/** Tools of development that a release still ships: the embedded chain, and sources of its contracts. */
const shippedTools = ['@nomicfoundation/edr', '@openzeppelin/contracts'] as const

const licenseFile = /^(licen[cs]e|copying|notice)/i

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** Every package of the production set on a platform, as bun.lock resolves it, in the order of names. */
export const releasedPackages = (
  root: string,
  { os, cpu }: { readonly os: string; readonly cpu: string },
): readonly ReleasedPackage[] => {
  const manifest = readJson(join(root, 'package.json')) as Manifest
  const { packages } = Bun.JSONC.parse(readFileSync(join(root, 'bun.lock'), 'utf8')) as Lock
  const found = new Map<string, ReleasedPackage>()
  /** The nested package first, then outwards, as Node resolves. */
  const keyOf = (from: string, name: string): string | undefined => {
    for (let at = from; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      if (packages[`${at}/${name}`] !== undefined) return `${at}/${name}`
    }
    return packages[name] === undefined ? undefined : name
  }
  const add = (from: string, wanted: Names | undefined): void => {
    for (const name of Object.keys(wanted ?? {})) {
      const key = keyOf(from, name)
      const entry = key === undefined ? undefined : packages[key]
      if (key === undefined || entry === undefined || found.has(key)) continue
      const [, , wants] = entry
      if (!allows(wants.os, os) || !allows(wants.cpu, cpu)) continue
      found.set(key, describe(root, key, entry))
      add(key, wants.dependencies)
      add(key, wants.optionalDependencies)
    }
  }
  add('', manifest.dependencies)
  add('', manifest.optionalDependencies)
  const tools = Object.entries(manifest.devDependencies ?? {})
  add('', Object.fromEntries(tools.filter(([name]) => shippedTools.some((tool) => tool === name))))
  const distinct = new Map([...found.values()].map((one) => [`${one.name}@${one.version}`, one]))
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

const allows = (listed: string | string[] | undefined, one: string): boolean =>
  listed === undefined || [listed].flat().includes(one)

const describe = (root: string, key: string, [id, , , integrity]: Entry): ReleasedPackage => {
  const at = id.lastIndexOf('@')
  const directory = directoryOf(root, key)
  return {
    name: id.slice(0, at),
    version: id.slice(at + 1),
    sha512: integrity.replace(/^sha512-/, ''),
    ...licenseOf(directory),
  }
}

/** `a/b` of the lock is `node_modules/a/node_modules/b`; a scope is part of its name. */
const directoryOf = (root: string, key: string): string => {
  const names = key.match(/(?:@[^/]+\/)?[^/]+/g) ?? []
  return join(root, ...names.flatMap((name) => ['node_modules', name]))
}

const licenseOf = (directory: string): Pick<ReleasedPackage, 'license' | 'notices'> => {
  if (!existsSync(join(directory, 'package.json'))) return { license: 'UNKNOWN', notices: [] }
  const { license } = readJson(join(directory, 'package.json')) as Manifest
  const files = readdirSync(directory)
    .filter((file) => licenseFile.test(file))
    .sort()
  return {
    license: typeof license === 'string' ? license : 'UNKNOWN',
    notices: files.map((file) => readFileSync(join(directory, file), 'utf8').trim()),
  }
}
