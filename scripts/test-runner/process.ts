import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { familyUs } from '../../bench/processes.ts'
import { createFileOutput, type FileOutput, isSummary } from './output.ts'

export type Limits = {
  /**
   * How long a process may print nothing, in ms. A test that only waits ends by its own time-out, which is shorter and
   * prints a line; so a longer silence means a blocked event loop.
   */
  readonly silenceMs: number
  /** How long one file may take, in ms. */
  readonly fileMs: number
}

export type FileReport = FileOutput & {
  readonly file: string
  readonly ms: number
  /** Processor time of the file's process and its children, in ms; 0 if nobody asks or the system does not tell. */
  readonly processorMs: number
}

export type ProcessOptions = {
  /** We append the files to it. */
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly limits: Limits
  /** Whether to ask for processor times, which itself takes a hundredth of them. */
  readonly isMeasured?: boolean
  readonly onFile: (report: FileReport) => void
}

const watchEveryMs = 100
/** We ask again and again, because an ended process no longer tells what it used. */
const lookEveryMs = 1_000
/** How long leftovers of a process may hold its pipe open, in ms. */
const leftoversMs = 1_000

const running = new Set<ChildProcess>()

/** Ends a process and its children. */
const kill = (child: ChildProcess): void => {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  } catch {
    // It had ended by itself.
  }
}

/** Ends all processes when the run itself is told to end. */
export const killAll = (): void => {
  for (const child of running) kill(child)
}

/** Runs the files in one process. If it ends early, its current file has failed, and a new process runs the rest. */
export const runFiles = async (
  files: readonly string[],
  options: ProcessOptions,
): Promise<void> => {
  let rest = files
  while (rest.length > 0) rest = await runOneProcess(rest, options)
}

/** Follows the output of a process: its current file, since when, and when it last printed something. */
const createProgress = (
  files: readonly string[],
  readUsedMs: () => number,
  onFile: ProcessOptions['onFile'],
) => {
  let next = 0
  let output = createFileOutput()
  let startedMs = performance.now()
  let heardMs = startedMs
  let usedBeforeMs = 0
  let usedMs = 0
  let failed = 0
  let isThrough = false

  const endFile = (): void => {
    const file = files[next - 1]
    if (file === undefined) return
    failed += output.counts.fail
    onFile({
      file,
      ms: performance.now() - startedMs,
      processorMs: usedMs - usedBeforeMs,
      ...output,
    })
    usedBeforeMs = usedMs
    output = createFileOutput()
  }
  return {
    /** Call this now and then while the process lives. */
    look: (): void => {
      usedMs = readUsedMs()
    },
    read: (line: string): void => {
      heardMs = performance.now()
      if (isThrough) return
      if (line === `${files[next]}:`) {
        usedMs = readUsedMs()
        endFile()
        next++
        startedMs = heardMs
      } else if (next === 0 && line.startsWith('bun test v')) return
      else if (isSummary(line)) isThrough = true
      else output.add(line)
    },
    silentMs: () => performance.now() - heardMs,
    fileMs: () => performance.now() - startedMs,
    /** Returns the files that did not run. */
    end: (code: number | null, reason: string | undefined): readonly string[] => {
      const isExplained = isThrough && (code === 0 || failed + output.counts.fail > 0)
      if (!isExplained || reason !== undefined) {
        next = Math.max(next, 1)
        output.add(`(fail) ${files[next - 1]}: ${reason ?? `its process ended with ${code}`}`)
      }
      endFile()
      return files.slice(next)
    },
  }
}

const runOneProcess = async (
  files: readonly string[],
  { command, cwd, env, limits, isMeasured = false, onFile }: ProcessOptions,
): Promise<readonly string[]> => {
  const [program = '', ...args] = command
  const paths = files.map((file) => `./${file}`)
  // One pipe for both outputs keeps what a test prints beside its result.
  const child = spawn('sh', ['-c', 'exec "$0" "$@" 2>&1', program, ...args, ...paths], {
    cwd,
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  running.add(child)
  const usedMs = () => (isMeasured ? familyUs(child.pid ?? 0) / 1_000 : 0)
  const progress = createProgress(files, usedMs, onFile)
  let reason: string | undefined
  const look = setInterval(progress.look, lookEveryMs)
  const watch = setInterval(() => {
    if (progress.silentMs() > limits.silenceMs) {
      reason = `killed, it printed nothing for ${limits.silenceMs} ms: something blocks the event loop`
    } else if (progress.fileMs() > limits.fileMs) {
      reason = `killed, it took longer than ${limits.fileMs} ms`
    }
    if (reason !== undefined) kill(child)
  }, watchEveryMs)
  const lines = createInterface({ input: child.stdout })
  lines.on('line', progress.read)
  const read = new Promise((done) => lines.once('close', done))
  const code = await new Promise<number | null>((done) => child.once('exit', done))
  await Promise.race([read, Bun.sleep(leftoversMs)])
  clearInterval(watch)
  clearInterval(look)
  lines.close()
  running.delete(child)
  return progress.end(code, reason)
}
