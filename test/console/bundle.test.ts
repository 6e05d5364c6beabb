import { expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { bundleConsole } from '#src/console/bundle.ts'

const slowMs = 300

test('the files of the console are in one order however long each takes to read, as a release has the same bytes each time', async () => {
  const { file } = Bun
  using _ = spyOn(Bun, 'file').mockImplementation(((path: string) => {
    const found = file(path)
    if (!path.includes('inter')) return found
    const bytes = found.bytes.bind(found)
    return Object.assign(found, { bytes: () => Bun.sleep(slowMs).then(bytes) })
  }) as typeof Bun.file)
  const folder = join(import.meta.dir, '../../src/console/browser')
  const { files } = await bundleConsole(folder)
  const stems = Object.keys(files).map((name) => name.replace(/-[0-9a-z]+\.\w+$/, ''))
  expect(stems).toEqual(['inter', 'plex-mono', 'main', 'style', 'icon'])
})
