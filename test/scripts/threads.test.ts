import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { threads } from '../../scripts/release/bundle.ts'

const root = join(import.meta.dir, '../..')

test('every thread that the sources start is in the built file', () => {
  const started = [...new Bun.Glob('src/**/*.ts').scanSync(root)].flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /new Worker\(new URL\('\.\/([\w-]+\.ts)'/g,
      ),
    ].map(([, name]) => join(file, '..', name ?? '')),
  )
  expect(started.sort()).toEqual([...threads].sort())
})
