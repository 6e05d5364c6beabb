import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CardMessage } from '#codecs/iso8583'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import {
  cardProblems,
  cardSettings,
  createCardNetworks,
  networkASettings,
  networkBSettings,
  vaultSettings,
} from '../../../src/cards/index.ts'
import { quietLogger } from '../../support/card-network.ts'
import { authorizationBody, type CardsRig, createCardsRig } from '../../support/cards-rig.ts'
import { createScriptedNetwork, type ScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

setDefaultTimeout(60_000)

/* The two networks of the contract with a file that says what their messages hold. */

const written = (content: unknown): string => {
  const file = join(temporaryDirectory(), 'messages.json')
  writeFileSync(file, JSON.stringify(content))
  return file
}

describe('network A with a messages file', () => {
  let network: ScriptedNetwork
  let rig: CardsRig
  const seen: CardMessage[] = []

  beforeAll(async () => {
    network = createScriptedNetwork()
    const path = join(import.meta.dir, '../../../docs/networks/cielo-like.json')
    const [example] = JSON.parse(readFileSync(path, 'utf8')) as readonly Record<string, unknown>[]
    const { dialect, content } = example ?? {}
    const merchant = { merchant_id: 'MERCHANT000001', category: '5812', name: 'PADARIA' }
    rig = await createCardsRig({
      timeoutMs: 2_000,
      networkA: network,
      environment: {
        CARDGW_NETA_MESSAGES_FILE: written({
          dialect,
          content,
          answers: { approved: ['00', '11'] },
        }),
        CARDGW_MERCHANTS_FILE: written([{ ...merchant, city: 'SAO PAULO' }]),
      },
    })
    network.on((request, peer) => {
      seen.push(Object.assign(new CardMessage(), request, { pan: undefined }))
      peer.answer({ responseCode: '11', authCode: 'A00001' })
    })
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  test('sends the fields of the file, and takes its codes for what they mean', async () => {
    const response = await rig.post(
      '/v1/transactions/authorize',
      authorizationBody('tok_visa_approved', { entry: 'ecommerce' }),
    )
    expect([response.status, await response.json()]).toMatchObject([
      201,
      { status: 'authorized', response_code: '11', brand: 'visa', entry: 'ecommerce' },
    ])
    expect(seen[0]).toMatchObject({ mti: '0100', merchantType: '5812', entryMode: '810' })
  })
})

const problemOf = (env: Readonly<Record<string, string>>): string => {
  const { values } = loadSettings(
    { settings: cardSettings, networkA: networkASettings, networkB: networkBSettings },
    { CARDGW_NETB_HOST: '127.0.0.1', ...env },
  )
  const metrics = createMetrics({ version: '1', withProcess: false })
  try {
    createCardNetworks({ ...values, logger: quietLogger, metrics })
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('a messages file that is wrong is refused, with its name and the place', () => {
  const said = (content: unknown) => problemOf({ CARDGW_NETB_MESSAGES_FILE: written(content) })
  expect(said({})).toBe('')
  expect(said({ host: 'elsewhere' })).toMatch(/messages\.json.*host/s)
  expect(said({ dialect: 'klingon' })).toContain('no dialect klingon')
  expect(said({ content: { fields: { '22': { from: 'nothing' } } } })).toContain(
    'no source nothing',
  )
  const sales = { content: { messages: { authorization: { mti: '0200' } } } }
  expect(said(sales)).toBe('')
  const hours = { CARDGW_NETB_AUTHORIZATION_HOURS: '1' }
  expect(problemOf({ CARDGW_NETB_MESSAGES_FILE: written({}), ...hours })).toBe('')
  expect(problemOf({ CARDGW_NETB_MESSAGES_FILE: written(sales), ...hours })).toMatch(
    /messages\.json.*_AUTHORIZATION_HOURS.*content\.messages\.authorization is a sale/,
  )
  const entry = { name: 'third', brand: 'elo', host: 'h', prefixes: ['6'], ...sales }
  expect(
    problemOf({ CARDGW_NETWORKS_FILE: written([{ ...entry, authorization_hours: 1 }]) }),
  ).toMatch(/messages\.json.*authorization_hours .*content\.messages\.authorization is a sale/)
  expect(problemOf({ CARDGW_NETWORKS_FILE: written([entry]) })).toBe('')
  expect(problemOf({ CARDGW_NETB_MESSAGES_FILE: '/nowhere.json' })).toContain('/nowhere.json')
  const { values } = loadSettings(
    {
      cards: cardSettings,
      networkA: networkASettings,
      networkB: networkBSettings,
      vault: vaultSettings,
    },
    { CARDGW_NETB_HOST: '127.0.0.1', CARDGW_NETB_MESSAGES_FILE: '/nowhere.json' },
  )
  expect(cardProblems(values).map(({ name, value }) => [name, value])).toEqual([
    ['CARDGW_NETB_MESSAGES_FILE', '/nowhere.json'],
  ])
})
