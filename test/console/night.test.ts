/** By keyboard, an operator reaches each trouble and its safe act from the overview in at most three steps. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { deadLetterHeaders } from '#src/platform/broker/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { hasBrowser } from '../support/browser.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { transfer as pixTransfer } from '../support/participant.ts'
import { issueCertificate } from '../support/pki.ts'
import { until } from '../support/until.ts'
import { apiOf } from './seeds.ts'
import { expectNone, openConsole, type SeenConsole, serious, settled, signIn } from './visit.ts'

const stopsMax = 150
const dayMs = 86_400_000

/** Presses Tab until the focus is on this text, and opens it. */
const reach = async (page: Page, text: string): Promise<void> => {
  for (let at = 0; at < stopsMax; at++) {
    await page.keyboard.press('Tab')
    const focused = String(await page.evaluate('document.activeElement.textContent'))
    if (!focused.includes(text) || focused.length > text.length + 40) continue
    await page.keyboard.press('Enter')
    return
  }
  throw new Error(`${text} is not reached by Tab`)
}

/** A message interface that refuses everybody until the test opens its door. */
const startInterface = () => {
  let isOpen = false
  let taken = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: () => {
      if (isOpen) {
        taken += 1
        return new Response(null, { status: 201, headers: { 'PI-ResourceId': `R${taken}` } })
      }
      const problem = { type: 'https://bcb.example/error/forbidden', title: '', detail: '' }
      return Response.json(problem, { status: 403 })
    },
  })
  return {
    url: server.url.href,
    open: () => {
      isOpen = true
    },
    taken: () => taken,
    stop: () => server.stop(true),
  }
}

