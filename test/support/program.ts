import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { madeOnce } from './made-once.ts'

export const root = join(import.meta.dir, '../..')

/** The program as a user runs it: from the sources, and as the one built file. */
export type Variant = { readonly name: 'sources' | 'built file'; readonly command: () => string[] }

export const variants: readonly Variant[] = [
  { name: 'sources', command: () => [process.execPath, join(root, 'src/main.ts')] },
  { name: 'built file', command: () => [builtFile()] },
]

const [sources, builtOnce] = variants as readonly [Variant, Variant]

const isAtDesk = process.env['CI'] === undefined && process.env['TRILHO_LONG'] === undefined

/**
 * For tests that ask nothing about the form: the gate and the long lanes take the file that users get, which starts in
 * a quarter of the time; at a desk it is the sources, which need no build.
 */
export const anyVariant: Variant = isAtDesk ? sources : builtOnce

/** Builds the executable once for each state of the sources. @throws Error when it cannot be built */
export const builtFile = (): string => {
  built ??= buildOnce()
  return built
}

let built: string | undefined

/** In a folder of its own: the file has the name that a release gives it, which is one of its bytes. */
const buildOnce = (): string => {
  const directory = join(root, 'dist/test')
  const hash = sourcesHash()
  const path = join(directory, hash)
  madeOnce(path, () => {
    const partial = `${path}.partial`
    const outfile = join(partial, 'trilho')
    const built = Bun.spawnSync([process.execPath, join(root, 'scripts/build.ts'), outfile])
    if (built.exitCode !== 0) throw new Error(`build failed: ${built.stderr.toString()}`)
    for (const old of readdirSync(directory)) {
      if (!old.startsWith(hash)) rmSync(join(directory, old), { recursive: true, force: true })
    }
    renameSync(partial, path)
  })
  return join(path, 'trilho')
}

const sourcesHash = (): string => {
  const hash = createHash('sha256')
  for (const folder of ['src', 'codecs', 'drizzle', 'scripts']) {
    if (!existsSync(join(root, folder))) continue
    for (const file of readdirSync(join(root, folder), {
      recursive: true,
      encoding: 'utf8',
    }).sort()) {
      const path = join(root, folder, file)
      if (statSync(path).isFile()) hash.update(file).update(readFileSync(path))
    }
  }
  for (const file of ['package.json', 'bun.lock']) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

export type Run = {
  readonly code: number
  readonly out: string
  readonly err: string
}

/**
 * The environment of a user who has set nothing: no home, no settings of this shell. Only gRPC gets a
 * port of its own, since its usual one may be taken by another test, and a stop waits for no load balancer.
 */
export const bareEnvironment = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env['PATH'] ?? '',
  GRPC_ADDR: '127.0.0.1:0',
  TRILHO_DRAIN_SECONDS: '0',
  ...more,
})

/** Runs a command of the program to its end. */
export const runProgram = async (
  variant: Variant,
  args: readonly string[],
  options: {
    readonly cwd?: string
    readonly env?: Readonly<Record<string, string>>
    readonly input?: string
  } = {},
): Promise<Run> => {
  const child = Bun.spawn([...variant.command(), ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: bareEnvironment(options.env),
    stdin: new Blob([options.input ?? '']),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}

export type RunningProgram = {
  readonly pid: number
  /** The first line of standard output that satisfies the test. */
  readonly line: (wanted: (line: string) => boolean) => Promise<string>
  readonly signal: (name: NodeJS.Signals) => void
  /** Writes to its standard input. */
  readonly type: (text: string) => void
  /** Waits for the end. */
  readonly end: () => Promise<Run>
}

const running = new Set<Bun.Subprocess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A child that does not outlive a program that fails before it ends the child; the runner of tests tells nobody of its end. */
export const untilExit = <Child extends Bun.Subprocess>(child: Child): Child => {
  running.add(child)
  void child.exited.then(() => running.delete(child))
  return child
}

/** Starts a command that goes on running until it is told to end. */
export const startProgram = (
  variant: Variant,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): RunningProgram => {
  const child = untilExit(
    Bun.spawn([...variant.command(), ...args], {
      cwd: options.cwd ?? tmpdir(),
      env: bareEnvironment(options.env),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const err = new Response(child.stderr).text()
  let out = ''
  let hasEnded = false
  let news = Promise.withResolvers<void>()
  // Read all the time: a program whose output nobody takes stops when the pipe is full.
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      out += text
      news.resolve()
      news = Promise.withResolvers()
    }
    hasEnded = true
    news.resolve()
  })()
  return {
    pid: child.pid,
    line: async (wanted) => {
      for (;;) {
        const found = out.split('\n').slice(0, -1).find(wanted)
        if (found !== undefined) return found
        if (hasEnded) throw new Error(`ended without the line: ${out}${await err}`)
        await news.promise
      }
    },
    signal: (name) => child.kill(name),
    type: (text) => {
      child.stdin.write(text)
      child.stdin.flush()
    },
    end: async () => {
      await reading
      return { code: await child.exited, out, err: await err }
    },
  }
}
