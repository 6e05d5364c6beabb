/** Every screen as every kind of reader has it: light, dark, on a phone, and with one scope alone. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Scope } from '#src/platform/security/index.ts'
import { hasBrowser } from '../support/browser.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { openConsole, type SeenConsole, serious, settled, signIn, type Visit } from './visit.ts'

const screens = [
  ...['', '/payments?rail=spi', '/payments?rail=cards', '/payments?rail=drex', '/cards'],
  ...['cob', 'cobv', 'pix', 'rec', 'cobr', 'solicrec', 'locrec'].map(
    (kind) => `/charges?show=${kind}`,
  ),
  ...['wallets', 'contracts', 'deliveries', 'liens', 'operations', 'networks', 'lanes'].map(
    (list) => `/currency?show=${list}`,
  ),
  ...['transfer', 'contract', 'operation', 'delivery', 'lien'].map(
    (thing) => `/currency/new/${thing}`,
  ),
  ...['explain', 'qr', 'message', 'samples'].map((tool) => `/tools?tool=${tool}`),
  ...['/attention', '/webhooks', '/certificates', '/keys', '/audit', '/pix-keys'],
  ...['claims', 'infraction-reports', 'refunds'].map((list) => `/pix-keys?show=${list}`),
]

/** Each opens a screen, or a part of one; the first opens none. */
const opening: readonly Scope[] = [
  ...(['jose:use', 'messages:read', 'spi:send', 'qrcodes:use', 'dict:read'] as const),
  ...(['webhooks:read', 'keys:read', 'ops:read', 'ops:admin', 'cards:read'] as const),
  ...(['drex:read', 'contracts:read', 'wallets:read', 'cob:read', 'pix:read'] as const),
  ...(['rec:read', 'cobr:read', 'solicrec:read', 'payloadlocationrec:read'] as const),
]

const laptop = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }
/** The first is the hardest to get right; the main screens are looked at in the others by `pages.test.ts` too. */
const forms = [
  ['dark, on a phone, in Portuguese', { colorScheme: 'dark', viewport: phone, locale: 'pt-BR' }],
  ['light', { colorScheme: 'light', viewport: laptop }],
  ['dark', { colorScheme: 'dark', viewport: laptop }],
] as const
const seenForms = process.env['TRILHO_LONG'] === '1' ? forms : forms.slice(0, 1)

describe.skipIf(!hasBrowser)('screens in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole
  let operator = ''

  beforeAll(async () => {
    seen = await openConsole()
    operator = await seen.gateway.keyOf({ name: 'operator' })
    const post = async (path: string, body: object): Promise<void> => {
      const answer = await fetch(seen.url + path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect([path, answer.ok]).toEqual([path, true])
    }
    await post('/v1/transactions/authorize', authorizationBody('tok_visa_approved'))
    await post('/v1/wallets', { type: 'managed', label: 'browser' })
    await post('/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['card.*'] })
  })
  afterAll(() => seen?.[Symbol.asyncDispose]())

  describe.each(seenForms)(
    '%s: nothing cut off, no error, nothing serious for axe',
    (_, options) => {
      let one: Visit
      beforeAll(async () => {
        one = await seen.visit(options)
        await signIn(one, operator)
      })
      afterAll(() => one?.page.context().close())

      test.each(screens)(
        '/console%s',
        async (path) => {
          await one.page.goto(`${seen.url}/console${path}`)
          await settled(one.page)
          expect(await serious(one.page)).toEqual([])
          expect(one.problems.splice(0)).toEqual([])
        },
        120_000,
      )
    },
  )

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
        await page.context().clearCookies()
        await page.goto(`${seen.url}/console`)
        await signIn(one, await seen.gateway.keyOf({ grants: [scope] }))
        const paths = await page
          .locator('aside nav a')
          .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
        expect(paths.length).toBeGreaterThan(2)
        for (const path of paths) {
          await page.goto(seen.url + path)
          await settled(page)
          expect({ path, problems: one.problems.splice(0) }).toEqual({ path, problems: [] })
        }
      },
      120_000,
    )
  })
})
