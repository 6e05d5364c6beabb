import { spawn } from 'node:child_process'

/**
 * Has a shell run a script once this process has ended, whichever way: the runner gives no hook at the very end, and may
 * be killed. The shell waits for the end of its input, which costs nothing; to ask again and again for hundreds of
 * processes costs minutes of processor in a run.
 */
export const afterThisProcess = (script: string, ...args: readonly string[]): void => {
  spawn('sh', ['-c', `read -r _; ${script}`, 'sh', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  }).unref()
}
