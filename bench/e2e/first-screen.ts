/*
 * The console's first screens in Debian's Chromium, from an empty cache: how soon a person can use each.
 *
 *   bun bench/e2e/first-screen.ts --stored 1000,1000000 --visits 7
 *
 * One gateway after the other stands before this many stored messages of the last forty days; the visits of the screens
 * take turns. The browser, the gateway and its PostgreSQL share the machine, so a time tells of the machine too: the
 * gateway shows in how little a time grows with the number of messages.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { BrowserContextOptions } from 'playwright-core'
import { openConsole, type SeenConsole, settled, signIn } from '../../test/console/visit.ts'
import { storeMany } from '../../test/spi/messages/stored.ts'
import { median } from '../harness.ts'
import { notCounts, refuse } from './options.ts'

const { values } = parseArgs({
  options: {
    stored: { type: 'string', default: '1000,1000000' },
    visits: { type: 'string', default: '7' },
  },
})
refuse(notCounts(values, ['stored', 'visits']))

const days = 40
const screens = {
  overview: '',
  'payments (Pix)': '/payments?rail=spi',
  'needs attention': '/attention',
}
type Screen = keyof typeof screens
const names = Object.keys(screens) as Screen[]

type SignedIn = Exclude<BrowserContextOptions['storageState'], undefined>

/** The time from opening the address to the whole screen, in milliseconds. */
const visit = async (seen: SeenConsole, screen: Screen, storageState: SignedIn) => {
  const page = await seen.browser.newPage({ storageState, viewport: { width: 1_280, height: 800 } })
  const startMs = performance.now()
  await page.goto(`${seen.url}/console${screens[screen]}`)
  await settled(page)
  const ms = performance.now() - startMs
  const rows = await page.locator('tbody tr, .chart').count()
  await page.context().close()
  return { ms, rows }
}

const measure = async (stored: number): Promise<void> => {
  await using seen = await openConsole()
  const { sql } = seen.gateway.database
  await storeMany(sql, stored, days)
  await sql`analyze`
  const first = await seen.visit()
  await signIn(first, await seen.gateway.keyOf({ name: 'operator' }))
  const state = await first.page.context().storageState()
  const took = new Map(names.map((name) => [name, [] as number[]]))
  const shown = new Map<Screen, number>()
  for (let turn = 0; turn <= Number(values.visits); turn++) {
    for (const name of names) {
      const { ms, rows } = await visit(seen, name, state)
      // The first visit does not count: the gateway does some things once.
      if (turn > 0) took.get(name)?.push(ms)
      shown.set(name, rows)
    }
  }
  for (const name of names) {
    const all = took.get(name) ?? []
    const [least, most] = [Math.min(...all), Math.max(...all)].map(Math.round)
    console.log(
      `${stored} stored  ${name.padEnd(16)} ${Math.round(median(all))} ms (${least} to ${most}), ${shown.get(name)} rows and charts`,
    )
  }
}

console.log(`load ${loadavg()[0]?.toFixed(1)}`)
for (const stored of values.stored.split(',').map(Number)) await measure(stored)
process.exit(0)
