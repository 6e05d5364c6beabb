/** The console in a real browser, against a gateway with everything configured. */
import { expect } from 'bun:test'
import { source as axe } from 'axe-core'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { createDirectory, type Directory } from '#src/simulators/directory/index.ts'
import { startBrowser } from '../support/browser.ts'
import { type GatewayHere, startGatewayHere } from '../support/gateway-here.ts'

/** Text that would do harm wherever it is not shown as text. */
export const hostile = '"><img src=x onerror=fetch("/xss")><script>fetch("/xss")</script>{{7*7}}'

export type Visit = {
  readonly page: Page
  /** Errors of the page, and requests to elsewhere. */
  readonly problems: string[]
  readonly bytes: () => number
}

export type SeenConsole = AsyncDisposable & {
  readonly gateway: GatewayHere
  readonly directory: Directory
  readonly url: string
  /** Of a key with every scope, whose name is hostile. */
  readonly key: string
  /** A page elsewhere. */
  readonly newPage: (options?: BrowserContextOptions) => Promise<Page>
  /** A fresh browser on the console. */
  readonly visit: (options?: BrowserContextOptions) => Promise<Visit>
}

/** A chain that is followed 20 times a second takes a tenth of a core from everything else that a screen waits for. */
const blockTimeMs = 400

/**
 * @param start the browser; Chromium where it is not told
 * @param env more settings of the gateway
 */
export const openConsole = async ({
  start = startBrowser,
  env = {},
}: {
  readonly start?: typeof startBrowser
  readonly env?: Readonly<Record<string, string>>
} = {}): Promise<SeenConsole> => {
  const dayMs = 86_400_000
  const directory = await createDirectory({
    claimPeriods: { resolutionMs: 7 * dayMs, completionMs: 7 * dayMs, listLagMs: 0 },
  })
  const gateway = await startGatewayHere(
    {
      TRILHO_TRACE_URL: 'https://traces.example/{trace_id}',
      DICT_URL: directory.url,
      DICT_POLL_SECONDS: '5',
      ...env,
    },
    blockTimeMs,
  )
  const browser = await start()
  const url = gateway.urls.adminUrl ?? gateway.urls.httpUrl
  return {
    gateway,
    directory,
    url,
    key: await gateway.keyOf({ name: hostile }),
    newPage: (options) => browser.newPage(options),
    visit: (options = {}) => visitOf(browser, url, options),
    [Symbol.asyncDispose]: async () => {
      await browser.close()
      await gateway[Symbol.asyncDispose]()
      await directory.stop()
    },
  }
}

/** A fresh browser on the console of a gateway. */
export const visitOf = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<Visit> => {
  const context = await browser.newContext({
    locale: 'en-GB',
    reducedMotion: 'reduce',
    timezoneId: 'America/Sao_Paulo',
    ...options,
  })
  context.setDefaultTimeout(100_000)
  const page = await context.newPage()
  const problems: string[] = []
  let bytes = 0
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    // Chromium itself writes this line for answers that the page expects: before the sign-in, and to what is pasted.
    const isRefusal = /status of 40[01] /.test(message.text())
    if (message.type() === 'error' && !isRefusal) problems.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(`asks ${request.url()}`)
    if (request.url().includes('/xss')) problems.push('a script of a stored text ran')
  })
  page.on('response', (answer) => {
    bytes += Number(answer.headers()['content-length'] ?? 0)
  })
  await page.goto(`${url}/console`)
  return { page, problems, bytes: () => bytes }
}

export const signIn = async ({ page }: Visit, by: string): Promise<void> => {
  await page.locator('input[name=key]').fill(by)
  await page.keyboard.press('Enter')
  await page.locator('aside nav').waitFor()
}

export const serious = async (page: Page): Promise<string[]> => {
  // What is in order is not told of, which takes as long as to look for what is not.
  const violations = `axe.run({ resultTypes: ['violations'], preload: false }).then(
    ({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html })))`
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe)
  const found = (await page.evaluate(violations)) as {
    readonly id: string
    readonly impact: string
    readonly html: string
  }[]
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, html }) => `${id}: ${html}`)
}

/** Leads a page that is signed in elsewhere in the console, as a link of it does: nothing is loaded anew but what it shows. */
export const show = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(
    `history.pushState({ given: '' }, '', ${JSON.stringify(`/console${path}`)})
     dispatchEvent(new PopStateEvent('popstate'))`,
  )

const overflow = 'document.documentElement.scrollWidth - innerWidth'
/** Lists cut off what is beyond their edge: no act may be there. */
const cutOff = `[...document.querySelectorAll('.list td.acts button')].filter((one) =>
  one.getBoundingClientRect().right > one.closest('.list').getBoundingClientRect().right)
  .map((one) => one.textContent)`

export const expectNone = (locator: Locator): Promise<void> =>
  locator.first().waitFor({ state: 'detached' })

export const settled = async (page: Page): Promise<void> => {
  await page.locator('h1').first().waitFor()
  // Not `waitForFunction`: it evaluates text in the page, which the policy of the page refuses.
  await expectNone(page.locator('.waiting'))
  const beyond = Number(await page.evaluate(overflow))
  expect([page.url(), Math.max(0, beyond), await page.evaluate(cutOff)]).toEqual([
    page.url(),
    0,
    [],
  ])
}
