import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/program.ts'

/*
 * The examples on the pages of the codecs, run as they stand: a block "ts run" must print the block "text output" that
 * follows it.
 */

const pages = readdirSync(join(root, 'codecs'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('README.md'),
)

test('there are such pages', () => expect(pages.length).toBeGreaterThan(0))

for (const page of pages) {
  const path = join(root, 'codecs', page)
  const examples = [
    ...readFileSync(path, 'utf8').matchAll(
      /^```ts run\n([\s\S]*?)^```\n+```text output\n([\s\S]*?)^```$/gm,
    ),
  ]
  test(`codecs/${page} has an example, which prints what it says`, () => {
    expect(examples.length).toBeGreaterThan(0)
    for (const [, code = '', output = ''] of examples) {
      // Within the tree, where the imports of its package resolve.
      const file = join(root, 'codecs', `.example-${process.pid}.ts`)
      writeFileSync(file, code)
      try {
        const { stdout, stderr } = Bun.spawnSync([process.execPath, file])
        expect(`${stdout}${stderr}`).toBe(output)
      } finally {
        rmSync(file)
      }
    }
  })
}
