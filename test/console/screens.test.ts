/**
 * Every screen in its hardest form, on rows whose free texts do harm unless shown as text; all acts and forms, filled
 * with such text; every screen with one scope alone.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import type { Scope } from '#src/platform/security/index.ts'
import { templatesFollowed } from '../../src/console/followed.ts'
import { hasBrowser } from '../support/browser.ts'
import { type Area, areas, harmEverything, harmful, seedEverything } from './hostile.ts'
import {
  hostile,
  openConsole,
  type SeenConsole,
  serious,
  settled,
  show,
  signIn,
  signOut,
  type Visit,
} from './visit.ts'

/** Each scope opens a screen or a part of one, except the first, which opens none. */
const opening: readonly Scope[] = [
  ...(['jose:use', 'messages:read', 'spi:send', 'qrcodes:use', 'dict:read'] as const),
  ...(['webhooks:read', 'keys:read', 'ops:read', 'ops:admin', 'cards:read'] as const),
  ...(['drex:read', 'contracts:read', 'wallets:read', 'cob:read', 'pix:read'] as const),
  ...(['rec:read', 'cobr:read', 'solicrec:read', 'payloadlocationrec:read'] as const),
]

/** How often each area must show the text at least, so that the test has seen something. */
const shownMin: Readonly<Record<Area, number>> = {
  payments: 20,
  operation: 10,
  'digital currency': 15,
  charges: 12,
  directory: 12,
}

const laptop = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }
/** The first is the hardest; `pages.test.ts` looks at the main screens in the others too. */
const forms = [
  ['dark, on a phone, in Portuguese', { colorScheme: 'dark', viewport: phone, locale: 'pt-BR' }],
  ['light', { colorScheme: 'light', viewport: laptop }],
  ['dark', { colorScheme: 'dark', viewport: laptop }],
] as const
const seenForms = process.env['TRILHO_LONG'] === '1' ? forms : forms.slice(0, 1)

/** Chromium itself writes this for refusals, which the forms expect. */
const isRefusal = (problem: string): boolean => /status of 4\d\d /.test(problem)

const actsOn = (page: Page): Locator => page.locator('main .acts button, main .head button')
/** The other buttons ask nothing. */
const isAct = (text: string): boolean => !/^(?:Copiar|Copy|Abrir|Open)/.test(text)

