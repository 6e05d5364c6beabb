import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { notAmong, notCounts } from '../../bench/e2e/options.ts'
import { root } from '../support/program.ts'

const programs = [...new Bun.Glob('*.ts').scanSync(join(root, 'bench/e2e'))]
  .map((name) => ({ name, text: readFileSync(join(root, 'bench/e2e', name), 'utf8') }))
  .filter(({ text }) => text.includes('parseArgs({'))

/** The options that take a value, but for the name of a server, of which a machine has what it has. */
const optionsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^ {4}(\w+): \{ type: 'string'/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'postgres')

test.each(programs)(
  '$name refuses what it does not know before it starts anything',
  async ({ name, text }) => {
    const options = optionsOf(text)
    expect(options.length).toBeGreaterThan(0)
    const child = Bun.spawn(
      [process.execPath, join(root, 'bench/e2e', name), ...options.map((one) => `--${one}=none`)],
      { stdio: ['ignore', 'pipe', 'pipe'], cwd: root },
    )
    const told = await new Response(child.stderr).text()
    expect({ code: await child.exited, told }).toMatchObject({ code: 2 })
    for (const option of options) expect(told).toContain(`--${option}: `)
  },
)

test('an option of a benchmark says what it may be', () => {
  const values = {
    rounds: '3',
    seconds: '0',
    stored: '1000,1e6',
    warm: '1000000000',
    off: undefined,
  }
  expect(notCounts(values, ['rounds'])).toEqual([])
  expect(notCounts({ stored: '1,999999999' }, ['stored'])).toEqual([])
  expect(notCounts(values, ['seconds', 'stored', 'warm', 'off'])).toEqual([
    '--seconds: "0" is no whole number from 1 on',
    '--stored: "1000,1e6" is no whole number from 1 on',
    '--warm: "1000000000" is no whole number from 1 on',
    '--off: "undefined" is no whole number from 1 on',
  ])
  expect(notAmong('work', ['list', 'lists'], ['list', 'authorization'])).toEqual([
    '--work: "lists" is none of list, authorization',
  ])
})
