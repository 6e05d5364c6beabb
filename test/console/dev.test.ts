/** The console of `trilho dev`, as a newcomer finds it: every screen, and the payments that it shows. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { hasBrowser, startBrowser } from '../support/browser.ts'
import { type RunningDev, startDev } from '../support/running-dev.ts'
import { serious, settled, signIn, visitOf } from './visit.ts'

describe.skipIf(!hasBrowser)('the console of dev (needs Chromium)', () => {
  let dev: RunningDev
  let browser: Browser
  beforeAll(async () => {
    ;[dev, browser] = await Promise.all([startDev(), startBrowser()])
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await dev?.[Symbol.asyncDispose]()
  })

  test('shows every screen; a payment appears by itself, and its timeline opens', async () => {
    const one = await visitOf(browser, dev.url, {})
    const { page } = one
    await signIn(one, dev.key)
    expect(await page.locator('.mark').first().textContent()).toBe('TEST')
    const links = await page.locator('aside nav a').all()
    const screens = await Promise.all(links.map((link) => link.getAttribute('href')))
    expect(screens.length).toBeGreaterThan(8)
    for (const path of screens) {
      await page.goto(`${dev.url}${path}`)
      await settled(page)
      expect({ path, found: await serious(page) }).toEqual({ path, found: [] })
    }
    // The demo that runs at the start has paid on every rail.
    for (const rail of ['spi', 'cards', 'drex']) {
      const streamed = page.waitForRequest((asked) => asked.resourceType() === 'eventsource')
      await page.goto(`${dev.url}/console/payments?rail=${rail}`)
      await streamed
      await page.locator('tbody tr a').first().waitFor()
    }
    const streamed = page.waitForRequest((asked) => asked.resourceType() === 'eventsource')
    await page.goto(`${dev.url}/console/payments?rail=spi`)
    await streamed
    const paid = await fetch(`${dev.centralBankUrl}/simulator/pay-in`, {
      method: 'POST',
      body: JSON.stringify({ to: dev.ispb, amount_cents: 123_456 }),
    })
    const { end_to_end_ids: ids } = (await paid.json()) as { readonly end_to_end_ids: string[] }
    const fresh = page.locator('tbody tr', { hasText: ids[0] ?? '' }).first()
    await fresh.waitFor()
    await fresh.locator('a').first().click()
    await page
      .getByText(/1[.,]234[.,]56/)
      .first()
      .waitFor()
    await settled(page)
    expect(one.problems).toEqual([])
    await page.context().close()
  }, 120_000)

  test('says LIVE where money is real', async () => {
    const one = await visitOf(browser, dev.url, {})
    await one.page.route('**/console/session', async (route) => {
      const answer = await route.fetch()
      if (!answer.ok() || route.request().method() !== 'GET')
        return route.fulfill({ response: answer })
      return route.fulfill({
        response: answer,
        json: { ...(await answer.json()), environment: 'live' },
      })
    })
    await signIn(one, dev.key)
    expect(await one.page.locator('.mark').first().textContent()).toBe('LIVE')
    expect(await one.page.title()).toStartWith('LIVE · ')
    await one.page.context().close()
  }, 60_000)
})
