/** Debian's Firefox, driven by Playwright over WebDriver BiDi. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, firefox } from 'playwright-core'
import { temporaryDirectory } from '../temporary.ts'

const binary = ['/usr/bin/firefox', '/usr/bin/firefox-esr'].find(existsSync)

/** For names of tests: what is missing where they are skipped. */
export const hasFirefox = binary !== undefined

export const startFirefox = (): Promise<Browser> => {
  const starter = join(temporaryDirectory(), 'firefox')
  const command = [process.execPath, join(import.meta.dir, 'bidi.ts'), binary].map(
    (part) => `'${part}'`,
  )
  writeFileSync(starter, `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`)
  chmodSync(starter, 0o755)
  return firefox.launch({
    channel: 'moz-firefox',
    executablePath: starter,
    firefoxUserPrefs: { 'ui.prefersReducedMotion': 1 },
  })
}
