import { readFileSync } from 'node:fs'
import { builtFile } from '../../test/support/program.ts'
import { type Figure, type Mode, median, type Suite } from '../harness.ts'

const settleMs = 500

type Start = { readonly readyMs: number; readonly residentMb: number }

/** The time from spawning `serve` to its line that it listens, and its memory once it has settled. */
const start = async (executable: string): Promise<Start> => {
  const before = performance.now()
  const child = Bun.spawn([executable, 'serve'], {
    env: {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      GRPC_ADDR: '127.0.0.1:0',
      PATH: process.env['PATH'] ?? '',
    },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let out = ''
  while (!out.includes('"msg":"listening"')) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`serve ended: ${out}`)
    out += value
  }
  const readyMs = performance.now() - before
  await Bun.sleep(settleMs)
  const residentMb = residentOf(child.pid)
  child.kill('SIGTERM')
  await child.exited
  return { readyMs, residentMb }
}

/** On Linux only; elsewhere not a number, which reaches no goal. */
const residentOf = (pid: number): number => {
  try {
    const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return Number(found?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}

const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const executable = builtFile()
  const starts: Start[] = []
  for (let round = 0; round < mode.rounds; round++) starts.push(await start(executable))
  return [
    {
      name: 'serve listens after',
      value: median(starts.map(({ readyMs }) => readyMs)),
      unit: 'ms',
      atMost: 150,
    },
    {
      name: 'idle memory',
      value: median(starts.map(({ residentMb }) => residentMb)),
      unit: 'MB',
      atMost: 120,
    },
  ]
}

/** How soon `serve` of the built file is ready, and its idle memory. Wall time: run it on a quiet machine. */
export const startupSuite: Suite = { name: 'startup', groups: () => [], figures }
