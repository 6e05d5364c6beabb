import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const stopTimeoutMs = 15_000
const pollMs = 20

/**
 * Ends the server that a killed gateway left behind on this cluster: nobody else may use it. A process id
 * that now belongs to another program is left alone, which PostgreSQL itself then finds out.
 */
export const stopStale = async (data: string): Promise<void> => {
  const lock = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number(lock.split('\n')[0])
  if (!Number.isSafeInteger(pid) || pid <= 1 || !(await runsOn(pid, data))) return
  process.kill(pid, 'SIGINT')
  const until = performance.now() + stopTimeoutMs
  while (await runsOn(pid, data)) {
    if (performance.now() > until) process.kill(pid, 'SIGQUIT')
    await Bun.sleep(pollMs)
  }
}

const runsOn = async (pid: number, data: string): Promise<boolean> => {
  const command = await commandLine(pid)
  return command.includes('postgres') && command.includes(data)
}

const commandLine = async (pid: number): Promise<string> => {
  if (process.platform === 'linux') {
    return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  }
  const ps = Bun.spawn(['ps', '-ww', '-o', 'command=', '-p', String(pid)], {
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return new Response(ps.stdout).text()
}
