import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './program.ts'

/*
 * A registry of npm on loopback, as a program of its own: what bun.lock says of every package, and archives of those
 * that are installed in this checkout.
 */

const port = 4873
const host = `http://127.0.0.1:${port}`

type Entry = readonly [id: string, registry: string, facts: object]
const { packages } = Bun.JSONC.parse(readFileSync(join(root, 'bun.lock'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>
}

const directoryOf = (name: string): string => join(root, 'node_modules', name)

const describe = (name: string): Response => {
  const entry = packages[name]
  if (entry === undefined) return new Response('no such package', { status: 404 })
  const [id, , facts] = entry
  const version = id.slice(id.lastIndexOf('@') + 1)
  const file = join(directoryOf(name), 'package.json')
  const own = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : facts
  // npm leaves out what names a newer Node than there is. Bun runs it, so any Node stands here for the one of the page.
  const one = { ...own, name, version, engines: {}, dist: { tarball: `${host}/archive/${name}` } }
  return Response.json({ name, 'dist-tags': { latest: version }, versions: { [version]: one } })
}

/** The script of `bun` takes the executable out of the package of its platform: here it is put back. */
const archive = (name: string): Response => {
  const transform = ['--transform', 's,^\\.,package,', '--transform', 's,^bun.exe,package/bin/bun,']
  const isRuntime = name.startsWith('@oven/')
  const more = isRuntime ? ['-C', join(directoryOf('bun'), 'bin'), 'bun.exe'] : []
  const options = ['--owner=0', '--group=0', '--exclude=./bin/bun*.exe', ...transform]
  const tar = ['tar', '-c', ...options, '-C', directoryOf(name), '.', ...more]
  return new Response(Bun.spawn(tar, { stdout: 'pipe' }).stdout)
}

Bun.serve({
  port,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: ({ url }) => {
    const path = decodeURIComponent(new URL(url).pathname)
    return path.startsWith('/archive/')
      ? archive(path.slice('/archive/'.length))
      : describe(path.slice(1))
  },
})
