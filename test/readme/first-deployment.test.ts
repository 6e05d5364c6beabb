import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/* The commands of docs/first-deployment.md, one shell each, as an operator types them. */

setDefaultTimeout(120_000)

const page = readFileSync(join(root, 'docs/first-deployment.md'), 'utf8')
const steps = [...page.matchAll(/^```sh step\n([\s\S]*?)^```$/gm)].map(([, step = '']) => step)

const database = await createTestDatabase(1)
afterAll(() => database.close())

test('from an empty database to a gateway that answers, by the commands of the page', async () => {
  const directory = temporaryDirectory()
  const port = freePort()
  writeFileSync(
    join(directory, 'trilho'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'src/main.ts')}' "$@"\n`,
    { mode: 0o755 },
  )
  // One shell: what a step sets, the next one has. What it has started ends with it, wherever a step fails.
  const script = ["trap 'kill $! 2>/dev/null || :; wait' EXIT", ...steps].join('\n')
  const shell = Bun.spawn(['sh', '-ec', script], {
    cwd: directory,
    env: {
      PATH: `${directory}:${process.env['PATH'] ?? ''}`,
      DATABASE_DSN: database.dsn,
      HTTP_ADDR: `127.0.0.1:${port}`,
      // The page's ports may be taken on this machine.
      CARDGW_PORT: String(port),
      GRPC_ADDR: `127.0.0.1:${freePort()}`,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, errors] = await Promise.all([
    new Response(shell.stdout).text(),
    new Response(shell.stderr).text(),
  ])
  const log = existsSync(join(directory, 'trilho.log'))
    ? readFileSync(join(directory, 'trilho.log'), 'utf8')
    : ''
  expect({ code: await shell.exited, out, errors, log }).toMatchObject({ code: 0 })
  expect(out).toContain('{"status":"ready"}')
  expect(out.trimEnd()).toEndWith('{"webhooks":[],"next_cursor":null}')
  expect(steps.length).toBeGreaterThan(5)
})
