import { expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** Who may import what (`false`: Biome must refuse it). The table of the design, row by row. */
const cases: readonly (readonly [file: string, specifier: string, allowed: boolean])[] = [
  ['codecs/iso20022/a.ts', './b.ts', true],
  ['codecs/iso20022/a.ts', '../xml/index.ts', true],
  ['codecs/iso20022/a.ts', '#codecs/xml', true],
  ['codecs/iso20022/a.ts', '../xml/scanner.ts', false],
  ['codecs/iso20022/catalogue/a.ts', '../messages/b.ts', true],
  ['codecs/iso20022/catalogue/a.ts', '../../xml/scanner.ts', false],
  ['codecs/iso20022/a.ts', '#src/platform/http/index.ts', false],
  ['codecs/iso20022/a.ts', '../../src/main.ts', false],
  ['codecs/iso20022/a.ts', 'node:fs', false],
  ['codecs/iso20022/a.ts', 'bun', false],
  ['codecs/iso20022/a.ts', 'bun:sqlite', false],

  ['src/platform/http/a.ts', '../config/index.ts', true],
  ['src/platform/http/a.ts', 'node:fs', true],
  ['src/platform/http/a.ts', '#codecs/xml', false],
  ['src/platform/http/a.ts', '#codecs/taxpayer', true],
  ['src/platform/http/a.ts', '../../../codecs/xml/index.ts', false],
  ['src/platform/http/a.ts', '#src/spi/index.ts', false],
  ['src/platform/http/a.ts', '../../spi/index.ts', false],
  ['src/platform/http/a.ts', '#src/events/index.ts', false],

  ['src/events/a.ts', '#codecs/iso20022', true],
  ['src/events/a.ts', '#src/platform/database/index.ts', true],
  ['src/events/a.ts', '#src/spi/index.ts', false],
  ['src/events/a.ts', '../spi/index.ts', false],
  ['src/events/index.ts', './a.ts', true],

  ['src/spi/a.ts', './service.ts', true],
  ['src/spi/api/a.ts', '../errors.ts', true],
  ['src/spi/a.ts', '#codecs/iso20022', true],
  ['src/spi/a.ts', '#src/platform/http/index.ts', true],
  ['src/spi/a.ts', '#src/events/index.ts', true],
  ['src/spi/a.ts', '#codecs/iso20022/reader', false],
  ['src/spi/a.ts', '../../codecs/iso20022/index.ts', false],
  ['src/spi/a.ts', '#src/platform/http/app.ts', false],
  ['src/spi/a.ts', '#src/cards/index.ts', false],
  ['src/spi/a.ts', '../cards/index.ts', false],
  ['src/spi/api/a.ts', '../../cards/index.ts', false],
  ['src/spi/a.ts', '../cli/index.ts', false],
  ['src/spi/a.ts', '../main.ts', false],
  ['src/spi/a.ts', '../composition/index.ts', false],
  ['src/simulators/chain/a.ts', '../../drex/index.ts', false],
  ['src/simulators/chain/a.ts', '#codecs/iso8583', true],

  ['src/cli/a.ts', '#src/platform/security/index.ts', true],
  ['src/cli/dev/a.ts', '../command.ts', true],
  ['src/cli/a.ts', '#codecs/xml', false],
  ['src/cli/a.ts', '#src/spi/routes.ts', false],
  ['src/composition/a.ts', './settings.ts', true],
  ['src/composition/a.ts', '../spi/index.ts', true],
  ['src/composition/a.ts', '../platform/config/index.ts', true],
  ['src/composition/a.ts', '../../drizzle/index.ts', true],
  ['src/composition/a.ts', '../spi/routes.ts', false],
  ['src/composition/a.ts', '../spi/transform/index.ts', false],
  ['src/composition/a.ts', '../main.ts', false],
  ['src/composition/a.ts', '#codecs/xml', false],
  ['src/main.ts', './spi/index.ts', true],
  ['src/main.ts', './events/index.ts', true],
  ['src/main.ts', './platform/config/index.ts', true],
  ['src/main.ts', './spi/routes.ts', false],
  ['src/main.ts', './spi/transform/index.ts', false],
  ['src/main.ts', '#codecs/xml', false],
]

test('Biome refuses every import the design forbids, and no other', () => {
  const directory = temporaryDirectory()
  copyFileSync(join(root, 'biome.json'), join(directory, 'biome.json'))
  // Each file holds one import per line, so that a finding's line names its case.
  const written = new Map<string, string>()
  for (const [file, specifier] of cases) {
    const content = `${written.get(file) ?? ''}import '${specifier}'\n`
    written.set(file, content)
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    writeFileSync(join(directory, file), content)
  }
  const { stdout } = Bun.spawnSync(
    [
      join(root, 'node_modules/.bin/biome'),
      'lint',
      '--only=style/noRestrictedImports',
      '--vcs-enabled=false',
      ...['--reporter=github', '--max-diagnostics=none', '.'],
    ],
    { cwd: directory },
  )
  const refused: string[] = []
  for (const [, file, line] of stdout.toString().matchAll(/file=([^,]+),line=(\d+)/g)) {
    const name = relative(directory, file ?? '')
    const specifier = written.get(name)?.split('\n')[Number(line) - 1]
    refused.push(`${name}: ${specifier?.replace(/^import '(.*)'$/, '$1')}`)
  }
  const forbidden = cases.filter(([, , allowed]) => !allowed)
  expect(refused.sort()).toEqual(
    forbidden.map(([file, specifier]) => `${file}: ${specifier}`).sort(),
  )
})
