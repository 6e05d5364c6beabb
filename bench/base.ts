import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../test/support/temporary.ts'

const root = join(import.meta.dir, '..')

const run = (command: readonly string[], cwd: string): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd })
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString().trim()}`)
  return stdout.toString().trim()
}

/** An earlier commit, checked out beside, with its packages. */
export type Base = Disposable & { readonly commit: string; readonly tree: string }

/**
 * @param commit - whatever git takes for one
 * @throws Error with what git says of a commit that it does not have
 */
export const checkOut = (commit: string): Base => {
  const tree = join(temporaryDirectory(), 'base')
  run(['git', 'worktree', 'add', '--quiet', '--detach', tree, commit], root)
  const lockOf = (place: string): string => readFileSync(join(place, 'bun.lock'), 'utf8')
  // The same packages are there already.
  if (lockOf(tree) === lockOf(root)) {
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  } else run([process.execPath, 'install', '--frozen-lockfile'], tree)
  return {
    commit: `${commit} (${run(['git', 'rev-parse', '--short=8', 'HEAD'], tree)})`,
    tree,
    [Symbol.dispose]: () => {
      rmSync(tree, { recursive: true, force: true })
      run(['git', 'worktree', 'prune'], root)
    },
  }
}
