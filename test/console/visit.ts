/** The console in a real browser, against a gateway with everything configured. */
import { expect } from 'bun:test'
import { source as axe } from 'axe-core'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { createDirectory, type Directory } from '#src/simulators/directory/index.ts'
import { startBrowser } from '../support/browser.ts'
import { type GatewayHere, startGatewayHere } from '../support/gateway-here.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** Text that does harm unless a page shows it as text. */
export const hostile = '"><img src=x onerror=fetch("/xss")><script>fetch("/xss")</script>{{7*7}}'

export type Visit = {
  readonly page: Page
  /** Errors of the page, and its requests to other servers. */
  readonly problems: string[]
  readonly bytes: () => number
}

export type SeenConsole = AsyncDisposable & {
  readonly gateway: GatewayHere
  readonly directory: Directory
  readonly browser: Browser
  readonly url: string
  /** The key has every scope, and a hostile name. */
  readonly key: string
  /** A page that shows the sign-in, if possible one that a test has left, since loading costs more than showing. */
  readonly visit: (options?: VisitOptions) => Promise<Visit>
  /** Gives a page back, signed out. If a test fails before this, nobody uses its page again. */
  readonly leave: (one: Visit) => Promise<void>
}

type VisitOptions = Pick<
  BrowserContextOptions,
  'locale' | 'permissions' | 'colorScheme' | 'viewport'
>

const dayMs = 86_400_000
/** A chain followed 20 times a second takes a tenth of a core from everything that a screen waits for. */
const blockTimeMs = 400

/**
 * Starts a gateway for the pages of a browser. @param env more settings. @param given a browser in place of Chromium
 */
export const openConsole = async (
  env: Readonly<Record<string, string>> = {},
  given?: Browser,
): Promise<SeenConsole> => {
  const browser = given ?? (await sharedBrowser())
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
  const url = gateway.urls.adminUrl ?? gateway.urls.httpUrl
  return {
    gateway,
    directory,
    browser,
    url,
    key: await gateway.keyOf({ name: hostile }),
    ...createVisits(browser, url),
    [Symbol.asyncDispose]: async () => {
      for (const context of browser.contexts()) {
        if (context.pages().some((page) => page.url().startsWith(url))) await context.close()
      }
      await gateway[Symbol.asyncDispose]()
      await directory.stop()
    },
  }
}

let chromium: Promise<Browser> | undefined
/** One browser for all files of this process; it ends with the process. */
const sharedBrowser = (): Promise<Browser> => {
  chromium ??= startInOwnDirectory()
  return chromium
}

/** Nobody closes the browser, so its files are in a directory of the tests, which goes with them. */
const startInOwnDirectory = async (): Promise<Browser> => {
  const former = process.env['TMPDIR']
  process.env['TMPDIR'] = temporaryDirectory()
  try {
    return await startBrowser()
  } finally {
    if (former === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = former
  }
}

const createVisits = (browser: Browser, url: string): Pick<SeenConsole, 'visit' | 'leave'> => {
  const left = new Map<string, Visit[]>()
  const places = new WeakMap<Visit, string>()
  return {
    visit: async ({ viewport, colorScheme, ...options } = {}) => {
      const place = JSON.stringify(options)
      const one = left.get(place)?.pop() ?? (await visitOf(browser, url, options))
      places.set(one, place)
      await one.page.setViewportSize(viewport ?? { width: 1280, height: 720 })
      await one.page.emulateMedia({ colorScheme: colorScheme ?? 'light' })
      return one
    },
    leave: async (one) => {
      const place = places.get(one) ?? ''
      await one.page.unrouteAll()
      await signOut(one)
      one.problems.length = 0
      left.set(place, [...(left.get(place) ?? []), one])
    },
  }
}

/** A fresh page of a fresh context on the console of a gateway. */
export const visitOf = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
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
    // Chromium itself writes this for answers that the page expects: before the sign-in, and to pasted text.
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

/** @param path the page to open after the sign-in */
export const signIn = async ({ page }: Visit, by: string, path = ''): Promise<void> => {
  const key = page.locator('input[name=key]')
  await key.waitFor()
  if (path !== '') await show(page, path)
  await key.fill(by)
  await page.keyboard.press('Enter')
  await page.locator('aside nav').waitFor()
}

/** Ends the session as the page would learn it: it loads nothing anew. */
export const signOut = async ({ page }: Visit): Promise<void> => {
  await show(page, '')
  await page.evaluate("dispatchEvent(new Event('signed-out'))")
  await page.locator('input[name=key]').waitFor()
  await page.context().clearCookies()
}

export const serious = async (page: Page): Promise<string[]> => {
  // Violations alone: a report of the rest takes as long again.
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

/** Leads a signed-in page elsewhere in the console, as its own links do. */
export const show = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(
    `history.pushState({ given: '' }, '', ${JSON.stringify(`/console${path}`)})
     dispatchEvent(new PopStateEvent('popstate'))`,
  )

const overflow = 'document.documentElement.scrollWidth - innerWidth'
/** Lists cut off everything beyond their edge, so no act may be there. */
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