/** Opens each question of the page. @returns how often it shows the text */
const askEvery = async (page: Page, see: (dialog: Locator) => Promise<number>): Promise<number> => {
  let shown = 0
  for (const title of new Set((await actsOn(page).allTextContents()).filter(isAct))) {
    await actsOn(page).getByText(title, { exact: true }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    shown += await see(dialog)
    if (await dialog.isVisible()) await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  return shown
}

const isWide =
  'document.querySelector("dialog").scrollWidth > document.querySelector("dialog").clientWidth'

/** No stored text makes an element, and no sign turns the order of the text around it. */
const expectInert = async (path: string, place: Locator): Promise<void> => {
  expect([path, await place.locator('img:not(.qr), script').count()]).toEqual([path, 0])
  const text = (await place.textContent()) ?? ''
  expect([path, /[\u202a-\u202e\u2066-\u2069]/.test(text)]).toEqual([path, false])
}

const fields = 'input:not([type=hidden]), textarea'

/** Fills every field for text. @returns whether there is one */
const fillAll = async (form: Locator, text: string): Promise<boolean> => {
  let isFilled = false
  await form.locator('details').evaluateAll((all) => {
    for (const one of all) one.setAttribute('open', '')
  })
  for (const field of await form.locator(fields).all()) {
    const type = await field.getAttribute('type')
    if (type === 'file') {
      await field.setInputFiles({
        name: hostile.replaceAll('/', ' '),
        mimeType: 'text/plain',
        buffer: Buffer.from(text),
      })
    } else if (type === 'number') await field.fill('1')
    else if (type === 'date') await field.fill('2099-01-01')
    else if (type !== 'checkbox' && type !== 'radio') {
      await field.fill(text)
      isFilled = true
    }
  }
  return isFilled
}

/** Sends the form: the browser may call it invalid, the API may refuse it, or it is done. */
const submitted = async (form: Locator): Promise<'invalid' | 'refused' | 'done'> => {
  await form.locator('button[type=submit], button.primary').last().click()
  const isInvalid = async () => (await form.locator(':invalid').count()) > 0
  if (await isInvalid()) return 'invalid'
  const answer = form.page().locator('dialog [role=alert], dialog [role=status]')
  await answer.first().waitFor()
  return (await form.page().locator('dialog [role=alert]').count()) > 0 ? 'refused' : 'done'
}

/** Where an answer may appear: digital currency never moves without a question first. */
const answersOf = (path: string): string =>
  path.startsWith('/currency/new')
    ? 'dialog'
    : 'main [role=alert], main .tree, main img.qr, main .code, dialog'

/** Fills and sends a form on a page, and answers the question before the act. */
const tryForm = async (page: Page, path: string, text: string): Promise<string> => {
  const form = page.locator('main form.card')
  if (!(await fillAll(form, text))) return 'no text'
  await form.locator('button.primary, button[type=submit]').last().click()
  if ((await page.locator('main form.card:not([novalidate]) :invalid').count()) > 0)
    return 'invalid'
  await page.locator(answersOf(path)).first().waitFor()
  if ((await page.locator('dialog').count()) === 0) return 'answered'
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await expectInert(path, dialog)
  const came = await submitted(dialog.locator('form'))
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  return came
}

describe.skipIf(!hasBrowser)('screens in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole
  let operator = ''
  let paths: Awaited<ReturnType<typeof seedEverything>>

  beforeAll(async () => {
    seen = await openConsole()
    operator = await seen.gateway.keyOf({ name: 'operator' })
    paths = await seedEverything(seen, operator)
    await harmEverything(seen.gateway.database.sql)
  }, 240_000)
  afterAll(() => seen?.[Symbol.asyncDispose]())

  test('what pages follow are routes of the API', () => {
    const gets = seen.gateway.routes.filter(({ method }) => method === 'GET')
    // This is the only followed route of the platform.
    const known = new Set(['/health', ...gets.map(({ path }) => path.replaceAll(/\{\w+\}/g, '{}'))])
    const unknown = templatesFollowed.filter(
      (path) => !known.has(path.replaceAll(/\{\w+\}/g, '{}')),
    )
    expect(unknown).toEqual([])
  })

  describe.each(seenForms)(
    '%s: hostile text is text, nothing cut off, no error, nothing serious for axe',
    (_, options) => {
      let one: Visit
      beforeAll(async () => {
        one = await seen.visit(options)
        await signIn(one, operator)
      })
      afterAll(() => one?.page.context().close())

      test.each(areas)(
        '%s',
        async (area) => {
          const { page, problems } = one
          let shown = 0
          for (const path of paths[area]) {
            await show(page, path)
            await settled(page)
            expect({ path, found: await serious(page) }).toEqual({ path, found: [] })
            shown += await page.getByText(hostile).count()
            await expectInert(path, page.locator('main'))
            shown += await askEvery(page, async (dialog) => {
              await expectInert(path, dialog)
              expect([path, await page.evaluate(isWide)]).toEqual([path, false])
              return dialog.getByText(hostile).count()
            })
            expect({ path, problems: problems.splice(0) }).toEqual({ path, problems: [] })
          }
          expect(shown).toBeGreaterThanOrEqual(shownMin[area])
        },
        240_000,
      )
    },
  )

  test.each(areas)(
    'forms with U+0000 are refused, with hostile text they say what is wrong or take it: %s',
    async (area) => {
      const one = await seen.visit()
      const { page, problems } = one
      await signIn(one, operator)
      const came: Record<string, readonly string[]> = {}
      for (const path of paths[area]) {
        await show(page, path)
        await settled(page)
        if ((await page.locator('main form.card').count()) === 1) {
          const refused = await tryForm(page, path, `a\0${hostile}`)
          expect([path, refused]).not.toEqual([path, 'done'])
          came[path] = [refused, await tryForm(page, path, harmful)]
          await expectInert(path, page.locator('main'))
          await settled(page)
        }
        await askEvery(page, async (dialog) => {
          const form = dialog.locator('form')
          const title = (await dialog.locator('h2').textContent()) ?? ''
          // A form of the same title is the same form: once is enough.
          if (came[title] !== undefined || !(await fillAll(form, `a\0${hostile}`))) return 0
          const refused = await submitted(form)
          expect([path, title, refused]).not.toEqual([path, title, 'done'])
          await fillAll(form, harmful)
          came[title] = [refused, await submitted(form)]
          await expectInert(path, dialog)
          return 0
        })
        expect(problems.splice(0).filter((problem) => !isRefusal(problem))).toEqual([])
      }
      expect(Object.keys(came).length).toBeGreaterThan(0)
      await seen.leave(one)
    },
    240_000,
  )

  test('a text with U+0000 is refused by its name wherever it is looked for', async () => {
    const one = await seen.visit()
    const { page, problems } = one
    await signIn(one, operator)
    for (const [path, field] of [
      ...(['spi', 'cards', 'drex'] as const).map((rail) => [`/payments?rail=${rail}`, 'find']),
      ...[
        ['/audit', 'action'],
        ['/pix-keys', 'key'],
        ['/pix-keys?show=claims', 'find'],
        ['/pix-keys?show=refunds', 'find'],
        ['/charges?show=cob', 'tax_id'],
      ],
    ] as const) {
      await show(page, path ?? '')
      await settled(page)
      await page.locator(`main form.filters [name=${field}]`).fill(`a\0b${harmful}`)
      await page.keyboard.press('Enter')
      await page.locator('main [role=alert]').first().waitFor()
      await settled(page)
    }
    const answer = await page.goto(`${seen.url}/console/payments?find=a%00`)
    expect([answer?.status(), answer?.headers()['content-type']]).toEqual([
      ...[400, 'application/problem+json'],
    ])
    expect(problems.filter((problem) => !isRefusal(problem))).toEqual([])
    await page.context().close()
  }, 120_000)

  describe('with one scope alone no screen falls over', () => {
    let one: Visit
    beforeAll(async () => {
      one = await seen.visit()
    })
    afterAll(() => one?.page.context().close())

    test.each(opening)(
      '%s',
      async (scope) => {
        const { page } = one
        await signIn(one, await seen.gateway.keyOf({ grants: [scope] }))
        const paths = await page
          .locator('aside nav a')
          .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
        expect(paths.length).toBeGreaterThan(2)
        for (const path of paths) {
          await show(page, path.replace('/console', ''))
          await settled(page)
          expect({ path, problems: one.problems.splice(0) }).toEqual({ path, problems: [] })
        }
        await signOut(one)
      },
      120_000,
    )
  })
})
