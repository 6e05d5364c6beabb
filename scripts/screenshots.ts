import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { startBrowser } from '../test/support/browser.ts'
import { pacs008 } from '../test/support/messages.ts'

/*
 * Pictures of every screen of the console of a running gateway: light, dark, and on a phone.
 *
 *   bun run screenshots --url http://localhost:8080 --key trl_test_… [--out dist/screenshots] [--only webhooks]
 */

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://localhost:8080' },
    key: { type: 'string' },
    only: { type: 'string' },
    out: { type: 'string', default: join(import.meta.dir, '../dist/screenshots') },
  },
})

const forms = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 800 }, locale: 'en-GB' },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 }, locale: 'en-GB' },
  { name: 'phone', colorScheme: 'dark', viewport: { width: 390, height: 844 }, locale: 'pt-BR' },
] as const

type Screen = {
  readonly path: string
  /** A selector that the finished screen has. */
  readonly there?: string
  /** The fields to fill before the screens below open. */
  readonly fill?: Readonly<Record<string, string>>
  /** Screens that a link or a button opens, each from the one before. */
  readonly opens?: Readonly<Record<string, { readonly click: string; readonly there: string }>>
}

const samplePix = pacs008().replace('<ChrgBr>SLEV</ChrgBr>', '')

const one = { click: 'tbody a', there: '.timeline' }

const screens: Readonly<Record<string, Screen>> = {
  overview: { path: '/', there: '.chart canvas' },
  payments: { path: '/payments?as=type&find=pacs.008', opens: { 'payments-one': one } },
  charges: {
    path: '/charges?show=cob',
    opens: { 'charges-one': { click: 'tbody a', there: '.qr' } },
  },
  recurrences: {
    path: '/charges?show=rec',
    opens: { 'recurrences-one': one },
  },
  cards: { path: '/payments?rail=cards', opens: { 'cards-one': one } },
  'digital-currency': {
    path: '/payments?rail=drex',
    opens: { 'digital-currency-one': { ...one, there: '.said' } },
  },
  webhooks: {
    path: '/webhooks',
    opens: {
      'webhooks-endpoint': { click: 'tbody tr:last-child a', there: 'tbody a' },
      'webhooks-rotate': { click: '.actions button:nth-child(3)', there: 'dialog' },
      'webhooks-delivery': { click: 'tbody a', there: '.columns' },
    },
  },
  connections: { path: '/cards' },
  currency: {
    path: '/currency?show=wallets',
    opens: { 'currency-wallet': { click: 'tbody a', there: '.tiles' } },
  },
  contracts: {
    path: '/currency?show=contracts',
    opens: { 'currency-contract': { click: 'tbody a', there: 'form select' } },
  },
  'currency-new': {
    path: '/currency/new/transfer',
    there: 'form .primary',
    opens: { 'currency-review': { click: '.actions button', there: 'form .primary' } },
  },
  lanes: { path: '/currency?show=lanes' },
  networks: { path: '/currency?show=networks' },
  tools: {
    path: '/tools',
    there: 'textarea',
    fill: { textarea: samplePix },
    opens: {
      'tools-explained': { click: 'button.primary', there: '.tree' },
      'tools-qr': { click: '.tabs a:nth-child(2)', there: 'input[name=key]' },
      'tools-message': { click: '.tabs a:nth-child(3)', there: '.field' },
      'tools-samples': { click: '.tabs a:nth-child(4)', there: '.code' },
    },
  },
  'pix-keys': { path: '/pix-keys' },
  claims: { path: '/pix-keys?show=claims', opens: { 'claims-one': one } },
  'infraction-reports': {
    path: '/pix-keys?show=infraction-reports',
    opens: { 'infraction-reports-one': one },
  },
  refunds: { path: '/pix-keys?show=refunds', opens: { 'refunds-one': one } },
  certificates: { path: '/certificates' },
  attention: { path: '/attention', there: '.card .badge' },
  keys: {
    path: '/keys',
    opens: {
      'keys-new': { click: '.head .primary', there: 'dialog' },
    },
  },
  audit: {
    path: '/audit',
    opens: { 'audit-verified': { click: '.card form button', there: '.card .badge' } },
  },
}

const waitMs = 5_000

/** Whether the screen has it: a gateway without such a thing gets no picture of it. */
const isThere = (page: Page, what: string): Promise<boolean> =>
  page
    .locator(what)
    .first()
    .waitFor({ timeout: waitMs })
    .then(
      () => true,
      () => false,
    )

const { key, url, out, only } = values
if (key === undefined) throw new Error('--key: the API key to sign in with')
await mkdir(out, { recursive: true })
const browser = await startBrowser()
for (const { name, ...form } of forms) {
  const context = await browser.newContext({ ...form, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const picture = async (screen: string): Promise<void> => {
    await page.waitForLoadState('networkidle')
    await page.locator('.waiting').first().waitFor({ state: 'detached' })
    await page.screenshot({ path: join(out, `${screen}-${name}.png`) })
  }
  await page.goto(`${url}/console`)
  await page.locator('input[name=key]').waitFor()
  await picture('sign-in')
  await page.locator('input[name=key]').fill(key)
  await page.locator('button[type=submit]').click()
  await page.locator('aside nav').waitFor()
  for (const [screen, { path, there = 'tbody tr', fill = {}, opens = {} }] of Object.entries(
    screens,
  )) {
    if (only !== undefined && !only.split(',').includes(screen)) continue
    await page.goto(`${url}/console${path}`)
    if (!(await isThere(page, there))) {
      console.error(`${screen}: there is nothing to show`)
      continue
    }
    for (const [field, text] of Object.entries(fill)) await page.locator(field).fill(text)
    await picture(screen)
    for (const [opened, found] of Object.entries(opens)) {
      if (!(await isThere(page, found.click))) {
        console.error(`${opened}: there is nothing to open`)
        break
      }
      await page.locator(found.click).first().click()
      await page.locator(found.there).first().waitFor()
      await picture(opened)
      await page.keyboard.press('Escape')
    }
  }
  await context.close()
}
await browser.close()
console.log(out)
