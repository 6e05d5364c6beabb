import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/program.ts'

const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

/** The rows that name a function and its file. */
const steps = [...page.matchAll(/^\|[^|]+\| `(\w+)` \| `([^`]+)` \|$/gm)].map(
  ([, name = '', file = '']) => ({ name, file }),
)

test('the way of a payment names functions that are where it says', () => {
  expect(steps.length).toBeGreaterThan(30)
  const gone = steps.filter(
    ({ name, file }) =>
      !existsSync(join(root, file)) ||
      !new RegExp(`^(?:export )?const ${name}\\b`, 'm').test(
        readFileSync(join(root, file), 'utf8'),
      ),
  )
  expect(gone).toEqual([])
})

test('every path on the page is there', () => {
  const paths = [...page.matchAll(/`((?:src|codecs|test|drizzle)\/[^`]*|biome\.json)`/g)]
  const gone = paths.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)))
  expect(gone).toEqual([])
})

test('the picture shows every room', () => {
  const shown = new Set(page.match(/```\n(codecs\/[\s\S]*?)```/)?.[1]?.match(/[\w.-]+/g))
  const listed = Bun.spawnSync(['git', 'ls-files', '-co', '--exclude-standard', 'src', 'codecs'], {
    cwd: root,
  })
  const files = listed.stdout.toString().trim().split('\n')
  const deep = /^src\/(platform|spi|cards|drex|simulators)\/([^/]+)\//
  const rooms = new Set(
    files.flatMap((file) => {
      const [, inner] = file.split('/')
      const within = deep.exec(file)?.[2]
      return [...(inner?.includes('.') ? [] : [inner ?? '']), ...(within ? [within] : [])]
    }),
  )
  expect([...rooms].filter((room) => room !== 'contracts' && !shown.has(room))).toEqual([])
})
