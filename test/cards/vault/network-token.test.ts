import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CardMessage } from '#codecs/iso8583'
import { createHttpVault } from '../../../src/cards/vault/http-vault.ts'
import { testTokens } from '../../../src/simulators/card-network/index.ts'
import { authorizationBody, createCardsRig } from '../../support/cards-rig.ts'
import { createScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/* A vault that gives network tokens with a cryptogram for each payment. */

const cryptogram = 'AgAAAAAAAIR8CQrXcIhbQAAAAAA='
let shown = cryptogram
const seen: CardMessage[] = []

const vault = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () =>
    new Response(testTokens.get('tok_visa_approved')?.slice(), {
      headers: { 'card-expiry': '3012', 'card-cryptogram': shown },
    }),
})
const network = createScriptedNetwork()
const file = join(temporaryDirectory(), 'messages.json')
const entries = [{ id: '43', from: 'card.cryptogram', sensitive: true }]
const shape = { shape: 'tlv', leading: 'T', id_digits: 2, length_digits: 2 }
const content = {
  fields: { '14': { from: 'card.expiry' }, '48': 'composite' },
  composites: { '48': { ...shape, entries } },
}
writeFileSync(file, JSON.stringify({ content }))
const rig = await createCardsRig({
  timeoutMs: 2_000,
  networkA: network,
  environment: {
    CARDGW_NETA_MESSAGES_FILE: file,
    CARDGW_VAULT_URL: `http://127.0.0.1:${vault.port}`,
  },
})
network.on((request, peer) => {
  const additionalData = request.additionalData?.slice()
  seen.push(Object.assign(new CardMessage(), request, { pan: undefined, additionalData }))
  peer.answer({ responseCode: '00', authCode: 'A00001' })
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  await vault.stop(true)
})

const textOf = (bytes: Uint8Array | undefined): string =>
  Buffer.from(bytes ?? []).toString('latin1')

test('the cryptogram goes into the authorization, not into what follows, and is stored nowhere', async () => {
  const { id } = await rig.authorize('tok_visa_approved')
  expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(200)
  const [authorization, capture] = seen
  expect(authorization).toMatchObject({ mti: '0100', expirationDate: '3012' })
  expect(textOf(authorization?.additionalData)).toBe(`T4328${cryptogram}`)
  expect(capture).toMatchObject({ mti: '0200', expirationDate: '3012', additionalData: undefined })
  const [{ everything = '' } = {}] = await rig.database.sql<{ everything: string }[]>`
    select (select json_agg(t)::text from card_transactions t) ||
      (select json_agg(e)::text from card_events e) as everything`
  expect(everything).not.toContain(cryptogram)
})

test('what is no cryptogram is no answer of the vault', async () => {
  const ask = createHttpVault({
    url: `http://127.0.0.1:${vault.port}`,
    token: 'key',
    timeoutMs: 20_000,
  })
  for (const wrong of ['', 'AAAA', 'not base64 at all!!!', `${'A'.repeat(48)}`]) {
    shown = wrong
    const answer = ask.resolve('tok_visa_approved').then(
      () => 'taken',
      (error: Error) => error.message,
    )
    expect(await answer).toContain('something other than a card number')
  }
  shown = cryptogram
  expect((await ask.resolve('tok_visa_approved')).cryptogram).toBe(cryptogram)
  expect((await rig.post('/v1/transactions/authorize', authorizationBody('tok'))).status).toBe(201)
})

test('a token of digits only that is no card number is taken, one that is a card number is not', async () => {
  const statusOf = async (token: string) =>
    (await rig.post('/v1/transactions/authorize', authorizationBody(token))).status
  expect(await statusOf('4111111111111112')).toBe(201)
  expect(await statusOf('4111111111111111')).toBe(400)
})
