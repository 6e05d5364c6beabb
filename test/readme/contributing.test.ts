import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from '../support/program.ts'

/*
 * The worked changes of CONTRIBUTING.md, made as they stand in a copy of the program, which must then compile and
 * print what the page says.
 */

const copied = ['codecs', 'src', 'scripts', 'drizzle', 'docs', 'package.json', 'tsconfig.json']
const copy = join(tmpdir(), `trilho-contributing-${process.pid}`)

type Block = { readonly info: string; readonly text: string }

const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    blocks: [...section.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].map(
      ([, info = '', text = '']): Block => ({ info, text }),
    ),
  }))
  .filter(({ blocks }) => blocks.length > 0)

const inserted = (file: string, side: string, mark: string, text: string): string => {
  const lines = readFileSync(join(copy, file), 'utf8').split('\n')
  const found = lines.flatMap((line, at) => (line.includes(mark) ? [at] : []))
  const [at] = found
  if (at === undefined || found.length > 1)
    throw new Error(`${file}: ${mark} ${found.length} times`)
  lines.splice(side === 'after' ? at + 1 : at, 0, text.trimEnd())
  return lines.join('\n')
}

const apply = ({ info, text }: Block): void => {
  const created = /^\w+ file=(\S+)$/.exec(info)?.[1]
  const [, side = '', mark = '', file = ''] =
    /^\w+ (after|before)="(.+)" in=(\S+)$/.exec(info) ?? []
  const target = created ?? file
  if (target === '') return
  mkdirSync(dirname(join(copy, target)), { recursive: true })
  const content = created === undefined ? inserted(file, side, mark, text) : text
  writeFileSync(join(copy, target), content)
}

const run = (command: string): string => {
  const bin = join(root, 'node_modules/.bin')
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
  const { stdout, stderr, exitCode } = Bun.spawnSync(['sh', '-c', command], { cwd: copy, env })
  return exitCode === 0 ? stdout.toString() : `${stdout}${stderr}`
}

beforeAll(() => {
  for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

test('the page shows five changes', () => {
  expect(sections.map(({ title }) => title)).toEqual([
    'A message type',
    'A dialect of ISO 8583',
    'A contract template',
    'An event',
    'A setting',
  ])
})

for (const { title, blocks } of sections) {
  test(`${title}: what the page says is enough`, () => {
    for (const block of blocks) apply(block)
    const command = blocks.find(({ info }) => info === 'sh worked')?.text ?? ''
    expect(run(command)).toBe(blocks.find(({ info }) => info === 'text worked')?.text ?? '')
  }, 120_000)
}

test('the program compiles with all of them', () => {
  const config = { extends: './tsconfig.json', include: ['codecs', 'drizzle', 'src'] }
  writeFileSync(join(copy, 'tsconfig.changed.json'), JSON.stringify(config))
  expect(run('GOGC=off tsc --noEmit --checkers 1 -p tsconfig.changed.json')).toBe('')
}, 120_000)
