import { spawn } from 'node:child_process'

/**
 * Ends a process when this one ends without having done so: killed, crashed, or by `exit` in the middle of something.
 * A shell waits for the end of its input, which comes with the end of the process that holds the other side.
 *
 * @returns calls the shell off; only for a process that has ended
 */
export const endWithUs = (pid: number): (() => void) => {
  // A process group of its own: Ctrl-C must not end it before the server.
  const watcher = spawn('sh', ['-c', 'cat > /dev/null; kill -INT "$1"', 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  })
  watcher.unref()
  return () => {
    watcher.kill('SIGKILL')
  }
}
