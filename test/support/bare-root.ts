import {
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type RunningProgram, root, startProgram } from './program.ts'
import { temporaryDirectory } from './temporary.ts'

/*
 * A machine that has nothing: a file-system root with a shell, the tools that Debian calls essential as far as our pages
 * use them, and Node with npm, copied from this machine. Processes in it are of an ordinary user, see no others, and
 * reach no network but their own loopback, where `npm-registry.ts` serves the packages that are installed here.
 */

const tools = ['sh', 'cat', 'env', 'tar', 'gzip', 'sha256sum', 'node'] as const
const namespaces = ['unshare', '--user', '--map-root-user', '--mount', '--net', '--pid', '--fork']
const registryUrl = 'http://127.0.0.1:4873'
const npmHome = 'lib/node_modules/npm'

const read = (command: readonly string[]): string => {
  const { exitCode, stdout } = Bun.spawnSync([...command], { stderr: 'ignore' })
  return exitCode === 0 ? stdout.toString() : ''
}

/** Where npm is, as Node.js ships it; undefined where this machine has it otherwise. */
const npmPath = (): string | undefined => {
  const npm = Bun.which('npm')
  const home = npm === null ? '' : join(dirname(realpathSync(npm)), '..')
  return home.endsWith(npmHome) ? home : undefined
}

const trial = 'ip link set lo up && mount -t proc proc /proc'
const hasRight = (): boolean =>
  process.platform === 'linux' &&
  [...tools, 'ldd', 'ip', 'unshare'].every((tool) => Bun.which(tool) !== null) &&
  npmPath() !== undefined &&
  Bun.spawnSync([...namespaces, 'sh', '-ec', trial], { stderr: 'ignore' }).exitCode === 0

/** The end of a skipped test's name. */
export const noBareRoot = hasRight() ? '' : ' [skipped: no right to a root of its own]'

/** Debian's C library is one package; a program finds all of it. */
const partsOfLibc = ['libm.so.6', 'librt.so.1', 'libresolv.so.2', 'libdl.so.2', 'libpthread.so.0']

const librariesOf = (program: string): readonly string[] =>
  [...read(['ldd', program]).matchAll(/(?:=> |^\s)(\/\S+)/gm)].map(([, path = '']) => path)

const put = (from: string, to: string): void => {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
}

/** Copies programs of this machine, with the libraries that they load, into a root. */
export const putTools = (made: string, names: readonly string[]): void => {
  const libraries = new Set<string>()
  for (const tool of names) {
    const path = realpathSync(Bun.which(tool) ?? tool)
    put(path, join(made, 'usr/bin', tool))
    for (const library of librariesOf(path)) libraries.add(library)
  }
  const libc = [...libraries].find((path) => path.endsWith('/libc.so.6')) ?? ''
  for (const part of partsOfLibc) libraries.add(join(dirname(libc), part))
  for (const library of libraries) if (existsSync(library)) put(library, join(made, library))
  mkdirSync(join(made, 'bin'))
  copyFileSync(join(made, 'usr/bin/sh'), join(made, 'bin/sh'))
}

/**
 * Makes such a root.
 *
 * @param files - what is in its user's directory, by name
 */
export const makeBareRoot = (files: Readonly<Record<string, string>>): string => {
  const made = join(temporaryDirectory(), 'root')
  putTools(made, tools)
  const npm = npmPath() ?? ''
  cpSync(npm, join(made, 'usr', npmHome), { recursive: true })
  for (const [name, script] of [
    ['npm', 'npm-cli.js'],
    ['npx', 'npx-cli.js'],
  ] as const) {
    const text = `#!/bin/sh\nexec node /usr/${npmHome}/bin/${script} "$@"\n`
    writeFileSync(join(made, 'usr/bin', name), text, { mode: 0o755 })
  }
  for (const directory of ['etc', 'tmp', 'proc', 'dev', 'home/user']) {
    mkdirSync(join(made, directory), { recursive: true })
  }
  writeFileSync(join(made, 'etc/passwd'), 'user:x:1000:1000::/home/user:/bin/sh\n')
  for (const [name, path] of Object.entries(files)) put(path, join(made, 'home/user', name))
  return made
}

/** Node stands for the terminal: a line that is typed is Ctrl-C, which goes to every process of the commands. */
const terminal = `
const { spawn } = require('node:child_process')
const commands = 'trap : INT\\n' + process.argv[1]
const child = spawn('sh', ['-ec', commands], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
process.stdin.once('data', () => process.kill(-child.pid, 'SIGINT'))
child.on('exit', (code) => process.exit(code ?? 1))`

const entering = `
ip link set lo up
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
"$BUN" "$REGISTRY" &
exec env -i PATH=/usr/bin:/bin HOME=/home/user npm_config_registry=${registryUrl} \\
  unshare --user --map-user=1000 --map-group=1000 --root="$ROOT" --wd=/home/user node -e "$TERMINAL" "$COMMANDS"`

/** Runs commands there as a user types them, one after the other. */
export const runInBareRoot = (made: string, commands: string): RunningProgram => {
  const command = () => [...namespaces, '--kill-child', 'sh', '-ec', entering]
  const registry = join(root, 'test/support/npm-registry.ts')
  const env = { ROOT: made, COMMANDS: commands, TERMINAL: terminal, BUN: process.execPath }
  return startProgram({ name: 'built file', command }, [], { env: { ...env, REGISTRY: registry } })
}
