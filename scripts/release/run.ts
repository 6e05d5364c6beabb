/** Runs a program to its end and returns what it wrote. Throws with its errors if it fails. */
export const run = async (command: readonly string[], cwd: string): Promise<ArrayBuffer> => {
  const child = Bun.spawn([...command], { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.slice(0, 3).join(' ')} ended with ${code}: ${err}`)
  return out
}

/** The same for a program that writes text. */
export const textOf = async (command: readonly string[], cwd: string): Promise<string> =>
  new TextDecoder().decode(await run(command, cwd)).trim()
