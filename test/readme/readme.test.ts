import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '#src/platform/database/index.ts'
import { sealEntries, settleMs } from '../../src/platform/http/audit/chain/seal.ts'
import { quietLogger } from '../support/database.ts'
import { pages } from '../support/pages.ts'
import { anyVariant, root, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * The commands of the README and of the pages it leads to, run as they stand against a running `dev`.
 *
 * A block "sh run" is run by a shell with $URL, $CARDS_URL, $GRPC_URL, $KEY and $DATABASE_DSN set; the block "json output" or
 * "text output" after it is what it must answer. `…` stands for anything within a line. White space
 * outside JSON strings does not matter; everything else does, down to the digits of a number.
 */

setDefaultTimeout(120_000)

const readme = readFileSync(join(root, 'README.md'), 'utf8')

type Block = { readonly info: string; readonly text: string }

const blocksOf = (page: string): readonly Block[] =>
  [...page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({
    info,
    text,
  }))

const blocks = pages.flatMap((page) => blocksOf(readFileSync(join(root, page), 'utf8')))

const blockOf = (info: string): string =>
  blocks.find((block) => block.info === info)?.text.trim() ?? ''

type Example = { readonly command: string; readonly output: Block }

const examples: readonly Example[] = blocks.flatMap((block, index) => {
  const output = blocks[index + 1]
  if (block.info !== 'sh run') return []
  if (output === undefined || !/^(json|text) output$/.test(output.info)) {
    throw new Error(`no output follows ${block.text}`)
  }
  return [{ command: block.text.trim(), output }]
})

/** JSON without the white space between its tokens; numbers keep their digits. */
const compact = (json: string): string =>
  json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_all, text: string | undefined) => text ?? '')

const pattern = (expected: string): RegExp =>
  new RegExp(`^${expected.split('…').map(RegExp.escape).join('[^\\n]+?')}$`)

describe('the README', () => {
  let dev: ReturnType<typeof startProgram>
  let environment: Record<string, string>
  const directory = temporaryDirectory()
  /** What `dev` prints until it is ready. */
  let session: readonly string[] = []

  beforeAll(async () => {
    // What follows the installation, which the machine that runs this test has behind it.
    const [, command = ''] = blockOf('sh dev').split(' && ')
    const hasNpx = Bun.which('npx') !== null
    const words = (hasNpx ? command : command.replace('npx ', '')).split(' ')
    const started = { name: 'sources', command: () => words } as const
    const state = join(directory, '.trilho')
    writeFileSync(
      join(directory, 'trilho'),
      `#!/bin/sh\nexec ${anyVariant.command().join(' ')} "$@"\n`,
      { mode: 0o755 },
    )
    symlinkSync(join(root, 'node_modules/.bin/buf'), join(directory, 'buf'))
    dev = startProgram(started, ['--state', state], { cwd: root })
    const lines = new Set<string>()
    await dev.line((line) => {
      lines.add(line)
      return line.startsWith('Ctrl-C')
    })
    session = [...lines]
    const told = (name: string): string | undefined =>
      session.map((line) => new RegExp(`^  ${name} +(\\S+)$`).exec(line)?.[1]).find(Boolean)
    const url = told('URL') ?? ''
    environment = {
      PATH: `${directory}:${process.env['PATH'] ?? ''}`,
      URL: url,
      CARDS_URL: told('Cards') ?? url,
      GRPC_URL: told('gRPC') ?? '',
      KEY: told('API key') ?? '',
      DATABASE_DSN: told('Database') ?? '',
    }
    // What an audit page shows is sealed half a minute after it was written: here at once.
    const { sql, close } = openDatabase({
      dsn: environment['DATABASE_DSN'] ?? '',
      connectionsMax: 1,
      statementTimeoutMs: 30_000,
      logger: quietLogger,
    })
    await sealEntries({ sql, logger: quietLogger, nowMs: () => Date.now() + settleMs })
    await close()
  })

  afterAll(async () => {
    dev.signal('SIGTERM')
    await dev.end()
  })

  test('holds the two commands that set everything up', () => {
    expect(blockOf('sh dev')).toBe('npx bun@1.4.5 install && npx bun run dev')
    expect(blockOf('sh test')).toBe('npx bun@1.4.5 install && npx bun run test')
    const gate = readFileSync(join(root, '.ci/run'), 'utf8')
    expect(gate).toContain('bun@1.4.5 install')
    expect(gate).toContain('npx bun run test')
  })

  test('shows what dev prints', () => {
    const shown = blockOf('text session').split('\n')
    expect(shown.length).toBeGreaterThan(15)
    let from = 0
    for (const line of shown) {
      if (line === '…') continue
      const found = session.findIndex((got, index) => index >= from && pattern(line).test(got))
      // What dev printed, where a line of the page is not in it.
      if (found === -1) expect(session.slice(from)).toContain(line)
      from = found + 1
    }
  })

  test('names every command as the program does', () => {
    const { stdout } = Bun.spawnSync([process.execPath, join(root, 'src/main.ts'), '--help'])
    const listed = [...stdout.toString().matchAll(/^ {2}([a-z-]+) {2,}(\S.*)$/gm)]
    expect(listed.length).toBeGreaterThan(5)
    for (const [, name, summary] of listed) {
      expect(readme).toContain(`| \`trilho ${name}\` | ${summary} |`)
    }
  })

  test('and its pages show no command that no test runs, but for what this machine cannot have', () => {
    const wanted = ['docker build', '"type": "aws_kms"']
    const plain = blocks.filter(({ info }) => info === 'sh').map(({ text }) => text)
    expect(plain.filter((text) => !wanted.some((part) => text.includes(part)))).toEqual([])
    expect(plain).toHaveLength(wanted.length)
  })

  test.each(examples.map((example) => [example.command, example] as const))(
    '%s',
    async (command, { output }) => {
      const child = Bun.spawn(['sh', '-c', command], {
        cwd: directory,
        env: environment,
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const out = await new Response(child.stdout).text()
      const errors = await new Response(child.stderr).text()
      expect({ code: await child.exited, errors }).toEqual({ code: 0, errors: '' })
      const isJson = output.info === 'json output'
      const got = isJson ? compact(out) : out.trim()
      const wanted = isJson ? compact(output.text) : output.text.trim()
      if (!pattern(wanted).test(got)) expect(got).toBe(wanted)
    },
  )
})
