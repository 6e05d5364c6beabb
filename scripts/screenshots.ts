import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startBrowser } from '../test/support/browser.ts'

/*
 * Pictures of every screen of the console of a running gateway: light, dark, and on a phone.
 *
 *   bun run screenshots --url http://localhost:8080 --key trl_test_… [--out dist/screenshots]
 */

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://localhost:8080' },
    key: { type: 'string' },
    out: { type: 'string', default: join(import.meta.dir, '../dist/screenshots') },
  },
})

const forms = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 800 }, locale: 'en-GB' },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 }, locale: 'en-GB' },
  { name: 'phone', colorScheme: 'dark', viewport: { width: 390, height: 844 }, locale: 'pt-BR' },
] as const

const screens = {
  overview: '/',
  payments: '/payments',
  cards: '/payments?rail=cards',
  'digital-currency': '/payments?rail=drex',
  audit: '/audit',
}

const { key, url, out } = values
if (key === undefined) throw new Error('--key: the API key to sign in with')
await mkdir(out, { recursive: true })
const browser = await startBrowser()
for (const { name, ...form } of forms) {
  const context = await browser.newContext({ ...form, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const picture = async (screen: string): Promise<void> => {
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: join(out, `${screen}-${name}.png`) })
  }
  await page.goto(`${url}/console`)
  await page.locator('input[name=key]').waitFor()
  await picture('sign-in')
  await page.locator('input[name=key]').fill(key)
  await page.locator('button[type=submit]').click()
  await page.locator('aside nav').waitFor()
  for (const [screen, path] of Object.entries(screens)) {
    await page.goto(`${url}/console${path}`)
    await page.locator('tbody tr').first().waitFor()
    await picture(screen)
    if (!path.includes('payments')) continue
    await page.locator('tbody a').first().click()
    await page.locator('.timeline').waitFor()
    await picture(`${screen}-one`)
  }
  await context.close()
}
await browser.close()
console.log(out)
