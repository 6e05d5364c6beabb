/** Debian's Chromium, driven by Playwright; undefined where there is none. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Their form without windows comes first: a visit costs half the processor time. */
const executablePath = [
  ...['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser'],
].find(existsSync)

/** For names of tests: what is missing where they are skipped. */
export const hasBrowser = executablePath !== undefined

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: executablePath ?? '', args: ['--disable-gpu'] })
