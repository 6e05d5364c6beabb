import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../test/support/temporary.ts'

const root = join(import.meta.dir, '..')

const run = (command: readonly string[], cwd: string): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd })
  if (exitCode !== 0) {
    throw new Error(`${command.join(' ')}: ${stderr.toString().trim() || `ended with ${exitCode}`}`)
  }
  return stdout.toString().trim()
}

export const headCommit = (): string => run(['git', 'rev-parse', '--short', 'HEAD'], root)

/** An earlier commit, checked out beside, with its packages. */
export type Base = Disposable & { readonly commit: string; readonly tree: string }

/**
 * @param commit any name that git takes for a commit
 * @throws Error with the git command that did not find it
 */
export const checkOut = (commit: string): Base => {
  const tree = join(temporaryDirectory(), 'base')
  const hash = run(['git', 'rev-parse', '--verify', '--quiet', `${commit}^{commit}`], root)
  run(['git', 'clone', '--quiet', '--shared', '--no-checkout', root, tree], root)
  run(['git', 'checkout', '--quiet', '--detach', hash], tree)
  const lockOf = (place: string): string => readFileSync(join(place, 'bun.lock'), 'utf8')
  // The earlier commit has the same packages: share them.
  if (lockOf(tree) === lockOf(root)) {
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  } else run([process.execPath, 'install', '--frozen-lockfile'], tree)
  return {
    commit: `${commit} (${hash.slice(0, 8)})`,
    tree,
    [Symbol.dispose]: () => rmSync(tree, { recursive: true, force: true }),
  }
}
