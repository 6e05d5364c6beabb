import { expect, test } from 'bun:test'
import { topicOf } from '../../src/pix/notices/domain.ts'
import { loadConsole } from './load-console.ts'

/* The console offers those acts on deliveries, liens and endpoints that the API takes. */

type Acts = readonly { readonly title: string }[]

const { deliveryActs, lienActs, endpointActs } = await loadConsole<{
  readonly deliveryActs: (delivery: object) => Acts
  readonly lienActs: (lien: object) => Acts
  readonly endpointActs: (endpoint: object) => Acts
}>(['agreement-acts.ts', 'webhook-acts.tsx'])

const titles = (acts: Acts) => acts.map(({ title }) => title)
const bond = { acronym: 'LTN', code: '100000', maturity_date: '2031-01-01' }

test.each([
  ['pending', 'command', 'pending', 1],
  ['pending', 'command', 'signed', 0],
  ['pending', 'allow', 'pending', 0],
  ['commanded', 'command', 'confirmed', 1],
  ['commanded', 'call', 'broadcast', 0],
  ['commanded', 'call', 'reverted', 1],
  ['settled', 'command', 'confirmed', 0],
])('a delivery that is %s, with a step %s that is %s', (status, kind, step, offered) => {
  const delivery = { status, bond, steps: [{ kind, status: step }] }
  expect(deliveryActs(delivery)).toHaveLength(offered)
})

test.each([
  ['owner', 'confirmed', '2001-01-01', ['Pledge more', 'Take back']],
  ['owner', 'confirmed', '2999-01-01', ['Pledge more']],
  ['beneficiary', 'failed', '2999-01-01', ['Let go']],
  ['owner', 'broadcast', '2001-01-01', []],
  ['beneficiary', 'pending', '2999-01-01', []],
])('a lien of the %s with a step that is %s, until %s', (part, status, expiry, offered) => {
  const lien = { status: 'active', part, expiry, steps: [{ kind: 'call', status }] }
  expect(titles(lienActs(lien))).toEqual(offered)
})

test('an endpoint that is off sends nothing again, and one of the API Pix is changed there alone', () => {
  const endpoint = { id: 'w1', url: 'https://example.com/', events: ['pacs.008'], active: true }
  expect(titles(endpointActs(endpoint))).toContain('Replay range')
  expect(endpointActs(endpoint)).toHaveLength(5)
  expect(titles(endpointActs({ ...endpoint, active: false }))).not.toContain('Replay range')
  const own = { ...endpoint, events: [topicOf('pix', '7d9f0335-8dcc-4054-9bf9-0dbd61d36906')] }
  expect(endpointActs(own)).toHaveLength(1)
  expect(endpointActs({ ...own, active: false })).toEqual([])
})