describe.skipIf(!hasBrowser)('a night in Chromium (needs /usr/bin/chromium)', () => {
  const door = startInterface()
  let seen: SeenConsole
  let operator = ''
  let api: ReturnType<typeof apiOf>
  /** The transfer that holds up its lane. */
  let transfer = ''

  beforeAll(async () => {
    seen = await openConsole({
      SPI_PRIMARY_URL: door.url,
      SPI_ROLES: 'OUTBOUND_SEND',
      // The routes of operators have a listener of their own.
      TRILHO_ADMIN_ADDR: '127.0.0.1:0',
    })
    operator = await seen.gateway.keyOf({ name: 'operator' })
    api = apiOf(seen.gateway.urls.httpUrl, operator)
    await bury()
    await exhaust()
    await doubt()
    await holdUp()
    const { cert: content } = issueCertificate('old', {
      notAfter: new Date(Date.now() + 5 * dayMs),
    })
    await api('POST', '/v1/certificates', {
      ispb: '12345678',
      type: 'PIC',
      format: 'pem',
      content,
    })
    await api('POST', '/v1/spi/send', {
      message_type: 'PACS008',
      params: {
        local_instrument: 'MANU',
        transactions: [pixTransfer('12345678', '99999004', 100)],
      },
    })
  }, 60_000)
  afterAll(async () => {
    await seen?.[Symbol.asyncDispose]()
    await door.stop()
  })

  /** Stores a message that nothing could handle. */
  const bury = async (): Promise<void> => {
    const { sql } = seen.gateway.database
    const headers = {
      [deadLetterHeaders.errorCode]: 'unreadable',
      [deadLetterHeaders.topic]: 'spi.outbound',
    }
    await sql`insert into broker_dead_letters (key, headers, value) values ('k', ${sql.json(headers)}, 'x')`
  }

  /** Stores a delivery whose attempts are used up. */
  const exhaust = async (): Promise<void> => {
    const { sql } = seen.gateway.database
    await sql`
      insert into webhook_endpoints (id, url, events, active)
      values ('whk_night', 'https://shop.example', '{*}', true)`
    await sql`
      insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
      values ('evt_night', 'pacs.008', '{*}', 'E1', 1, '{}', now())`
    await sql`
      insert into webhook_deliveries (id, event_id, endpoint_id, status, attempts)
      values ('dlv_night', 'evt_night', 'whk_night', 'exhausted', 10)`
  }

  /** Makes a card payment whose reversal no network has confirmed. */
  const doubt = async (): Promise<void> => {
    const { id } = await api(
      'POST',
      '/v1/transactions/authorize',
      authorizationBody('tok_visa_approved'),
    )
    const { sql } = seen.gateway.database
    await sql`
      update card_transactions set needs_attention = true, operation = 'reversing_authorization',
        status = 'pending' where id = ${id}`
  }

  /** Makes a transfer that a node took and forgot an hour ago. */
  const holdUp = async (): Promise<void> => {
    const { chain, issuer, database } = seen.gateway
    const wallet = () => api('POST', '/v1/wallets', { type: 'managed', label: 'night' })
    const [from, to] = [await wallet(), await wallet()]
    // The contract has to know who may hold it.
    for (const { address } of [from, to]) await issuer.fund(address as Hex, 100n)
    chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
    const made = await api('POST', '/v1/drex/transfers', {
      from_wallet: from.address,
      to_wallet: to.address,
      amount: '1.00',
    })
    transfer = made.transfer_id
    await until(
      async () => (await api('GET', `/v1/drex/transfers/${transfer}`)).status === 'broadcast',
      40_000,
      'broadcast',
    )
    await database.sql`
      update drex_transactions set created_at = now() - interval '1 hour', due_at = now() + interval '1 day'
      where subject = ${transfer}`
    chain.faults.set([])
  }

  type Trouble = {
    readonly concern: string
    /** The links that lead from "Needs attention" to the act. */
    readonly links?: readonly string[]
    /** The title of the section with the act, if several acts have the same name. */
    readonly section?: string
    readonly act: string
    readonly says: string
    readonly fill?: (page: Page) => Promise<void>
    readonly verb: string
    /** The action in the audit log. */
    readonly done: string
    /** Checks what the act did. */
    readonly after?: () => Promise<void>
    /** The row is on the page while it needs a person. */
    readonly row?: string
  }
  const giveCertificate = async (page: Page): Promise<void> => {
    const { cert, key } = issueCertificate('new')
    const dialog = page.getByRole('dialog')
    expect(await dialog.locator('[name=ispb]').inputValue()).toMatch(/^(12345678)?$/)
    await dialog.locator('[name=ispb]').fill('12345678')
    await dialog.locator('[name=type]').selectOption('PIC')
    await dialog.locator('[name=file]').setInputFiles({
      name: 'new.pem',
      mimeType: 'text/plain',
      buffer: Buffer.from(`${cert}\n${key}`),
    })
    await dialog.locator('[name=password]').focus()
  }
  const troubles: readonly Trouble[] = [
    {
      concern: 'dead letter',
      act: 'Throw away',
      verb: 'Throw away',
      says: 'is deleted for good and never handled',
      done: 'dead_letters.drop',
    },
    {
      concern: 'that nobody takes',
      links: ['https://shop.example', 'pacs.008'],
      act: 'Send again',
      says: 'the same',
      done: 'webhooks.replay',
      verb: 'Send again',
    },
    {
      concern: 'card reversal not confirmed',
      act: 'Resolve',
      verb: 'Resolve',
      says: 'ends in the chosen state for good',
      done: 'cards.resolve',
      fill: (page) => page.locator('dialog [name=reason]').fill('told by the network, by phone'),
      after: async () => {
        const [ended] = await seen.gateway.database.sql`
          select status, needs_attention as "isOpen" from card_transactions`
        expect(ended).toEqual({ status: 'voided', isOpen: false })
      },
    },
    {
      concern: 'lane held up',
      act: 'Send again now',
      verb: 'Send again now',
      says: 'nothing is paid twice',
      done: 'drex.resend',
      row: 'transfer ',
      after: () =>
        until(
          async () => (await api('GET', `/v1/drex/transfers/${transfer}`)).status === 'confirmed',
        ),
    },
    {
      concern: 'certificate about to expire',
      act: 'Import',
      verb: 'Import',
      says: 'the gateway signs or connects with it',
      done: 'certificates.import',
      section: 'Certificates about to expire',
      fill: giveCertificate,
      row: '5 days',
    },
    {
      concern: 'not in order',
      act: 'Import',
      verb: 'Import',
      says: 'the gateway signs or connects with it',
      done: 'certificates.import',
      section: 'Parts that are not in order',
      fill: giveCertificate,
      row: 'interface refuses us access',
      after: async () => {
        door.open()
        await until(() => door.taken() === 1)
      },
    },
  ]

  test('where operators have a listener of their own, the console is there alone', async () => {
    const { httpUrl, cardsUrl } = seen.gateway.urls
    expect(seen.url).not.toBe(httpUrl)
    for (const url of [httpUrl, cardsUrl]) {
      expect((await fetch(`${url}/console`)).status).toBe(404)
    }
    expect((await fetch(`${seen.url}/console`)).status).toBe(200)
  })

  test.each(troubles)(
    '$concern: found, its consequence told, seen to, and in the audit',
    async ({ concern, links = [], section, act, says, fill, done, verb, after, row }) => {
      const { sql } = seen.gateway.database
      const one = await seen.visit()
      const { page } = one
      await signIn(one, operator)
      await settled(page)
      await page.locator('.strip').getByText(concern).waitFor()
      await reach(page, concern)
      await page.locator('h1', { hasText: 'Needs attention' }).waitFor()
      await settled(page)
      for (const link of links) {
        await page.getByRole('link', { name: link }).first().waitFor()
        await reach(page, link)
      }
      const place =
        section === undefined
          ? page.locator('main')
          : page.locator('section.card', { has: page.getByRole('heading', { name: section }) })
      const button = place.getByRole('button', { name: act }).first()
      await button.waitFor()
      // Among acts of the same name, Tab would stop at the first; so we take this one.
      if (section === undefined) await reach(page, act)
      else await button.press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.getByText(says).first().waitFor()
      expect(await serious(page)).toEqual([])
      const before = await sql`select 1 from audit_log where action = ${done}`
      await fill?.(page)
      await reach(page, verb)
      await dialog.getByRole('button', { name: 'Close' }).waitFor()
      await page.keyboard.press('Escape')
      const audited = await sql`select 1 from audit_log where action = ${done}`
      expect(audited).toHaveLength(before.length + 1)
      await after?.()
      if (row !== undefined) await expectNone(place.getByText(row))
      expect(one.problems).toEqual([])
      await seen.leave(one)
    },
    120_000,
  )
})
