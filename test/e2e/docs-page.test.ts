import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { hasBrowser, startBrowser } from '../support/browser.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'

setDefaultTimeout(60_000)

/** The bytes over the wire of the page with all that it loads, the document too. */
const bytesMax = 400_000

const missing = hasBrowser ? '' : ' [skipped: no Chromium on this machine]'

describe.skipIf(!hasBrowser)(`the page of the API in Chromium${missing}`, () => {
  let program: RunningProgram
  let browser: Browser
  let url: string

  beforeAll(async () => {
    const env = { HTTP_ADDR: '127.0.0.1:0', CARDGW_PORT: '0' }
    program = startProgram(anyVariant, ['serve'], { env })
    const line = await program.line((one) => one.includes('"listening"'))
    url = (JSON.parse(line) as { readonly http_url: string }).http_url
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    program.signal('SIGTERM')
    await program.end()
  })

  test('is small, asks nobody else for anything, is dark where that is wanted, and is searched', async () => {
    const context = await browser.newContext({ colorScheme: 'dark' })
    const page = await context.newPage()
    const wire = await context.newCDPSession(page)
    await wire.send('Network.enable')
    const [asked, wrong]: [string[], string[]] = [[], []]
    let bytes = 0
    wire.on('Network.loadingFinished', (one) => {
      bytes += one.encodedDataLength
    })
    page.on('request', (request) => asked.push(request.url()))
    page.on('pageerror', (error) => wrong.push(String(error)))
    page.on('console', (one) => one.type() === 'error' && wrong.push(one.text()))
    await page.goto(`${url}/`)
    const rotate = page.getByText('/v1/webhooks/{id}/rotate').first()
    const pay = page.getByText('/v1/spi/send').first()
    await Promise.all([rotate.waitFor({ state: 'attached' }), pay.waitFor({ state: 'attached' })])
    expect(page.url()).toBe(`${url}/docs`)
    expect(asked.filter((one) => !one.startsWith(`${url}/`))).toEqual([])
    expect(asked).toContain(`${url}/openapi.json`)
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(bytesMax)
    const colour = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    const parts = [...String(colour).matchAll(/\d+/g)].map(Number)
    expect(Math.max(...parts.slice(0, 3))).toBeLessThan(64)
    await page.getByPlaceholder('Search operations').fill('rotate')
    await pay.waitFor({ state: 'hidden' })
    expect(await rotate.isVisible()).toBe(true)
    expect(wrong).toEqual([])
    await context.close()
  })
})
