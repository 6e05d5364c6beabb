import { expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { dialects } from '#codecs/iso8583'
import { bundleConsole } from '#src/console/bundle.ts'
import { inspectorNames } from '#src/platform/lifecycle/index.ts'

const slowMs = 300
const folder = join(import.meta.dir, '../../src/console/browser')

test('the files of the console are in one order however long each takes to read, as a release has the same bytes each time', async () => {
  const { file } = Bun
  using _ = spyOn(Bun, 'file').mockImplementation(((path: string) => {
    const found = file(path)
    if (!path.includes('inter')) return found
    const bytes = found.bytes.bind(found)
    return Object.assign(found, { bytes: () => Bun.sleep(slowMs).then(bytes) })
  }) as typeof Bun.file)
  const { files } = await bundleConsole(folder)
  const stems = Object.keys(files).map((name) => name.replace(/-[0-9a-z]+\.\w+$/, ''))
  expect(stems).toEqual(['inter', 'plex-mono', 'main', 'style', 'icon'])
})

test('the console offers every built-in dialect, and every kind of message', async () => {
  const { script, files } = await bundleConsole(folder)
  const text = Buffer.from(files[script]?.raw ?? '', 'base64').toString()
  expect(text).toContain(JSON.stringify(Object.keys(dialects)))
  expect(text).toContain(JSON.stringify(inspectorNames))
})
